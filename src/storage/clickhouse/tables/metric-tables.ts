import { placeOf } from '../client/connection.js';
import { POINT_WIRE } from '../../tables.js';
import { DAY, TIME_COLUMN } from './days.js';
import { columnsOfKinds, onCluster, type ClickHouseTable, type TablePlace } from './table.js';

/** Points of metrics: what every engine has of them, with what is known of their metric. */
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
      labels: 'LowCardinality(String)',
      distribution: 'Nullable(String) CODEC(ZSTD(1))',
      exemplars: 'Nullable(String) CODEC(ZSTD(1))',
    }),
    /** Resource and scope, as JSON. */
    { name: 'origin', type: 'LowCardinality(String)' },
    /** Its place in its insert. */
    { name: 'line', type: 'UInt32 CODEC(Delta, ZSTD(1))' },
  ],
  made: [
    TIME_COLUMN,
    /** By the server's clock, which all processes share: in microseconds, which one is newer of two that came one after the other. */
    { name: 'arrived', type: 'Int64 MATERIALIZED toUnixTimestamp64Micro(now64(6)) CODEC(Delta, ZSTD(1))' },
    { name: 'label', type: "Map(String, String) ALIAS JSONExtract(labels, 'Map(String, String)')" },
  ],
  partition: 'day',
  order: 'tenant, name, timestamp',
};

/** What the points of a day say of their metric, kept by a view. */
export const STREAM_DAYS: ClickHouseTable = {
  name: 'stream_days',
  columns: [
    { name: 'tenant', type: 'UInt32' },
    { name: 'day', type: 'Int32' },
    { name: 'name', type: 'String' },
    { name: 'points', type: 'SimpleAggregateFunction(sum, UInt64)' },
    { name: 'last', type: 'SimpleAggregateFunction(max, Int64)' },
    /** Type, unit and description of the newest point by its arrival. */
    {
      name: 'facts',
      type: 'AggregateFunction(argMax, Tuple(UInt8, String, String), Tuple(Int64, UInt32))',
    },
  ],
  family: 'Aggregating',
  partition: 'day',
  order: 'tenant, name, day',
};

/** The statement that makes the view from points to {@link STREAM_DAYS}. */
export function streamView(place: TablePlace): string {
  const of = (table: string): string => placeOf(place.database, table);
  return [
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${of('stream_days_of_points')}${onCluster(place)}`,
    `TO ${of(STREAM_DAYS.name)} AS`,
    'SELECT tenant, day, toString(name) AS name, count() AS points, max(timestamp) AS last,',
    'argMaxState((type, toString(unit), toString(description)), (arrived, line)) AS facts',
    `FROM ${of(POINTS.name)} GROUP BY tenant, day, name`,
  ].join(' ');
}
