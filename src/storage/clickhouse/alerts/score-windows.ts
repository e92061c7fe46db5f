import type { Evidence, ScoreStats } from '../../contracts/alerts.js';
import type { Micros } from '../../../signal/time.js';
import { MEAN, roundedMean } from '../../shared/score-groups.js';
import type { Reads } from '../client/reads.js';
import { scoresOfRuns } from '../queries/score-reads.js';
import { lookedAt, NOTHING_SEEN } from './evidence.js';
import { IS_AGENTS, isOf, lastOf, momentOf, type Moments, type Unit, type Units } from './unit-rows.js';

/** The scores of one name of the runs of an agent, or of all agents. */
export interface ScoresOfUnit {
  readonly place: Unit & Pick<Units, 'unit'>;
  readonly name: string;
}

/** Stats before they are compared with earlier evidence. */
interface FoundScores extends Pick<ScoreStats, 'values' | 'mean'> {
  /** The latest arrival of its scores. */
  readonly arrived: Micros;
}

export const NO_SCORES: FoundScores = { values: 0, mean: null, arrived: NOTHING_SEEN };
const STATS = `count() AS found, ${MEAN.clickhouse}, max(received_at) AS arrived`;

/** Stats of scores given after `after` and not after `until`. */
export async function scoreWindow(
  reads: Reads,
  wanted: ScoresOfUnit,
  within: { readonly after: Micros; readonly until: Micros },
): Promise<FoundScores> {
  const [row] = await reads.rows(`SELECT ${STATS} FROM ${valuesOf(wanted, within)}`);
  return row === undefined ? NO_SCORES : statsIn(row);
}

/** Stats of scores in the window before each moment. @param length of the window */
export async function scoreWindowsAt(
  reads: Reads,
  wanted: ScoresOfUnit,
  moments: Moments,
  length: Micros,
  abort: AbortSignal | undefined,
): Promise<readonly FoundScores[]> {
  const windows = Array.from({ length: moments.count }, () => NO_SCORES);
  const scores = valuesOf(wanted, { after: moments.first - length, until: lastOf(moments) });
  const from = momentOf(moments, 'scored_at');
  const to = `least(${moments.count}, ${momentOf(moments, `scored_at + ${length}`)})`;
  const rows = await reads.rows(
    `SELECT moment, ${STATS} FROM (SELECT *, arrayJoin(range(toUInt32(${from}), toUInt32(${to}))) AS moment FROM ${scores}) GROUP BY moment`,
    abort,
  );
  for (const row of rows) windows[Number(row.moment)] = statsIn(row);
  return windows;
}

/** @param since earlier evidence of the window */
export function scoresSince(
  { arrived, ...stats }: FoundScores,
  since: readonly Evidence[] | undefined,
): ScoreStats {
  return { ...stats, ...lookedAt(arrived, since) };
}

/** The scores with a value, as a relation with `trace_id`, `value`, `scored_at` and `received_at`. */
export function valuesOf(
  { place, name }: ScoresOfUnit,
  { after, until }: { readonly after: Micros; readonly until: Micros },
): string {
  const test = `isNotNull(value) AND scored_at > ${after} AND scored_at <= ${until}`;
  const isOne = isOf({ unit: place.unit, units: [place] });
  const runs = `SELECT trace_id FROM runs FINAL WHERE ${isOne} AND ${IS_AGENTS}`;
  return `(SELECT trace_id, value, scored_at, received_at FROM ${scoresOfRuns(place.tenant, { name, test })} WHERE trace_id IN (${runs}))`;
}

function statsIn(row: Readonly<Record<string, unknown>>): FoundScores {
  return { values: Number(row.found), mean: roundedMean(row.mean), arrived: Number(row.arrived) };
}
