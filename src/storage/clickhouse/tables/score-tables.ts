import { SCORE_WIRE } from '../../schema/scores-table.js';
import { DAY } from './days.js';
import { columnsOfKinds, type ClickHouseTable } from './table.js';

/** Scores. Of rows with the same id the newest counts. */
export const SCORES: ClickHouseTable = {
  name: 'scores',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    DAY,
    ...columnsOfKinds(SCORE_WIRE, {
      // Sort keys must not be null: see `NO_TRACE`.
      trace_id: 'UUID',
      name: 'LowCardinality(String)',
      label: 'LowCardinality(Nullable(String))',
      comment: 'Nullable(String) CODEC(ZSTD(1))',
      metadata: 'Nullable(String) CODEC(ZSTD(1))',
    }),
    { name: 'received_at', type: 'Int64' },
    /** The length of its texts. */
    { name: 'bytes', type: 'UInt32' },
  ],
  identity: ['tenant', 'trace_id', 'id'],
  family: 'Replacing',
  replacing: 'received_at',
  // 30 days each, named by the last day: finding a trace searches all partitions.
  partition: 'intDiv(day, 30) * 30 + 29',
  order: 'tenant, trace_id, id',
  granularity: 1024,
};

/** The trace of a score of a response. */
export const NO_TRACE = '00000000-0000-0000-0000-000000000000';
