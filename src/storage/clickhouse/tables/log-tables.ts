import { GEN_AI_EVENTS } from '../../../signal/logged-event.js';
import { LOG_WIRE } from '../../schema/log-tables.js';
import { placeOf } from '../client/connection.js';
import { quoted } from '../client/literals.js';
import { DAY, TIME_COLUMN } from './days.js';
import { ORIGIN } from './serialized-origins.js';
import { BATCH } from './stored-batch.js';
import { columnsOfKinds, onCluster, type ClickHouseTable, type TablePlace } from './table.js';

/** Log records: the columns common to all engines, origins, and words. */
export const LOGS: ClickHouseTable = {
  name: 'logs',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    DAY,
    ...columnsOfKinds(
      // Its tokens are in `words`.
      LOG_WIRE.filter(({ name }) => name !== 'normal'),
      {
        timestamp: 'Int64 CODEC(DoubleDelta, ZSTD(1))',
        observed_at: 'Nullable(Int64) CODEC(DoubleDelta, ZSTD(1))',
        severity_text: 'LowCardinality(String)',
        service_name: 'LowCardinality(String)',
        event_name: 'LowCardinality(Nullable(String))',
        body: 'Nullable(String) CODEC(ZSTD(1))',
        attributes: 'Nullable(String) CODEC(ZSTD(1))',
        other_text: 'Nullable(String) CODEC(ZSTD(1))',
      },
    ),
    ORIGIN,
    BATCH,
    /** The tokens of a record, as in `normal` of `SearchedTexts`, for the text index and phrase search. */
    { name: 'words', type: 'String CODEC(ZSTD(1))' },
  ],
  made: [TIME_COLUMN],
  identity: ['tenant', 'timestamp', 'id'],
  partition: 'day',
  // As numbers, because ClickHouse compares UUIDs by their second halves.
  order: 'tenant, timestamp, toUInt128(id)',
  indexes: [
    "by_word words TYPE text(tokenizer = splitByString([' ']))",
    'by_id id TYPE bloom_filter(0.01) GRANULARITY 1',
    'by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1',
  ],
};

/** Index from traces to log records that are GenAI events of a span, with their time and id. {@link createEventsView} fills it. */
export const LOGGED_EVENTS: ClickHouseTable = {
  name: 'logged_events',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    DAY,
    { name: 'trace_id', type: 'UUID' },
    { name: 'span_id', type: 'UUID' },
    { name: 'timestamp', type: 'Int64' },
    { name: 'id', type: 'UUID' },
    { name: 'bytes', type: 'UInt32' },
  ],
  // Records older than the view may be inserted twice.
  family: 'Replacing',
  // 30 days each, named by the last day: finding a trace searches all partitions.
  partition: 'intDiv(day, 30) * 30 + 29',
  order: 'tenant, trace_id, span_id, timestamp, id',
  granularity: 1024,
};

const EVENT_NAMES = [...GEN_AI_EVENTS].map(quoted).join(', ');

function eventsOf({ database }: TablePlace): string {
  return `SELECT tenant, day, assumeNotNull(trace_id) AS trace_id, assumeNotNull(span_id) AS span_id, timestamp, id, bytes
    FROM ${placeOf(database, LOGS.name)} WHERE event_name IN (${EVENT_NAMES}) AND isNotNull(logs.trace_id) AND isNotNull(logs.span_id)`;
}

const EVENTS_VIEW = 'events_of_logs';

export function dropEventsView(place: TablePlace): string {
  return `DROP VIEW IF EXISTS ${placeOf(place.database, EVENTS_VIEW)}${onCluster(place)}`;
}

/** Statements that create the view and backfill older records. Later inserts into {@link LOGS} fill it directly. */
export function createEventsView(place: TablePlace): string[] {
  const events = placeOf(place.database, LOGGED_EVENTS.name);
  return [
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${placeOf(place.database, EVENTS_VIEW)}${onCluster(place)} TO ${events} AS ${eventsOf(place)}`,
    `INSERT INTO ${events} ${eventsOf(place)}`,
  ];
}
