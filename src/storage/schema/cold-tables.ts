import { AGENT_SPANS } from './agent-spans-table.js';
import { LOG_BLOCKS } from './log-tables.js';
import { CALL_SUMS, POINT_SUMS, RUN_SUMS } from './sum-tables.js';
import type { Table } from './table.js';
import { REPLACED_IN_QUARANTINE } from './tables.js';

/** The tables of the cold file that are derived from its other tables. */
export const COLD_TABLES: readonly Table[] = [
  LOG_BLOCKS,
  RUN_SUMS,
  POINT_SUMS,
  CALL_SUMS,
  AGENT_SPANS,
  REPLACED_IN_QUARANTINE,
];
