import { itemAt } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import type {
  CostStats,
  MetricStats,
  Observed,
  Observing,
  PastStats,
  TargetStats,
  WantedStats,
} from '../../contracts/alerts.js';
import type { Connection } from '../files/connection.js';
import type { ReadContext, Served } from '../segments/read-context.js';
import type { Capture } from '../segments/segment.js';
import { metricStats, noSeries } from './metric-stats.js';
import { activityAt, costsAt, windowsAt, type Moments } from './past-stats.js';
import { placeOf, type Known } from './places.js';
import { scoresSince, scoreWindowsAt, type FoundScores } from './score-windows.js';
import { NO_COST, windowSince } from './target-stats.js';

const UNKNOWN: TargetStats = { window: null, costs: [], activeAt: null };

/** The contract `PastStats` in the store thread. */
export class PastReads implements Served<PastStats> {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  async observe({ tenant, long }: ReadContext, requests: readonly Observing[]): Promise<readonly Observed[]> {
    const [first, second] = requests;
    if (first === undefined) return [];
    const step = second === undefined ? 1 : second.now - first.now;
    const moments = { first: first.now, step, count: requests.length };
    return await long(async (connection, capture) => {
      const targets: (readonly TargetStats[])[] = [];
      for (const wanted of first.targets)
        targets.push(await this.#stats(connection, capture, tenant, wanted, moments, requests));
      const metrics: (readonly MetricStats[])[] = [];
      // Few points of a metric are near each moment, so each moment is a separate query.
      for (const request of requests) metrics.push(await this.#metrics(connection, capture, tenant, request));
      const length = moments.first - first.windowStart;
      const scores: (readonly FoundScores[])[] = [];
      for (const { agentId, name } of first.scores ?? []) {
        const agentNo = agentId === null ? null : (this.#known.agents.byId(tenant, agentId)?.agent_no ?? -1);
        const place = { connection, capture, tenant };
        scores.push(await scoreWindowsAt(place, { agentNo, name }, moments, length));
      }
      return requests.map((_, at) => ({
        targets: targets.map((stats) => stats[at] ?? UNKNOWN),
        metrics: metrics[at] ?? [],
        scores: scores.map((windows) => scoresSince(itemAt(windows, at), [])),
      }));
    });
  }

  /** The stats of one target at each moment. */
  async #stats(
    connection: Connection,
    capture: Capture,
    tenant: number,
    { target, runs, cost, activity }: WantedStats,
    moments: Moments,
    requests: readonly Observing[],
  ): Promise<readonly TargetStats[]> {
    const place = placeOf(this.#known, tenant, target);
    if (place === undefined) return [];
    const units = { unit: place.unit, numbers: [place.no] };
    const length = moments.first - (requests[0]?.windowStart ?? moments.first);
    const windows = runs ? await windowsAt(connection, capture, units, moments, length) : [];
    const ofDays = new Map<Micros, readonly CostStats[]>();
    for (const day of cost ? requests.flatMap(({ days }) => days) : [])
      if (!ofDays.has(day.from))
        ofDays.set(day.from, await costsAt(connection, capture, units, moments, day));
    const active = activity ? await activityAt(connection, capture, units, moments) : [];
    const { agents } = this.#known;
    const some = place.unit === 'agent' ? [agents.byNumber(place.no)] : agents.ofTenant(tenant);
    const created =
      activity && place.unit !== 'node' ? [...some].flatMap((one) => one?.created_at ?? []) : [];
    return requests.map(({ now, days }, at) => {
      const window = windows[at];
      return {
        window: window === undefined ? null : windowSince(window, []),
        costs: cost ? days.map((day) => ofDays.get(day.from)?.[at] ?? NO_COST) : [],
        // If retention removed its runs, it counts as active when it was created.
        activeAt: active[at] ?? created.filter((time) => time <= now).toSorted((a, b) => b - a)[0] ?? null,
      };
    });
  }

  async #metrics(
    connection: Connection,
    capture: Capture,
    tenant: number,
    request: Observing,
  ): Promise<readonly MetricStats[]> {
    const streams = request.metrics.map(({ name, service }) => {
      const stream = this.#known.metrics.streamNumber(tenant, name);
      return stream === undefined ? undefined : { stream, service, since: [] };
    });
    const known = streams.filter((stream) => stream !== undefined);
    const found = await metricStats(connection, capture, known, request);
    return streams.map((stream) =>
      stream === undefined ? noSeries([]) : (found[known.indexOf(stream)] ?? noSeries([])),
    );
  }
}
