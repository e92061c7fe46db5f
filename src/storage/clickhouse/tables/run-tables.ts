import { SUMMED_PARTS } from '../../../signal/call-details.js';
import { SPAN_WIRE, TRACE_ADDED, TRACE_WIRE } from '../../schema/tables.js';
import { columnsOfKinds, type ClickHouseColumn, type ClickHouseTable } from './table.js';

/**
 * The tables of runs: append-only facts, and derived rows, which are replaced as a whole. Times are microseconds since 1970; hours and days
 * also count from 1970.
 */

const TENANT: ClickHouseColumn = { name: 'tenant', type: 'UInt32' };
/** The hour of the row's start. */
export const HOUR: ClickHouseColumn = { name: 'hour', type: 'Int32' };
/** The length of the row's texts, which measures stored bytes per user: `queries/stored-bytes.ts`. */
export const BYTES: ClickHouseColumn = { name: 'bytes', type: 'UInt32 DEFAULT 0' };
const VERSION: ClickHouseColumn = { name: 'version', type: 'UInt64' };

/** Messages of runs, one row each. */
const MESSAGE_COLUMNS: readonly ClickHouseColumn[] = [
  TENANT,
  { name: 'trace_id', type: 'UUID' },
  { name: 'seq', type: 'UInt64' },
  /** `header`, `outcome`, `verdict`, `timeout` or `link`. */
  { name: 'kind', type: 'LowCardinality(String)' },
  { name: 'received_at', type: 'Int64' },
  /** For a header: its row and the agent's name, as JSON. For a verdict: the id of its span, empty for the run. */
  { name: 'header', type: 'String CODEC(ZSTD(1))' },
  { name: 'is_mapped', type: 'Bool' },
  /** The number of its spans, and the hours whose rows may contain its run. */
  { name: 'spans', type: 'UInt32' },
  { name: 'hours', type: 'Array(Int32)' },
  /** For an outcome or a verdict. */
  { name: 'success', type: 'Bool' },
  { name: 'outcome', type: 'Nullable(String)' },
  /** For a link. */
  { name: 'prompt', type: 'UInt64' },
  BYTES,
];

/** The parts of a payload; bytes as Latin-1 text. */
export const PAYLOAD_COLUMNS: readonly ClickHouseColumn[] = [
  { name: 'input', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'output', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'metadata', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'sent', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'origin', type: 'Nullable(String) CODEC(ZSTD(3))' },
];

/** Columns of a span's row, without its payload. */
export const SPAN_ROW_COLUMNS: readonly ClickHouseColumn[] = columnsOfKinds(SPAN_WIRE);

/** Searchable columns of spans. */
export const SOUGHT_COLUMNS = ['model', 'name', 'type', 'node'] as const;

/** Columns of a span that the store adds. */
const SPAN_PLACE_COLUMNS: readonly ClickHouseColumn[] = [
  TENANT,
  HOUR,
  { name: 'seq', type: 'UInt64' },
  /** The fence under which a row with `seq` 0 was written, otherwise 0. */
  VERSION,
  /** For a row with `seq` 0: the messages that contribute to it. */
  { name: 'begun_by', type: 'UInt64' },
  { name: 'completed_by', type: 'UInt64' },
  /** In the format of `serializeNode`. */
  { name: 'node', type: 'LowCardinality(String)' },
  { name: 'prompt', type: 'Nullable(UInt64)' },
];

/** Spans as sent, with the `seq` of their message; and effective spans, with `seq` 0, if they differ from the first message. */
const SPAN_COLUMNS: readonly ClickHouseColumn[] = [
  ...SPAN_PLACE_COLUMNS,
  ...SPAN_ROW_COLUMNS,
  ...PAYLOAD_COLUMNS,
  BYTES,
];

/** Values of `calls_until` for a run without calls, and for a row written before the column existed. */
export const NO_CALLS = -(2 ** 31);
export const UNKNOWN_CALLS = 2 ** 31 - 1;

