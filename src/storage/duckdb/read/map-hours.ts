import { hourOf } from '../../../signal/trace-map.js';
import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type { MapHour, MapRange } from '../../contracts/service-map.js';
import { MAP_NODES } from '../../schema/sum-tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { ERRORS } from './map-stats.js';

/** A condition on the sums of the service map. */
export function sumsWithin(tenant: number, { since, before }: MapRange): string {
  return [
    `tenant = ${tenant}`,
    ...(since === null ? [] : [`hour >= ${hourOf(since)}`]),
    ...(before === null ? [] : [`hour <= ${hourOf(before - 1)}`]),
  ].join(' AND ');
}

/** The hours of a user's service map. */
export async function readMapHours(
  connection: Connection,
  capture: Capture,
  tenant: number,
  range: MapRange,
): Promise<readonly MapHour[]> {
  const sums = `SELECT hour, grade, sum(spans) AS spans FROM ${relation(capture, MAP_NODES, sumsWithin(tenant, range))} GROUP BY hour, grade`;
  const rows = await connection.rows(
    `SELECT hour, sum(spans)::DOUBLE AS spans, (${ERRORS})::DOUBLE AS errors FROM (${sums}) GROUP BY hour HAVING sum(spans) > 0 ORDER BY hour`,
  );
  return rows.map(({ hour, spans, errors }) => ({
    hour: Number(hour) * MICROS_PER_HOUR,
    spans: Number(spans),
    errors: errors === null ? null : Number(errors),
  }));
}
