import { sumToNumber } from '../../../signal/money.js';
import type { Micros } from '../../../signal/time.js';
import type {
  CostStats,
  Observed,
  Observing,
  PastStats,
  TargetStats,
  WantedStats,
} from '../../contracts/alerts.js';
import type { Reads } from '../client/reads.js';
import type { Observations, Place } from './observations.js';
import { NO_SCORES, scoresSince, scoreWindowsAt } from './score-windows.js';
import { NO_COST, NO_RUNS, windowIn, windowSince, WINDOW_STATS, type FoundWindow } from './target-stats.js';
import {
  activeRows,
  finishedRows,
  lastOf,
  momentOf,
  startedRows,
  type Moments,
  type Units,
} from './unit-rows.js';

const UNKNOWN: TargetStats = { window: null, costs: [], activeAt: null };

/** The contract `PastStats`. */
export class PastReads implements PastStats {
  readonly #reads: Reads;
  readonly #observations: Observations;

  constructor(reads: Reads, observations: Observations) {
    this.#reads = reads;
    this.#observations = observations;
  }

  async observe(
    userId: string,
    requests: readonly Observing[],
    abort?: AbortSignal,
  ): Promise<readonly Observed[]> {
    const [first, second] = requests;
    if (first === undefined) return [];
    const step = second === undefined ? 1 : second.now - first.now;
    const moments = { first: first.now, step, count: requests.length };
    const targets: (readonly TargetStats[])[] = [];
    for (const wanted of first.targets) {
      const place = await this.#observations.place({ ...wanted.target, userId });
      targets.push(place === null ? [] : await this.#stats(place, wanted, moments, requests, abort));
    }
    const length = moments.first - first.windowStart;
    const scores = [];
    for (const wanted of first.scores ?? []) {
      const of = await this.#observations.scored({ ...wanted, userId });
      scores.push(of === null ? null : await scoreWindowsAt(this.#reads, of, moments, length, abort));
    }
    const answers: Observed[] = [];
    for (const [at, request] of requests.entries())
      answers.push({
        targets: targets.map((stats) => stats[at] ?? UNKNOWN),
        // Each moment is a separate lookup, because few points of a metric are near each moment. One after another: a read has a place for
        // at most two statements (`fair-reads.ts`).
        metrics: await this.#observations.metrics(
          { ...request, metrics: request.metrics.map((metric) => ({ ...metric, userId, since: [] })) },
          abort,
        ),
        scores: scores.map((windows) => scoresSince(windows?.[at] ?? NO_SCORES, [])),
      });
    return answers;
  }

  /** Stats of one target at each moment. */
  async #stats(
    place: Place,
    { runs, cost, activity }: WantedStats,
    moments: Moments,
    requests: readonly Observing[],
    abort: AbortSignal | undefined,
  ): Promise<readonly TargetStats[]> {
    const units = { unit: place.unit, units: [place] };
    const length = moments.first - (requests[0]?.windowStart ?? moments.first);
    const windows = runs ? await windowsAt(this.#reads, units, moments, length, abort) : [];
    const ofDays = new Map<Micros, readonly CostStats[]>();
    for (const day of cost ? requests.flatMap(({ days }) => days) : [])
      if (!ofDays.has(day.from)) ofDays.set(day.from, await costsAt(this.#reads, units, moments, day, abort));
    const active = activity ? await activityAt(this.#reads, units, moments, abort) : [];
    const createdAt = place.created_at ?? null;
    return requests.map(({ now, days }, at) => {
      const window = windows[at];
      return {
        window: window === undefined ? null : windowSince(window, []),
        costs: cost ? days.map((day) => ofDays.get(day.from)?.[at] ?? NO_COST) : [],
        // Retention may have removed its runs; then its last activity is at least its creation.
        activeAt: active[at] ?? (activity && createdAt !== null && createdAt <= now ? createdAt : null),
      };
    });
  }
}

/** Stats of the runs or spans that finished in the window before each moment. @param length of the window */
async function windowsAt(
  reads: Reads,
  units: Units,
  moments: Moments,
  length: Micros,
  abort: AbortSignal | undefined,
): Promise<FoundWindow[]> {
  const windows = Array.from({ length: moments.count }, () => NO_RUNS);
  const finished = finishedRows(units, { after: moments.first - length, until: lastOf(moments) });
  const from = momentOf(moments, 'event');
  const to = `least(${moments.count}, ${momentOf(moments, `event + ${length}`)})`;
  const rows = await reads.rows(
    `SELECT moment, ${WINDOW_STATS} FROM (SELECT *, arrayJoin(range(toUInt32(${from}), toUInt32(${to}))) AS moment FROM ${finished}) GROUP BY moment`,
    abort,
  );
  for (const row of rows) windows[Number(row.moment)] = windowIn(row);
  return windows;
}

/** Cost of a day up to each moment: nothing for moments before the day, all of it for moments after. */
async function costsAt(
  reads: Reads,
  units: Units,
  moments: Moments,
  { from, to }: Observing['days'][number],
  abort: AbortSignal | undefined,
): Promise<CostStats[]> {
  const started = startedRows(units, { from, to: Math.min(to - 1, lastOf(moments)) });
  const at = momentOf(moments, 'started_at');
  const rows = await reads.rows(
    `SELECT ${at} AS moment, toString(sum(toInt128(cost))) AS nanos, count(cost) AS priced FROM ${started} WHERE cost IS NOT NULL GROUP BY moment ORDER BY moment`,
    abort,
  );
  const costs: CostStats[] = [];
  let [nanos, priced, next] = [0n, 0, 0];
  for (let moment = 0; moment < moments.count; moment++) {
    for (; Number(rows[next]?.moment ?? Infinity) <= moment; next++) {
      nanos += BigInt(String(rows[next]?.nanos));
      priced += Number(rows[next]?.priced);
    }
    costs.push({ cost: sumToNumber(nanos), priced });
  }
  return costs;
}

/** The last activity before each moment; null if absent. */
async function activityAt(
  reads: Reads,
  units: Units,
  moments: Moments,
  abort: AbortSignal | undefined,
): Promise<(Micros | null)[]> {
  const rows = await reads.rows(
    `SELECT ${momentOf(moments, 'began')} AS began_at, ${momentOf(moments, 'ended')} AS ended_at, max(ended) AS last
     FROM ${activeRows(units, lastOf(moments))} GROUP BY began_at, ended_at`,
    abort,
  );
  const active = Array.from({ length: moments.count }, () => -Infinity);
  for (const { began_at, ended_at, last } of rows) {
    const end = Math.min(Number(ended_at), moments.count);
    // A running unit is active at this moment.
    for (let at = Number(began_at); at < end; at++) active[at] = moments.first + at * moments.step;
    if (end < moments.count) active[end] = Math.max(active[end] ?? -Infinity, Number(last));
  }
  let latest = -Infinity;
  return active.map((at) => {
    latest = Math.max(latest, at);
    return latest === -Infinity ? null : latest;
  });
}
