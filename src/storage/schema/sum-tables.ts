import { SUMMED_PARTS } from '../../signal/call-details.js';
import { RUN_STATUSES } from '../../signal/span.js';
import { COMMIT, defineTable } from './table.js';

/**
 * Counts, written in the commit of the rows that cause them. A commit writes the difference for each sum; a sum is the total of all its
 * rows, in all files.
 */

/** Events of a tenant that count towards its quota. */
export const USAGE = defineTable({
  name: 'usage',
  store: COMMIT,
  wire: [
    /**
     * The UTC month of the events, as `year * 12 + month`, with January as month 0. The same events are also counted under their UTC day
     * as a negative value, the negated days since 1970, so that older stores need no new column.
     */
    { name: 'month', kind: 'int32', sql: 'INTEGER' },
    { name: 'events', kind: 'int64', sql: 'BIGINT' },
  ],
  sumsOf: ['tenant', 'month'],
});

/** The names of service-map nodes, by the number used in spans and sums. All of them are held in memory. */
export const SERVICES = defineTable({
  name: 'services',
  store: COMMIT,
  wire: [
    { name: 'node_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'name', kind: 'text', sql: 'VARCHAR' },
  ],
});

/** The hour of a trace's start, in hours since 1970. */
const HOUR = { name: 'hour', kind: 'int32', sql: 'INTEGER' } as const;

/** The outcome of the spans, as in `signal/span-grade.ts`; null in sums written with schema 5. */
const GRADE = { name: 'grade', kind: 'int32', sql: 'INTEGER', nullable: true } as const;

/** Nodes of the service map, by the span types that create them. */
export const MAP_NODES = defineTable({
  name: 'map_nodes',
  store: COMMIT,
  wire: [
    HOUR,
    { name: 'node_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'type', kind: 'uint8', sql: 'UTINYINT' },
    { name: 'spans', kind: 'int64', sql: 'BIGINT' },
    /** Number of traces in which the node is the agent. */
    { name: 'traces', kind: 'int64', sql: 'BIGINT' },
    GRADE,
  ],
  sumsOf: ['tenant', 'hour', 'node_no', 'type', 'grade'],
});

export const MAP_EDGES = defineTable({
  name: 'map_edges',
  store: COMMIT,
  wire: [
    HOUR,
    { name: 'source_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'target_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'spans', kind: 'int64', sql: 'BIGINT' },
    /** Of the called spans. */
    GRADE,
  ],
  sumsOf: ['tenant', 'hour', 'source_no', 'target_no', 'grade'],
});

/**
 * Sums over every agent's runs in the cold file, always equal to its table `traces`, because both change in the same transaction. Costs
 * are split into `cost_whole` dollars and `cost_rest` nano-USD.
 */
export const RUN_SUMS = defineTable({
  name: 'run_sums',
  store: COMMIT,
  wire: [
    { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'runs', kind: 'int64', sql: 'BIGINT' },
    ...RUN_STATUSES.map((status) => ({ name: status, kind: 'int64', sql: 'BIGINT' }) as const),
    { name: 'successes', kind: 'int64', sql: 'BIGINT' },
    { name: 'failures', kind: 'int64', sql: 'BIGINT' },
    { name: 'priced', kind: 'int64', sql: 'BIGINT' },
    { name: 'cost_whole', kind: 'int64', sql: 'BIGINT' },
    { name: 'cost_rest', kind: 'int64', sql: 'BIGINT' },
  ],
  sumsOf: ['tenant', 'agent_no'],
});

/** Sums over the metric points in the cold file: their number, and the earliest and latest time of any point so far. */
export const POINT_SUMS = defineTable({
  name: 'point_sums',
  store: COMMIT,
  wire: [
    { name: 'stream_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'points', kind: 'int64', sql: 'BIGINT' },
    { name: 'oldest', kind: 'int64', sql: 'TIMESTAMP' },
    { name: 'newest', kind: 'int64', sql: 'TIMESTAMP' },
  ],
  sumsOf: ['tenant', 'stream_no'],
  combinedBy: { oldest: 'min', newest: 'max' },
});

/**
 * Sums over the model calls (spans of type `llm`) in the cold file, by agent, hour of their start, model and `told`: what of a call
 * counts, and why it cannot be repriced (`duckdb/segments/call-sums.ts`). Times of removed calls cannot be subtracted from `oldest`
 * and `newest`, so they are kept in `gone_*`: if the earliest time is among them, it may be outdated.
 */
export const CALL_SUMS = defineTable({
  name: 'call_sums',
  store: COMMIT,
  wire: [
    HOUR,
    { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'model', kind: 'text', sql: 'VARCHAR', nullable: true },
    { name: 'told', kind: 'uint8', sql: 'UTINYINT' },
    { name: 'calls', kind: 'int64', sql: 'BIGINT' },
    { name: 'nanos', kind: 'int64', sql: 'HUGEINT' },
    { name: 'input_tokens', kind: 'int64', sql: 'HUGEINT' },
    { name: 'output_tokens', kind: 'int64', sql: 'HUGEINT' },
    { name: 'total_tokens', kind: 'int64', sql: 'HUGEINT' },
    ...SUMMED_PARTS.map((part) => ({ name: `of_${part}`, kind: 'int64', sql: 'HUGEINT' }) as const),
    /** Maximum of tokens of one call, including removed calls. */
    { name: 'most', kind: 'int64', sql: 'BIGINT' },
    { name: 'oldest', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
    { name: 'newest', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
    { name: 'gone_oldest', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
    { name: 'gone_newest', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  ],
  sumsOf: ['tenant', 'hour', 'agent_no', 'model', 'told'],
  combinedBy: { most: 'max', oldest: 'min', newest: 'max', gone_oldest: 'min', gone_newest: 'max' },
  countedBy: 'calls',
});
