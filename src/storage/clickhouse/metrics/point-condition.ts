import { labelLine } from '../../shared/labels.js';
import type { PointFilter } from '../../contracts/metrics.js';
import { quoted } from '../client/literals.js';

/** The condition for points of a metric, in SQL. */
export function pointCondition(
  tenant: number,
  name: string,
  { labels = {}, start_time, end_time }: Omit<PointFilter, 'limit' | 'details'>,
): string {
  return [
    `tenant = ${String(tenant)}`,
    `name = ${quoted(name)}`,
    ...(start_time === undefined ? [] : [`timestamp >= ${String(start_time)}`]),
    ...(end_time === undefined ? [] : [`timestamp <= ${String(end_time)}`]),
    ...Object.entries(labels).map(([key, value]) => `position(labels, ${quoted(labelLine(key, value))}) > 0`),
  ].join(' AND ');
}
