import type { Evidence, ScoreStats } from '../../contracts/alerts.js';
import type { Micros } from '../../../signal/time.js';
import { TRACES } from '../../schema/tables.js';
import { MEAN, roundedMean } from '../../shared/score-groups.js';
import { newest } from '../segments/relation.js';
import { lookedAt, NOTHING_SEEN } from './evidence.js';
import { lastOf, momentOf, type Moments } from './past-stats.js';
import { scoresOfRuns, type ScorePlace } from './run-scores.js';
import { IS_AGENTS } from './unit-rows.js';

/** The scores of one name of the runs of an agent, or of all agents. */
export interface AgentScores {
  readonly tenant: number;
  readonly agentNo: number | null;
  readonly name: string;
}

/** Stats before they are compared with earlier evidence. */
export interface FoundScores extends Pick<ScoreStats, 'values' | 'mean'> {
  /** The greatest commit among its scores. */
  readonly seq: number;
}

const NO_SCORES: FoundScores = { values: 0, mean: null, seq: NOTHING_SEEN };
const STATS = `count(*) AS found, ${MEAN.duckdb}, max(seq) AS seq`;

/** Stats of scores given after `after` and not after `until`, in the order of the request. Agents with the same name share a statement. */
export async function scoreWindows(
  place: Omit<ScorePlace, 'tenant'>,
  wanted: readonly AgentScores[],
  within: { readonly after: Micros; readonly until: Micros },
): Promise<readonly FoundScores[]> {
  const keyOf = ({ tenant, agentNo, name }: AgentScores): string => `${tenant} ${agentNo === null} ${name}`;
  const found = new Map<string, Map<number | null, FoundScores>>();
  for (const one of wanted) {
    const key = keyOf(one);
    if (found.has(key)) continue;
    const alike = wanted.filter((other) => keyOf(other) === key);
    const agents = alike.flatMap(({ agentNo }) => agentNo ?? []);
    const isAll = one.agentNo === null;
    const scores = await valuesOf({ ...place, tenant: one.tenant }, one.name, isAll ? null : agents, within);
    const of = isAll ? 'NULL' : 'agent_no';
    const rows = await place.connection.rows(`SELECT ${of} AS agent, ${STATS} FROM ${scores} GROUP BY agent`);
    found.set(key, new Map(rows.map((row) => [isAll ? null : Number(row.agent), statsIn(row)])));
  }
  return wanted.map((one) => found.get(keyOf(one))?.get(one.agentNo) ?? NO_SCORES);
}

/** Stats of scores in the window before each moment. @param length of the window */
export async function scoreWindowsAt(
  place: ScorePlace,
  { agentNo, name }: Pick<AgentScores, 'agentNo' | 'name'>,
  moments: Moments,
  length: Micros,
): Promise<readonly FoundScores[]> {
  const windows = Array.from({ length: moments.count }, () => NO_SCORES);
  const range = { after: moments.first - length, until: lastOf(moments) };
  const scores = await valuesOf(place, name, agentNo === null ? null : [agentNo], range);
  const from = momentOf(moments, 'epoch_us(scored_at)');
  const to = `least(${moments.count}, ${momentOf(moments, `epoch_us(scored_at) + ${length}`)})`;
  const rows = await place.connection.rows(
    `SELECT moment, ${STATS} FROM (SELECT *, unnest(range(${from}, ${to})) AS moment FROM ${scores}) GROUP BY moment`,
  );
  for (const row of rows) windows[Number(row.moment)] = statsIn(row);
  return windows;
}

/** @param since earlier evidence of the window */
export function scoresSince(
  { seq, ...stats }: FoundScores,
  since: readonly Evidence[] | undefined,
): ScoreStats {
  return { ...stats, ...lookedAt(seq, since) };
}

/** The scores with a value of some agents, or of all, as a relation with `agent_no`, `trace_id`, `value`, `scored_at` and `seq`. */
export async function valuesOf(
  place: ScorePlace,
  name: string,
  agentNos: readonly number[] | null,
  { after, until }: { readonly after: Micros; readonly until: Micros },
): Promise<string> {
  const given = `scored_at > make_timestamp(${after}) AND scored_at <= make_timestamp(${until})`;
  const isAgents = agentNos === null ? IS_AGENTS : `agent_no IN (${agentNos.join(', ')})`;
  const isOf = `tenant = ${place.tenant} AND ${isAgents}`;
  return `(SELECT r.agent_no, s.trace_id, s.value, s.scored_at, s.seq FROM ${await scoresOfRuns(place, { name, given })} s
    JOIN (SELECT trace_id, agent_no FROM ${newest(place.capture, TRACES, isOf)}) r USING (trace_id) WHERE s.value IS NOT NULL)`;
}

function statsIn(row: Readonly<Record<string, unknown>>): FoundScores {
  return { values: Number(row.found), mean: roundedMean(row.mean), seq: Number(row.seq) };
}
