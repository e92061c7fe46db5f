import { POINT_WIRE } from '../../schema/tables.js';
import { placeOf } from '../client/connection.js';
import { DAY, TIME_COLUMN } from './days.js';
import { BYTES } from './run-tables.js';
import { ORIGIN } from './serialized-origins.js';
import { BATCH } from './stored-batch.js';
import { columnsOfKinds, onCluster, type ClickHouseTable, type TablePlace } from './table.js';

/**
 * Metric points: the columns common to all engines, origins, and the metric's name, unit and description. `type`, `unit` and `description`
 * are the accepted metadata of the metric (`../metrics/known-metrics.ts`).
 */
export const POINTS: ClickHouseTable = {
  name: 'points',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    DAY,
    { name: 'name', type: 'LowCardinality(String)' },
    { name: 'unit', type: 'LowCardinality(String)' },
    { name: 'description', type: 'LowCardinality(String)' },
    ...columnsOfKinds(POINT_WIRE, {
      timestamp: 'Int64 CODEC(DoubleDelta, ZSTD(1))',
      start_time: 'Nullable(Int64) CODEC(DoubleDelta, ZSTD(1))',
      value: 'Nullable(Float64) CODEC(Gorilla, ZSTD(1))',
      flags: 'UInt32 CODEC(ZSTD(1))',
      labels: 'LowCardinality(String)',
      distribution: 'Nullable(String) CODEC(ZSTD(1))',
      exemplars: 'Nullable(String) CODEC(ZSTD(1))',
    }),
    ORIGIN,
    BATCH,
    /** Arrival order within a process, for points with the same arrival time. */
    { name: 'place', type: 'UInt64 CODEC(Delta, ZSTD(1))' },
    BYTES,
  ],
  made: [
    // Start of the insert in microseconds, by the server's clock: the arrival order of points.
    {
      name: 'arrived',
      type: 'Int64 MATERIALIZED toUnixTimestamp64Micro(now64(6)) CODEC(DoubleDelta, ZSTD(1))',
    },
    TIME_COLUMN,
    {
      name: 'label',
      type: "Map(String, String) ALIAS CAST(JSONExtract(toString(labels), 'Map(String, String)'), 'Map(String, String)')",
    },
  ],
  identity: ['tenant', 'name', 'timestamp', 'place'],
  partition: 'day',
  order: 'tenant, name, timestamp',
};

/** Metrics by the days of their points. {@link createMetricsView} fills it. */
export const METRICS: ClickHouseTable = {
  name: 'metrics',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    { name: 'name', type: 'String' },
    DAY,
    { name: 'points', type: 'SimpleAggregateFunction(sum, UInt64)' },
    { name: 'last_at', type: 'SimpleAggregateFunction(max, Int64)' },
    /** The last metadata seen. */
    {
      name: 'facts',
      type: 'AggregateFunction(argMax, Tuple(type UInt8, unit String, description String), Tuple(Int64, UInt64))',
    },
  ],
  family: 'Aggregating',
  partition: 'day',
  order: 'tenant, name',
};

/** The statement that creates the view: an insert into {@link POINTS} also updates {@link METRICS}. */
export function createMetricsView(place: TablePlace): string {
  const { database } = place;
  const facts = `CAST(tuple(type, toString(unit), toString(description)), 'Tuple(type UInt8, unit String, description String)')`;
  return [
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${placeOf(database, 'metrics_of_points')}${onCluster(place)} TO ${placeOf(database, METRICS.name)}`,
    `AS SELECT tenant, toString(p.name) AS name, day, count() AS points, max(timestamp) AS last_at, argMaxState(${facts}, tuple(arrived, place)) AS facts`,
    `FROM ${placeOf(database, POINTS.name)} AS p GROUP BY tenant, name, day`,
  ].join(' ');
}
