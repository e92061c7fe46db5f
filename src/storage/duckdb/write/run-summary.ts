import { sumToNumber, type Usd } from '../../../signal/money.js';
import { DIMENSIONS } from '../../../signal/run-context.js';
import type { RunSummary } from '../../contracts/runs.js';
import { summaryOfRow } from '../../shared/summaries-of-rows.js';
import { selectList } from '../../schema/table.js';
import { HEADER_COLUMNS, TRACES } from '../../schema/tables.js';
import type { Agents } from '../stats/agents.js';
import type { Row, Value } from '../files/plain-rows.js';

const SHOWN: ReadonlySet<string> = new Set([
  'trace_id',
  'kind',
  'session_id',
  'user_id',
  'tags',
  'status',
  'started_at',
  'ended_at',
  'duration_ms',
  'success',
  'outcome',
  'error_message',
  'total_tokens',
  'total_cost_usd',
  'sample_rate',
  ...DIMENSIONS,
  'agent_no',
  'span_count',
]);

/** The columns of a run summary. */
export const RUN_COLUMNS = selectList(
  [...TRACES.store, ...HEADER_COLUMNS].filter((column) => SHOWN.has(column.name)),
);

/** @param row selected by {@link RUN_COLUMNS} */
export function runSummary(row: Row, agents: Agents): RunSummary {
  return summaryOfRow(row, agents.byNumber(Number(row.agent_no)));
}

export function number(value: Value | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

export function text(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** @param value a sum of nano-USD as a text */
export function sumOf(value: Value | undefined): Usd | null {
  return typeof value === 'string' ? sumToNumber(BigInt(value)) : null;
}
