import type { CostStats, Evidence, Observing, WindowStats } from '../../contracts/alerts.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { number, sumOf } from '../write/run-summary.js';
import type { Capture } from '../segments/segment.js';
import { lookedAt, NOTHING_SEEN } from './evidence.js';
import { finishedRows, startedRows, type Units } from './unit-rows.js';

/** Stats of a window, before they are compared with earlier evidence. */
export interface FoundWindow extends Omit<WindowStats, 'evidence' | 'isNew'> {
  /** The greatest commit among its rows. */
  readonly seq: number;
}

/** Columns with the stats of finished runs or spans in a window. */
export const WINDOW_STATS =
  'count(*) AS finished, sum(failed::TINYINT)::BIGINT AS failed, count(duration_ms) AS timed, quantile_cont(duration_ms, 0.95) AS p95_ms, max(seq) AS seq';

export const NO_RUNS: FoundWindow = { finished: 0, failed: 0, timed: 0, p95_ms: null, seq: NOTHING_SEEN };
export const NO_COST: CostStats = { cost: 0, priced: 0 };

/** Stats of the runs or spans that finished in the window, by the number of the agent or node. */
export async function windowsOf(
  connection: Connection,
  capture: Capture,
  units: Units,
  { windowStart, now }: Pick<Observing, 'windowStart' | 'now'>,
): Promise<Map<number, FoundWindow>> {
  const windows = new Map(units.numbers.map((no) => [no, NO_RUNS]));
  if (units.numbers.length === 0) return windows;
  const finished = await finishedRows(connection, capture, units, { after: windowStart, until: now });
  const rows = await connection.rows(`SELECT no, ${WINDOW_STATS} FROM ${finished} GROUP BY no`);
  for (const row of rows) windows.set(Number(row.no), windowIn(row));
  return windows;
}

/** A window, from a row with {@link WINDOW_STATS}. */
export function windowIn(row: Row): FoundWindow {
  return {
    finished: Number(row.finished),
    failed: Number(row.failed),
    timed: Number(row.timed),
    p95_ms: number(row.p95_ms),
    seq: Number(row.seq),
  };
}

/** @param since earlier evidence of the window */
export function windowSince(
  { seq, ...stats }: FoundWindow,
  since: readonly Evidence[] | undefined,
): WindowStats {
  return { ...stats, ...lookedAt(seq, since) };
}

/** The cost of runs or spans by the day of their start, by the number of the agent or node. */
export async function costsOf(
  connection: Connection,
  capture: Capture,
  units: Units,
  days: Observing['days'],
): Promise<Map<number, CostStats[]>> {
  const costs = new Map(units.numbers.map((no) => [no, days.map(() => NO_COST)]));
  if (units.numbers.length === 0) return costs;
  for (const [day, { from, to }] of days.entries()) {
    const started = startedRows(capture, units, { from, to: to - 1 });
    const rows = await connection.rows(
      `SELECT no, sum(cost)::VARCHAR AS cost, count(cost) AS priced FROM ${started} GROUP BY no HAVING count(cost) > 0`,
    );
    for (const row of rows) {
      const ofDays = costs.get(Number(row.no));
      if (ofDays !== undefined) ofDays[day] = { cost: sumOf(row.cost) ?? 0, priced: Number(row.priced) };
    }
  }
  return costs;
}
