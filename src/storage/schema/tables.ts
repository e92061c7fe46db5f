import { FAILED } from '../../runs/rules/run-outcome.js';
import type { Column } from '../../worker/columns.js';
import { EVENTS } from './events-table.js';
import { LOGS } from './log-tables.js';
import { NAMED_BATCHES } from './named-batches-table.js';
import { PROMPT_LINKS } from './prompt-links-table.js';
import { SCORES } from './scores-table.js';
import { MAP_EDGES, MAP_NODES, SERVICES, USAGE } from './sum-tables.js';
import { COMMIT, defineTable, type Table } from './table.js';

/**
 * All columns of the telemetry tables: DDL, encoding, appending and selecting use these lists.
 *
 * A table's columns are those that the store assigns in a commit, followed by those that the sender's thread encodes. For the location
 * and lifecycle of the tables see `duckdb/README.md`.
 */

/** The encoded columns of a span. `payload` is stored in a separate table. */
export const SPAN_WIRE = [
  { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
  { name: 'span_id', kind: 'uuid', sql: 'UUID' },
  { name: 'parent_span_id', kind: 'uuid', sql: 'UUID', nullable: true },
  { name: 'type', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'status', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'name', kind: 'text', sql: 'VARCHAR' },
  { name: 'started_at', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'ended_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  { name: 'duration_ms', kind: 'float64', sql: 'DOUBLE', nullable: true },
  { name: 'model', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'input_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'output_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'total_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  /** In nano-USD, like `total_cost_usd`: integers, whose sums are HUGEINT and do not overflow. */
  { name: 'cost_usd', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'error_message', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** The agent name that the span gives for its run, and its source among `AGENT_SOURCES`. */
  { name: 'agent_source', kind: 'uint8', sql: 'UTINYINT', nullable: true },
  { name: 'agent_name', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** The span's node in the service map as set by a mapping: `signal/map-hint.ts`. */
  { name: 'map_hint', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** The kind of its run as given by the span: a position in `RUN_KINDS`. */
  { name: 'run_kind', kind: 'uint8', sql: 'UTINYINT', nullable: true },
  /** The session, user, tags and versions of its run as given by the span: `signal/run-context.ts`. */
  { name: 'context', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** The parts of tokens and cost, as `serializeCall` writes them. */
  { name: 'call_details', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'derived', kind: 'uint8', sql: 'UTINYINT' },
  /** Identifies a model call: `signal/call-key.ts`. */
  { name: 'call_key', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** The span on which its call is counted, and the counted amounts: `SpanCounts` in `runs/rules/usage.ts`. */
  { name: 'same_as', kind: 'uuid', sql: 'UUID', nullable: true },
  { name: 'counted', kind: 'uint8', sql: 'UTINYINT', nullable: true },
  { name: 'counted_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'counted_cost', kind: 'int64', sql: 'BIGINT', nullable: true },
] as const satisfies readonly Column[];

type SpanText = Extract<(typeof SPAN_WIRE)[number], { readonly kind: 'text' }>['name'];

/** Where the length of each text of a span counts: in the size of a `page`, in the `stored` bytes of its user. */
const SPAN_TEXTS: Readonly<Record<SpanText, readonly ('page' | 'stored')[]>> = {
  name: ['page', 'stored'],
  model: ['page'],
  error_message: ['page', 'stored'],
  agent_name: [],
  map_hint: [],
  context: ['stored'],
  call_details: [],
  call_key: [],
};

export const PAGE_TEXTS = spanTexts('page');
export const STORED_TEXTS = spanTexts('stored');

function spanTexts(where: 'page' | 'stored'): readonly SpanText[] {
  return SPAN_WIRE.flatMap((column) =>
    column.kind === 'text' && SPAN_TEXTS[column.name].includes(where) ? column.name : [],
  );
}

/** The encoded columns of a header. `agent` becomes `agent_no` in the commit. */
export const TRACE_WIRE = [
  { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
  /** A position in `RUN_KINDS`. */
  { name: 'kind', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'status', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'started_at', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'ended_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  { name: 'duration_ms', kind: 'float64', sql: 'DOUBLE', nullable: true },
  { name: 'success', kind: 'bool', sql: 'BOOLEAN', nullable: true },
  { name: 'outcome', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'error_message', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'total_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'total_cost_usd', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'metadata', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'sdk_version', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'idle_timeout_ms', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'session_id', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'user_id', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** One tag per line. */
  { name: 'tags', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'derived', kind: 'uint32', sql: 'UINTEGER' },
] as const satisfies readonly Column[];

/** The condition for rows of runs or spans that failed or timed out. */
export const HAS_FAILED = `status IN (${FAILED.join(', ')})`;

/** The last columns, because upgrades append them. */
export const TRACE_ADDED = [
  { name: 'sample_rate', kind: 'float64', sql: 'DOUBLE', nullable: true },
  { name: 'orphan_wait_ms', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'environment', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'release', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'agent_version', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'repository', kind: 'text', sql: 'VARCHAR', nullable: true },
] as const satisfies readonly Column[];

/** All columns of a header. */
export const HEADER_COLUMNS = [...TRACE_WIRE, ...TRACE_ADDED] as const;

/** Columns of a header that only the store sets; sent as null. */
export const TRACE_LATER = [
  /** The commits with rows of the trace's spans, if the first and the last one are not sufficient: `CommitRanges`. */
  { name: 'commits', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** For a run with more spans than its header follows, the state that can still change: `TruncatedSpans`. */
  { name: 'closed', kind: 'text', sql: 'VARCHAR', nullable: true },
] as const satisfies readonly Column[];

const SPAN_STORE = [
  ...COMMIT,
  /** The index of the span's payload among the trace's payloads of this commit. */
  { name: 'line', kind: 'uint32', sql: 'UINTEGER' },
  /** Whether an earlier commit contains an older version of the span. */
  { name: 'replaces', kind: 'bool', sql: 'BOOLEAN' },
  /** The number of its node in the service map, `NO_NODE` or `AGENT_NODE`. */
  { name: 'node_no', kind: 'int32', sql: 'INTEGER' },
  /** The commit of the previous version; 0 if missing. */
  { name: 'replaced_seq', kind: 'int64', sql: 'BIGINT' },
] as const satisfies readonly Column[];

const TRACE_STORE = [
  ...COMMIT,
  { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
  { name: 'span_count', kind: 'uint32', sql: 'UINTEGER' },
  /** The first and the last commit with rows of the trace's spans; 0 and 0 if there are none. */
  { name: 'first_seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'last_seq', kind: 'int64', sql: 'BIGINT' },
  /** When the run was last updated. */
  { name: 'heard_at', kind: 'int64', sql: 'TIMESTAMP' },
  /** Whether an earlier commit contains an older version of the header. */
  { name: 'replaces', kind: 'bool', sql: 'BOOLEAN' },
  /** Whether it counts in the service map: its nodes were derived on arrival. */
  { name: 'is_mapped', kind: 'bool', sql: 'BOOLEAN' },
  /** Whether it has ever had a final terminal status. Then its event was written, or was not subscribed to. */
  { name: 'has_ended', kind: 'bool', sql: 'BOOLEAN' },
  /** The commit since which there are more spans than the header follows; 0 if it follows all of them. */
  { name: 'closed_seq', kind: 'int64', sql: 'BIGINT' },
] as const satisfies readonly Column[];

export const SPANS = defineTable({
  name: 'spans',
  store: SPAN_STORE,
  wire: SPAN_WIRE,
  versionOf: ['trace_id', 'span_id'],
});
export const TRACES = defineTable({
  name: 'traces',
  store: TRACE_STORE,
  wire: [...TRACE_WIRE, ...TRACE_LATER, ...TRACE_ADDED],
  versionOf: ['trace_id'],
});

/**
 * The payloads of a trace's spans in one commit: for each span a frame (`runs/rules/payload.ts`) with `input_data`, `output_data` and
 * `metadata` as JSON, or the received bytes instead of `metadata`. Pieces of about {@link PIECE_BYTES} take 30 % less store-thread time
 * and half the disk space of columns per span. DuckDB decompresses 2048 rows to return one: above {@link LONG_PIECE_BYTES}, none is.
 */
export const PAYLOADS = defineTable({
  name: 'payloads',
  store: [
    ...COMMIT,
    /** The index of the piece's first frame, which is a span's `line`, within the trace and commit. */
    { name: 'first_line', kind: 'uint32', sql: 'UINTEGER' },
    /** The length of `lines`, used to limit a page of spans before they are read. */
    { name: 'bytes', kind: 'uint32', sql: 'UINTEGER' },
  ],
  wire: [
    { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
    /** One of the two contains the frames; the other one is null. */
    { name: 'lines', kind: 'text', sql: 'BLOB', nullable: true, compression: 'zstd' },
    { name: 'long_lines', kind: 'text', sql: 'BLOB', nullable: true, compression: 'uncompressed' },
  ],
});

/** The frames of a piece, in SQL. */
export const PAYLOAD_LINES = 'coalesce(lines, long_lines)';
/** A piece of payloads ends with the frame that reaches this length, and before one that would make it a long piece. */
export const PIECE_BYTES = 2048;
/** Maximum size of a piece outside `long_lines`. */
export const LONG_PIECE_BYTES = 64 * 1024;

/** A term is in one slice, so that a look-up reads one column. */
export const FILTER_SLICES = 16;

/**
 * For the commits `first_seq` to `last_seq`: which terms the searched texts of their runs, spans and payloads may have, as Bloom
 * filters (`duckdb/index/README.md`). `seq` is a later commit; a row belongs to no user.
 */
export const TEXT_FILTERS = defineTable({
  name: 'text_filters',
  store: COMMIT,
  wire: [
    { name: 'first_seq', kind: 'int64', sql: 'BIGINT' },
    { name: 'last_seq', kind: 'int64', sql: 'BIGINT' },
    ...filterSlices(),
  ],
});

function filterSlices() {
  return Array.from(
    { length: FILTER_SLICES },
    (_, i) => ({ name: `slice_${i}`, kind: 'text', sql: 'BLOB', compression: 'uncompressed' }) as const,
  );
}

export const AGENTS = defineTable({
  name: 'agents',
  store: COMMIT,
  wire: [
    { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'id', kind: 'uuid', sql: 'UUID' },
    { name: 'name', kind: 'text', sql: 'VARCHAR' },
    /** A position in `RUN_KINDS`: each kind of runs is counted under a separate number. */
    { name: 'kind', kind: 'uint8', sql: 'UTINYINT' },
    /** Null until a run certainly belongs to the agent; a later row of the same agent then has the time. */
    { name: 'created_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  ],
});

/**
 * The encoded columns of a metric point. Metric properties that may change between exports without starting a new series (such as
 * `temporality`) are stored with each point.
 */
export const POINT_WIRE = [
  { name: 'type', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'temporality', kind: 'uint8', sql: 'UTINYINT', nullable: true },
  { name: 'is_monotonic', kind: 'bool', sql: 'BOOLEAN', nullable: true },
  { name: 'timestamp', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'start_time', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  /** Includes NaN and infinities. */
  { name: 'value', kind: 'float64', sql: 'DOUBLE', nullable: true },
  { name: 'flags', kind: 'uint32', sql: 'UINTEGER' },
  /** Canonical JSON with a line for each label: `labels.ts`. */
  { name: 'labels', kind: 'text', sql: 'VARCHAR' },
  { name: 'distribution', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'exemplars', kind: 'text', sql: 'VARCHAR', nullable: true },
] as const satisfies readonly Column[];

export const POINTS = defineTable({
  name: 'points',
  store: [
    ...COMMIT,
    { name: 'stream_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'origin_no', kind: 'int32', sql: 'INTEGER' },
  ],
  wire: POINT_WIRE,
  sortedBy: { key: 'stream_no', then: 'timestamp' },
});

/** A metric of a tenant: its number, and its latest type, unit and description. */
export const METRIC_STREAMS = defineTable({
  name: 'metric_streams',
  store: [...COMMIT, { name: 'replaces', kind: 'bool', sql: 'BOOLEAN' }],
  wire: [
    { name: 'stream_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'name', kind: 'text', sql: 'VARCHAR' },
    { name: 'type', kind: 'uint8', sql: 'UTINYINT' },
    { name: 'unit', kind: 'text', sql: 'VARCHAR' },
    { name: 'description', kind: 'text', sql: 'VARCHAR' },
  ],
  versionOf: ['stream_no'],
});

/** Resource and scope of points, as JSON. The same value may be stored under several numbers. */
export const ORIGINS = defineTable({
  name: 'origins',
  store: COMMIT,
  wire: [
    { name: 'origin_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'origin', kind: 'text', sql: 'VARCHAR' },
  ],
});

/** Rows that were quarantined when their file was opened, as formatted by DuckDB. For manual inspection only. */
export const UNUSABLE_ROWS = defineTable({
  name: 'unusable_rows',
  store: COMMIT,
  wire: [
    { name: 'table_name', kind: 'text', sql: 'VARCHAR' },
    { name: 'content', kind: 'text', sql: 'VARCHAR' },
  ],
});

/** The tables of every segment and of the cold file. */
export const SEGMENT_TABLES: readonly Table[] = [
  SPANS,
  PAYLOADS,
  TRACES,
  AGENTS,
  POINTS,
  METRIC_STREAMS,
  ORIGINS,
  LOGS,
  USAGE,
  SERVICES,
  MAP_NODES,
  MAP_EDGES,
  PROMPT_LINKS,
  EVENTS,
  NAMED_BATCHES,
  SCORES,
  UNUSABLE_ROWS,
  TEXT_FILTERS,
];

/** The tables in which newer rows replace older ones. */
export const VERSIONED_TABLES: readonly Table[] = SEGMENT_TABLES.filter(
  ({ versionOf }) => versionOf !== undefined,
);

/** For a quarantined segment, its rows with newer versions that were compacted before it, with the commit of the newer version. */
export const REPLACED_IN_QUARANTINE = defineTable({
  name: 'replaced_aside',
  store: COMMIT,
  wire: [
    { name: 'segment', kind: 'int64', sql: 'BIGINT' },
    { name: 'table_name', kind: 'text', sql: 'VARCHAR' },
    { name: 'trace_id', kind: 'uuid', sql: 'UUID', nullable: true },
    { name: 'span_id', kind: 'uuid', sql: 'UUID', nullable: true },
    { name: 'stream_no', kind: 'int32', sql: 'INTEGER', nullable: true },
  ],
});
