import type { Micros } from '../../../signal/time.js';
import type { CostStats, Observing } from '../../contracts/alerts.js';
import type { Connection } from '../files/connection.js';
import { sumOf } from '../write/run-summary.js';
import type { Capture } from '../segments/segment.js';
import { NO_COST, NO_RUNS, WINDOW_STATS, windowIn, type FoundWindow } from './target-stats.js';
import { activeRows, finishedRows, startedRows, type Units } from './unit-rows.js';

/** Moments equal steps apart. */
export interface Moments {
  readonly first: Micros;
  readonly step: Micros;
  readonly count: number;
}

/** The number of the first moment that is not before a time, in microseconds, as SQL. */
export function momentOf({ first, step }: Moments, time: string): string {
  return `((greatest(${time}, ${first}) - ${first} + ${step - 1}) // ${step})`;
}

export function lastOf({ first, step, count }: Moments): Micros {
  return first + step * (count - 1);
}

/** Stats of the runs or spans of one agent or node that finished in the window before each moment. @param length of the window */
export async function windowsAt(
  connection: Connection,
  capture: Capture,
  units: Units,
  moments: Moments,
  length: Micros,
): Promise<FoundWindow[]> {
  const windows = Array.from({ length: moments.count }, () => NO_RUNS);
  const finished = await finishedRows(connection, capture, units, {
    after: moments.first - length,
    until: lastOf(moments),
  });
  const from = momentOf(moments, 'epoch_us(event)');
  const to = `least(${moments.count}, ${momentOf(moments, `epoch_us(event) + ${length}`)})`;
  const rows = await connection.rows(
    `SELECT moment, ${WINDOW_STATS} FROM (SELECT *, unnest(range(${from}, ${to})) AS moment FROM ${finished}) GROUP BY moment`,
  );
  for (const row of rows) windows[Number(row.moment)] = windowIn(row);
  return windows;
}

/**
 * The cost of a day up to each moment, for one agent or node.
 *
 * @returns nothing for moments before the day, the full cost for those after it
 */
export async function costsAt(
  connection: Connection,
  capture: Capture,
  units: Units,
  moments: Moments,
  { from, to }: Observing['days'][number],
): Promise<CostStats[]> {
  const started = startedRows(capture, units, { from, to: Math.min(to - 1, lastOf(moments)) });
  const at = momentOf(moments, 'epoch_us(started_at)');
  const rows = await connection.rows(
    `SELECT moment, (sum(sum(cost)) OVER (ORDER BY moment))::VARCHAR AS cost, (sum(count(cost)) OVER (ORDER BY moment))::BIGINT AS priced
     FROM (SELECT cost, ${at} AS moment FROM ${started} WHERE cost IS NOT NULL) GROUP BY moment ORDER BY moment`,
  );
  const costs: CostStats[] = [];
  let known = NO_COST;
  let next = 0;
  for (let moment = 0; moment < moments.count; moment++) {
    for (; Number(rows[next]?.moment ?? Infinity) <= moment; next++)
      known = { cost: sumOf(rows[next]?.cost) ?? 0, priced: Number(rows[next]?.priced) };
    costs.push(known);
  }
  return costs;
}

/** When one agent or node was last active before each moment; null if unknown. */
export async function activityAt(
  connection: Connection,
  capture: Capture,
  units: Units,
  moments: Moments,
): Promise<(Micros | null)[]> {
  const rows = await connection.rows(
    `SELECT ${momentOf(moments, 'began')} AS began_at, ${momentOf(moments, 'ended')} AS ended_at, max(ended) AS ended
     FROM ${activeRows(capture, units, lastOf(moments))} GROUP BY 1, 2`,
  );
  const active = Array.from({ length: moments.count }, () => -Infinity);
  for (const { began_at, ended_at, ended } of rows) {
    const end = Math.min(Number(ended_at), moments.count);
    // A running run was last active at this moment.
    for (let at = Number(began_at); at < end; at++) active[at] = moments.first + at * moments.step;
    if (end < moments.count) active[end] = Math.max(active[end] ?? -Infinity, Number(ended));
  }
  let last = -Infinity;
  return active.map((at) => {
    last = Math.max(last, at);
    return last === -Infinity ? null : last;
  });
}
