import { COST_PARTS } from '../../../signal/call-details.js';
import { SPAN_WIRE, TRACE_SAMPLED, TRACE_WIRE } from '../../schema/tables.js';
import { columnsOfKinds, type ClickHouseColumn, type ClickHouseTable } from './table.js';

/**
 * The tables of runs, as `scale-out` lays them: facts, which are only ever added, and what follows from them, which is replaced as a whole.
 * Times are microseconds since 1970, hours and days likewise.
 */

const TENANT: ClickHouseColumn = { name: 'tenant', type: 'UInt32' };
/** That of the row's own start. */
export const HOUR: ClickHouseColumn = { name: 'hour', type: 'Int32' };
/** The length of the row's texts, by which it is measured what users store: `queries/stored-bytes.ts`. */
export const BYTES: ClickHouseColumn = { name: 'bytes', type: 'UInt32 DEFAULT 0' };
const VERSION: ClickHouseColumn = { name: 'version', type: 'UInt64' };

/** What came of runs: a row for each message. */
const MESSAGE_COLUMNS: readonly ClickHouseColumn[] = [
  TENANT,
  { name: 'trace_id', type: 'UUID' },
  { name: 'seq', type: 'UInt64' },
  /** `header`, `outcome` or `timeout`. */
  { name: 'kind', type: 'LowCardinality(String)' },
  { name: 'received_at', type: 'Int64' },
  /** Of a header: it as a row, with the name of the agent, as JSON. */
  { name: 'header', type: 'String CODEC(ZSTD(1))' },
  { name: 'is_mapped', type: 'Bool' },
  /** How many spans it brought, and in which hours its run may be found. */
  { name: 'spans', type: 'UInt32' },
  { name: 'hours', type: 'Array(Int32)' },
  /** Of an outcome. */
  { name: 'success', type: 'Bool' },
  { name: 'outcome', type: 'Nullable(String)' },
  /** Of a link. */
  { name: 'prompt', type: 'UInt64' },
  BYTES,
];

/** The parts of a payload; bytes as texts of a character each. */
export const PAYLOAD_COLUMNS: readonly ClickHouseColumn[] = [
  { name: 'input', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'output', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'metadata', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'sent', type: 'Nullable(String) CODEC(ZSTD(3))' },
  { name: 'origin', type: 'Nullable(String) CODEC(ZSTD(3))' },
];

/** A span as its row has it, without its payload. */
export const SPAN_ROW_COLUMNS: readonly ClickHouseColumn[] = columnsOfKinds(SPAN_WIRE);

/** What spans are looked for by. */
export const SOUGHT_COLUMNS = ['model', 'name', 'type', 'node'] as const;

/** What a span has beside what it says itself. */
const SPAN_PLACE_COLUMNS: readonly ClickHouseColumn[] = [
  TENANT,
  HOUR,
  { name: 'seq', type: 'UInt64' },
  /** The ticket with which a row of `seq` 0 was made, otherwise 0. */
  VERSION,
  /** Of a row of `seq` 0: the messages that it was made of. */
  { name: 'begun_by', type: 'UInt64' },
  { name: 'completed_by', type: 'UInt64' },
  /** As `serializeNode` gives it. */
  { name: 'node', type: 'LowCardinality(String)' },
  { name: 'prompt', type: 'Nullable(UInt64)' },
];

/**
 * Spans as messages brought them, each with the `seq` of its message; and with `seq` 0 as they are after all messages, where that is not what
 * the first one brought.
 */
const SPAN_COLUMNS: readonly ClickHouseColumn[] = [
  ...SPAN_PLACE_COLUMNS,
  ...SPAN_ROW_COLUMNS,
  ...PAYLOAD_COLUMNS,
  BYTES,
];

/** In place of the hour of a run's last call: it has none, or its row was written before rows said so. */
export const NO_CALLS = -(2 ** 31);
export const UNKNOWN_CALLS = 2 ** 31 - 1;

/** Headers as they are after all messages: one row for a run, in the hour of its start. */
export const RUN_COLUMNS: readonly ClickHouseColumn[] = [
  TENANT,
  HOUR,
  VERSION,
  { name: 'is_deleted', type: 'UInt8' },
  { name: 'agent_no', type: 'UInt64' },
  { name: 'span_count', type: 'UInt32' },
  { name: 'heard_at', type: 'Int64' },
  /** The last time that it tells of, of one that goes on also its spans; never after news of it came. */
  { name: 'active_at', type: 'Int64' },
  /** Of a run that is to time out. */
  { name: 'times_out_at', type: 'Nullable(Int64)' },
  { name: 'has_ended', type: 'Bool' },
  /** Whether some message says of a span what it is not: whoever looks for spans has to look at all of their messages. */
  { name: 'is_contradicted', type: 'Bool' },
  /** The hour of its last call of a model, or one of {@link NO_CALLS} and {@link UNKNOWN_CALLS}. */
  { name: 'calls_until', type: `Int32 DEFAULT ${UNKNOWN_CALLS}` },
  /** What it adds to the figures of models, by the hour of the calls. */
  {
    name: 'model_calls',
    type: 'Array(Tuple(hour Int32, model Nullable(String), calls UInt64, priced UInt64, nanos Int128, input Int128, output Int128, total Int128, first Int64, last Int64)) CODEC(ZSTD(1))',
  },
  /** Of each entry of `model_calls`, at the same place, what its calls would cost at other prices. A row from before this was kept has none. */
  {
    name: 'call_tokens',
    type: `Array(Tuple(told UInt8, most Int128, ${COST_PARTS.map((part) => `${part} Int128`).join(', ')})) CODEC(ZSTD(1))`,
  },
  { name: 'prompts', type: 'Array(UInt64)' },
  /** What it adds to the service map. A null source in `edges` never is; the names are those of nodes. */
  {
    name: 'nodes',
    type: 'Array(Tuple(name String, type UInt8, grade UInt8, spans UInt64, traces UInt8)) CODEC(ZSTD(1))',
  },
  {
    name: 'edges',
    type: 'Array(Tuple(source String, target String, grade UInt8, spans UInt64)) CODEC(ZSTD(1))',
  },
  ...columnsOfKinds([...TRACE_WIRE, ...TRACE_SAMPLED]),
];

/** Days outside these years lie in one partition, so that no sender can make very many. */
export const FIRST_HOUR = Date.UTC(2000, 0) / 3_600_000;
export const LAST_HOUR = Date.UTC(2100, 0) / 3_600_000;
const BY_DAY = `if(hour BETWEEN ${FIRST_HOUR} AND ${LAST_HOUR}, intDiv(hour, 24), 0)`;

export const MESSAGES: ClickHouseTable = {
  name: 'messages',
  columns: MESSAGE_COLUMNS,
  family: 'Replacing',
  // Thirty days each, by the last of them: looking for a trace goes through all partitions.
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
