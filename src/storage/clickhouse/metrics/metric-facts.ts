import { itemAt } from '../../../signal/checked.js';
import { METRIC_TYPES } from '../../../signal/metric.js';
import type { MetricSummary } from '../../contracts/metrics.js';
import type { Reads } from '../client/reads.js';
import { quoted } from '../client/literals.js';
import type { MetricFacts } from './known-metrics.js';

/** The column `facts` of `METRICS`. */
type Facts = Readonly<Omit<MetricFacts, 'name'>>;

const SEEN_LAST = 'name AS its_name, argMaxMerge(facts) AS seen';

/** The metrics that a user has points of. */
export async function readMetricFacts(reads: Reads, tenant: number): Promise<MetricFacts[]> {
  const rows = await reads.rows(
    `SELECT ${SEEN_LAST} FROM metrics WHERE tenant = ${String(tenant)} GROUP BY name`,
  );
  return rows.map(({ its_name, seen }) => ({ name: String(its_name), ...(seen as Facts) }));
}

/** Summaries of a user's metrics, by name; optionally of one metric. */
export async function readMetricSummaries(
  reads: Reads,
  tenant: number,
  { name, abort }: { readonly name?: string; readonly abort?: AbortSignal | undefined },
): Promise<MetricSummary[]> {
  const isIt = name === undefined ? '' : ` AND name = ${quoted(name)}`;
  const rows = await reads.rows(
    `SELECT ${SEEN_LAST}, sum(points) AS all_points, max(last_at) AS last FROM metrics WHERE tenant = ${String(tenant)}${isIt} GROUP BY name`,
    abort,
  );
  return rows
    .map(({ its_name, seen, all_points, last }): MetricSummary => {
      const { type, unit, description } = seen as Facts;
      return {
        name: String(its_name),
        type: itemAt(METRIC_TYPES, type),
        unit,
        description,
        data_point_count: Number(all_points),
        last_seen_at: Number(last),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
