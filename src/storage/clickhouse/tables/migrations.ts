import { createEventsView, dropEventsView, LOGGED_EVENTS, LOGS } from './log-tables.js';
import { createMetricsView, METRICS, POINTS } from './metric-tables.js';
import { MAP_DAYS } from './map-tables.js';
import { BYTES, MESSAGES, RUNS, SPANS } from './run-tables.js';
import { SCORES } from './score-tables.js';
import { ORIGIN } from './serialized-origins.js';
import { BATCH } from './stored-batch.js';
import { addColumn, addIndex, changeType, createTable, type TablePlace } from './table.js';

/** A migration of the tables. Its statements must be idempotent, since ClickHouse has no transactions for them. */
export interface Migration {
  readonly name: string;
  /** Only updates tables of earlier versions to their current declarations; skipped in a new store. */
  readonly isChange?: boolean;
  readonly statements: (place: TablePlace) => readonly string[];
}

/**
 * The migrations from an empty database to the current tables, in order. A released migration keeps its name. A later change to a table is
 * made in its declaration, for new stores, and in a new migration, for existing ones.
 */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-logs', statements: (place) => [createTable(place, LOGS)] },
  {
    name: '0002-runs',
    statements: (place) => [MESSAGES, SPANS, RUNS].map((table) => createTable(place, table)),
  },
  {
    name: '0003-metrics',
    statements: (place) => [
      createTable(place, POINTS),
      createTable(place, METRICS),
      createMetricsView(place),
    ],
  },
  {
    name: '0004-logged-events',
    statements: (place) => [createTable(place, LOGGED_EVENTS), ...createEventsView(place)],
  },
  {
    name: '0005-contradicted-runs',
    isChange: true,
    statements: (place) => [addColumn(place, RUNS, 'is_contradicted', 'has_ended')],
  },
  {
    name: '0006-named-batches',
    isChange: true,
    statements: (place) => [LOGS, POINTS].map((table) => addColumn(place, table, BATCH.name, ORIGIN.name)),
  },
  {
    name: '0007-calls-of-runs',
    isChange: true,
    statements: (place) => [
      addColumn(place, RUNS, 'calls_until', 'is_contradicted'),
      addColumn(place, RUNS, 'model_calls', 'calls_until'),
      addIndex(place, RUNS, 'by_call'),
    ],
  },
  {
    name: '0008-tokens-of-calls',
    isChange: true,
    statements: (place) => [addColumn(place, RUNS, 'call_tokens', 'model_calls')],
  },
  { name: '0009-map-days', statements: (place) => [createTable(place, MAP_DAYS)] },
  {
    name: '0010-stored-bytes',
    isChange: true,
    statements: (place) => [
      addColumn(place, MESSAGES, BYTES.name, 'prompt'),
      addColumn(place, SPANS, BYTES.name, 'origin'),
      addColumn(place, POINTS, BYTES.name, 'place'),
    ],
  },
  {
    name: '0011-other-text-of-logs',
    isChange: true,
    statements: (place) => [
      addColumn(place, LOGS, 'other_text', 'bytes'),
      // Recreated, because its condition lists the event names and new ones were added.
      dropEventsView(place),
      ...createEventsView(place),
    ],
  },
  {
    name: '0012-counted-usage',
    isChange: true,
    statements: (place) => [
      addColumn(place, SPANS, 'counted_tokens', 'counted'),
      addColumn(place, SPANS, 'counted_cost', 'counted_tokens'),
    ],
  },
  {
    name: '0013-orphan-wait',
    isChange: true,
    statements: (place) => [addColumn(place, RUNS, 'orphan_wait_ms', 'sample_rate')],
  },
  { name: '0014-scores', statements: (place) => [createTable(place, SCORES)] },
  {
    name: '0015-run-dimensions',
    isChange: true,
    statements: (place) => [
      addColumn(place, RUNS, 'environment', 'orphan_wait_ms'),
      addColumn(place, RUNS, 'release', 'environment'),
      addColumn(place, RUNS, 'agent_version', 'release'),
      addColumn(place, RUNS, 'repository', 'agent_version'),
    ],
  },
  {
    name: '0016-finer-grades',
    isChange: true,
    statements: (place) =>
      [RUNS, MAP_DAYS].flatMap((table) =>
        ['nodes', 'edges'].map((column) => changeType(place, table, column)),
      ),
  },
  {
    name: '0017-scores-of-sessions',
    isChange: true,
    statements: (place) => [
      addColumn(place, SCORES, 'session_id', 'scored_at'),
      addColumn(place, SCORES, 'metadata', 'session_id'),
    ],
  },
];