/** Effective headers: one row per run, in the hour of its start. */
export const RUN_COLUMNS: readonly ClickHouseColumn[] = [
  TENANT,
  HOUR,
  VERSION,
  { name: 'is_deleted', type: 'UInt8' },
  { name: 'agent_no', type: 'UInt64' },
  { name: 'span_count', type: 'UInt32' },
  { name: 'heard_at', type: 'Int64' },
  /** The last time in the run (while running, also in its spans), capped at its last update. */
  { name: 'active_at', type: 'Int64' },
  /** For a run that can time out. */
  { name: 'times_out_at', type: 'Nullable(Int64)' },
  { name: 'has_ended', type: 'Bool' },
  /** Whether a message of a span differs from the effective span in a searchable column; then a search must check all messages. */
  { name: 'is_contradicted', type: 'Bool' },
  /** The hour of its last model call, {@link NO_CALLS} or {@link UNKNOWN_CALLS}. */
  { name: 'calls_until', type: `Int32 DEFAULT ${UNKNOWN_CALLS}` },
  /** Its contribution to the stats of models, by the hour of the calls. */
  {
    name: 'model_calls',
    type: 'Array(Tuple(hour Int32, model Nullable(String), calls UInt64, priced UInt64, nanos Int128, input Int128, output Int128, total Int128, first Int64, last Int64)) CODEC(ZSTD(1))',
  },
  /** Token sums of each entry of `model_calls`, at the same index, for repricing. Empty in rows written before the column existed. */
  {
    name: 'call_tokens',
    type: `Array(Tuple(told UInt8, most Int128, ${SUMMED_PARTS.map((part) => `${part} Int128`).join(', ')})) CODEC(ZSTD(1))`,
  },
  { name: 'prompts', type: 'Array(UInt64)' },
  /** Its contribution to the service map. Sources in `edges` are never null; names are names of nodes. */
  {
    name: 'nodes',
    type: 'Array(Tuple(name String, type UInt8, grade UInt32, spans UInt64, traces UInt8)) CODEC(ZSTD(1))',
  },
  {
    name: 'edges',
    type: 'Array(Tuple(source String, target String, grade UInt32, spans UInt64)) CODEC(ZSTD(1))',
  },
  ...columnsOfKinds([...TRACE_WIRE, ...TRACE_ADDED]),
];

/** Days outside these years share one partition, to bound the number of partitions. */
export const FIRST_HOUR = Date.UTC(2000, 0) / 3_600_000;
export const LAST_HOUR = Date.UTC(2100, 0) / 3_600_000;
const BY_DAY = `if(hour BETWEEN ${FIRST_HOUR} AND ${LAST_HOUR}, intDiv(hour, 24), 0)`;

export const MESSAGES: ClickHouseTable = {
  name: 'messages',
  columns: MESSAGE_COLUMNS,
  family: 'Replacing',
  // 30 days each, named by the last day: finding a trace searches all partitions.
  partition: 'intDiv(received_at, 2592000000000) * 30 + 29',
  order: 'tenant, trace_id, seq',
  granularity: 128,
};

export const SPANS: ClickHouseTable = {
  name: 'spans',
  columns: SPAN_COLUMNS,
  family: 'Replacing',
  replacing: 'version',
  partition: BY_DAY,
  order: 'tenant, hour, trace_id, span_id, seq',
  granularity: 1024,
  indexes: ['by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1'],
};

export const RUNS: ClickHouseTable = {
  name: 'runs',
  columns: RUN_COLUMNS,
  family: 'Replacing',
  replacing: 'version, is_deleted',
  partition: BY_DAY,
  order: 'tenant, hour, trace_id',
  granularity: 1024,
  indexes: [
    'by_agent agent_no TYPE bloom_filter(0.01) GRANULARITY 1',
    'by_prompt prompts TYPE bloom_filter(0.01) GRANULARITY 1',
    'by_heard heard_at TYPE minmax GRANULARITY 1',
    'by_time_out times_out_at TYPE minmax GRANULARITY 1',
    'by_call calls_until TYPE minmax GRANULARITY 1',
  ],
};
