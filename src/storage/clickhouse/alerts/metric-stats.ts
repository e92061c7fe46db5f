import type { MetricStats, Observing, WantedMetric } from '../../contracts/alerts.js';
import { quote, SERVICE_STARTS } from '../../shared/labels.js';
import { finiteOrNull } from '../../shared/metric-steps/stored-distribution.js';
import type { Row } from '../client/connection.js';
import { quoted } from '../client/literals.js';
import type { Reads } from '../client/reads.js';
import { arrivalsLookedAt, MOST_ARRIVALS } from './evidence.js';

/** A wanted metric of an existing user, by the user's number. */
export interface MetricOfTenant extends WantedMetric {
  readonly tenant: number;
}

interface FoundSeries extends Omit<MetricStats, 'evidence' | 'isNew'> {
  /** Arrival times of the newest points, newest first. */
  readonly arrivals: readonly number[];
}

const NO_SERIES: FoundSeries = { series: 0, min: null, max: null, arrivals: [] };

/** The distinct services in the labels, as serialized. Labels are matched as text, since their values have no line breaks. */
const NAMES = SERVICE_STARTS.map((start) => {
  const found = `position(text, ${quoted(start)})`;
  const value = `substring(text, ${found} + length(${quoted(start)}))`;
  return `if(${found} = 0, '', splitByChar('\\n', ${value})[1])`;
});
const SERVICES = `arrayDistinct(arrayFilter(name -> name <> '', [${NAMES.join(', ')}]))`;

/**
 * Stats of the newest point of each series of some metrics; among points of the same time the last to arrive counts. A series whose
 * newest point has no value has ended, or its state is unknown. One statement
 * aggregates the series, since their number is unbounded.
 *
 * @returns in the order of the request
 */
export async function metricStats(
  reads: Reads,
  wanted: readonly MetricOfTenant[],
  { pointsStart, now }: Pick<Observing, 'pointsStart' | 'now'>,
  abort?: AbortSignal,
): Promise<MetricStats[]> {
  if (wanted.length === 0) return [];
  const pairs = unique(wanted.map(({ tenant, name }) => `(${String(tenant)}, ${quoted(name)})`));
  const tenants = unique(wanted.map(({ tenant }) => String(tenant)));
  const asked = unique(
    wanted.flatMap(({ tenant, name, service }) =>
      service === null ? [] : [`(${String(tenant)}, ${quoted(name)}, ${quoted(quote(service))})`],
    ),
  );
  const isAsked = asked.length === 0 ? '' : ` OR (tenant, metric, service) IN (${asked.join(', ')})`;
  const series = `SELECT tenant, name AS metric, toString(labels) AS text, argMax((ifNull(value, nan), arrived), (timestamp, arrived, place)) AS newest, ${SERVICES} AS services
    FROM points WHERE tenant IN (${tenants.join(', ')}) AND (tenant, name) IN (${pairs.join(', ')}) AND timestamp > ${pointsStart} AND timestamp <= ${now}
    GROUP BY tenant, name, labels HAVING isFinite(newest.1)`;
  // Rows without a service aggregate all series of a metric.
  const rows = await reads.rows(
    `SELECT tenant, metric, service, count() AS series, min(newest.1) AS least, max(newest.1) AS most, max(notEmpty(services)) AS says,
      arraySlice(arrayReverseSort(groupUniqArray(newest.2)), 1, ${MOST_ARRIVALS}) AS arrivals
     FROM (SELECT *, arrayJoin(arrayConcat([''], services)) AS service FROM (${series})) WHERE service = ''${isAsked} GROUP BY tenant, metric, service`,
    abort,
  );
  const found = new Map(
    rows.map((row) => [keyOf(Number(row.tenant), String(row.metric), String(row.service)), row]),
  );
  return wanted.map(({ tenant, name, service, since }) => {
    const of = (key: string): Row | undefined => found.get(keyOf(tenant, name.toWellFormed(), key));
    const all = of('');
    const isOwn = service !== null && all?.says === 1;
    const { arrivals, ...stats } = statsOf(isOwn ? of(quote(service)) : all);
    return { ...stats, ...arrivalsLookedAt(arrivals, since) };
  });
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function keyOf(tenant: number, metric: string, service: string): string {
  return JSON.stringify([tenant, metric, service]);
}

function statsOf(row: Row | undefined): FoundSeries {
  if (row === undefined) return NO_SERIES;
  return {
    series: Number(row.series),
    min: finiteOrNull(row.least),
    max: finiteOrNull(row.most),
    arrivals: row.arrivals as readonly number[],
  };
}
