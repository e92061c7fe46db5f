import type { RunFilter, RunCursor, RunSearch } from '../../contracts/runs.js';
import { TRACES } from '../../schema/tables.js';
import type { Agent, Agents } from '../stats/agents.js';
import type { RunList } from '../stats/counted-run.js';
import type { RunStats } from '../stats/run-stats.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import type { Read } from '../segments/read.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { COMMITS } from '../write/stored-traces.js';
import { TraceId } from '../segments/trace-id.js';
import type { AgentsWithSpans } from './agents-with-spans.js';
import { FIRST_RUNS, firstWithSpans, usesPrompts } from './runs-with-spans.js';
import { wantedSpans, type NodeNames, type WantedSpans } from './wanted-spans.js';
import { conditions, isWholeList } from './run-conditions.js';
import { hasScores } from './run-scores.js';
import { orderOf, readRunsAt, type RunsPart } from './runs.js';

/** At most this many agents with wanted spans, those with the most runs, get a list of newest starts in memory. */
const MOST_LISTS = 3;

/** Runs after a cursor, and the cursor of the last one; null if no runs follow. */
export type FollowingPart = RunsPart & { readonly next: RunCursor | null };

/** A {@link RunSearch} with the prompt resolved to the numbers of its versions. */
export interface FollowedSearch extends Omit<RunSearch, 'prompt'> {
  readonly promptNos?: readonly number[];
}

/** The state in memory that a list of runs uses. */
export interface KnownOfRuns {
  readonly agents: Agents;
  readonly stats: RunStats;
  readonly services: NodeNames;
  readonly agentsWith: AgentsWithSpans;
}

/** Where a part of a list begins, and how many runs it has at most. */
interface Following {
  readonly after: RunCursor | null;
  readonly limit: number;
  /** A further condition on headers, in SQL. */
  readonly also?: string | undefined;
}

/** A part of a list by its keys: `seq` and `id` of each run, its commits, start, sort value and agent. */
export interface KeysAfter {
  readonly keys: readonly Row[];
  /** The position of the last one; null if no runs follow. */
  readonly next: RunCursor | null;
  readonly connection: Connection;
  readonly capture: Capture;
}

/** The runs of a list after a cursor, without a total. */
export async function listRunsAfter(
  read: Read,
  known: KnownOfRuns,
  tenant: number,
  search: FollowedSearch,
  from: Following,
): Promise<FollowingPart> {
  const found = await keysAfter(read, known, tenant, search, from, async (part) => {
    const { connection, capture, keys, next } = part;
    const wanted = keys.map(({ id, seq }) => ({ id: String(id), seq: Number(seq) }));
    const runs = await readRunsAt(connection, capture, known.agents, tenant, wanted, orderOf(search));
    return { ...runs, next };
  });
  return found ?? { items: [], rest: [], next: null };
}

/**
 * Reads the keys of a part of a list, and passes them on within the same read.
 *
 * @returns null if no run can match
 */
export async function keysAfter<T>(
  read: Read,
  known: KnownOfRuns,
  tenant: number,
  search: FollowedSearch,
  { after, limit, also }: Following,
  use: (part: KeysAfter) => Promise<T>,
): Promise<T | null> {
  const { agents, stats } = known;
  const { span, promptNos, ...filter } = search;
  const matching = conditions(agents, tenant, filter);
  const spans = span === undefined ? undefined : wantedSpans(span, known, tenant);
  if (matching === null || spans === null || promptNos?.length === 0) return null;
  const { sql, list } = matching;
  // One extra run shows whether more follow.
  const most = limit + 1;
  const isOfStarts =
    after === null && also === undefined && list !== null && isWholeList(filter) && promptNos === undefined;
  const isFirst = isOfStarts && spans === undefined;
  if (isOfStarts) await stats.loadStarts(read, list, isFirst ? most : FIRST_RUNS);
  const ofAgents =
    isOfStarts && spans !== undefined ? listsOfAgents(known, tenant, matching.counted, spans) : [];
  for (const one of ofAgents) await stats.loadStarts(read, one, FIRST_RUNS);
  return await read(async (connection, capture) => {
    const since = isFirst ? stats.nthNewest(list, most) : null;
    const begin = isOfStarts && !isFirst ? stats.nthNewest(list, FIRST_RUNS) : null;
    const begins = ofAgents.map((one) => ({
      agentNo: one.agentNo,
      begin: stats.nthNewest(one, FIRST_RUNS),
    }));
    const from = since === null ? behind(filter, after) : `started_at >= make_timestamp(${since})`;
    const where = `tenant = ${tenant} AND ${sql} AND ${from} AND ${also ?? 'TRUE'}`;
    const order = orderOf(filter);
    const value = filter.sort ?? 'NULL';
    const runs = newest(capture, TRACES, where);
    const isScored = await hasScores({ connection, capture, tenant }, search.scores);
    const used = promptNos === undefined ? 'TRUE' : usesPrompts(capture, tenant, promptNos);
    // Ids are converted to text only for the few rows that remain.
    const select = (also: string, runsAtMost: number): string =>
      `SELECT seq, trace_id::VARCHAR AS id, epoch_us(started_at) AS start, ${value} AS value, ${COMMITS}, agent_no
       FROM (SELECT seq, trace_id, started_at, ${value}, ${COMMITS}, agent_no FROM ${runs} WHERE ${used} AND ${isScored} AND ${also} ORDER BY ${order} LIMIT ${runsAtMost}) ORDER BY ${order}`;
    const keys =
      spans === undefined
        ? await connection.rows(select('TRUE', most))
        : await firstWithSpans(
            connection,
            capture,
            spans,
            { tenant, select, most, begin, begins },
            known.agentsWith,
          );
    const last = keys.length > limit ? keys[limit - 1] : undefined;
    const next = last === undefined ? null : placeOf(last);
    return await use({ keys: keys.slice(0, limit), next, connection, capture });
  });
}

/** Up to {@link MOST_LISTS} agents that have such spans, as lists of their runs, those with the most runs first. */
function listsOfAgents(
  { stats, agentsWith }: KnownOfRuns,
  tenant: number,
  counted: readonly Agent[],
  spans: WantedSpans,
): (RunList & { readonly agentNo: number })[] {
  const found = agentsWith.foundLast(tenant, spans);
  const runsOf = ({ agent_no: agentNo }: Agent): number => stats.totals(agentNo)?.runs ?? 0;
  return counted
    .filter(({ agent_no: agentNo }) => found.has(agentNo))
    .toSorted((one, other) => runsOf(other) - runsOf(one))
    .slice(0, MOST_LISTS)
    .map(({ agent_no: agentNo }) => ({ tenant, agentNo }));
}

/** The position of a run, from its key. */
export function placeOf({ id, start, value }: Row): RunCursor {
  return {
    trace_id: String(id),
    started_at: Number(start),
    value: value === null || value === undefined ? null : Number(value),
  };
}

/** The condition for runs after a cursor. */
function behind({ sort, oldest_first = false }: RunFilter, place: RunCursor | null): string {
  if (place === null) return 'TRUE';
  const than = oldest_first ? '>' : '<';
  const start = `make_timestamp(${place.started_at})`;
  const isLater = `(started_at, trace_id) ${than} (${start}, '${new TraceId(place.trace_id).text}'::UUID)`;
  // A separate condition on `started_at` lets scans skip row groups.
  if (sort === undefined) return `started_at ${than}= ${start} AND ${isLater}`;
  if (place.value === null) return `${sort} IS NULL AND ${isLater}`;
  const value = `'${place.value}'::DOUBLE`;
  return `(${sort} ${than} ${value} OR ${sort} IS NULL OR (${sort} = ${value} AND ${isLater}))`;
}
