import { AGENT_NODE } from '../../../signal/service-map.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { SPANS } from '../../schema/tables.js';
import { MOST_STARTS } from '../stats/newest-starts.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { narrowed, ofCommitsBetween } from '../segments/commit-ranges.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { commitsAt } from '../write/stored-traces.js';
import type { AgentsWithSpans } from './agents-with-spans.js';
import { commitsOf } from './previews.js';
import { hasSpan, type WantedSpans } from './wanted-spans.js';

/** The first runs of a list are searched first: usually they contain enough matches. Memory keeps this many starts. */
export const FIRST_RUNS = MOST_STARTS;
/** If the runs' spans are in a smaller share of all commits, that range is read, otherwise only the runs' own commits. */
const MOST_OF_COMMITS = 1 / 16;
/** If the runs are scattered, the runs of this many pages are searched first. */
const FEW_PAGES = 3;

/** The condition for runs that used one of some versions of prompts. */
export function usesPrompts(capture: Capture, tenant: number, promptNos: readonly number[]): string {
  const of = `tenant = ${tenant} AND prompt_no IN (${promptNos.join(', ')})`;
  return `trace_id IN (SELECT trace_id FROM ${relation(capture, PROMPT_LINKS, of)})`;
}

/** The list of runs that is searched. */
interface WantedRuns {
  readonly tenant: number;
  /** The SELECT for the runs that meet a further condition, at most `limit`, with `seq`, `id`, `agent_no` and the columns `COMMITS`. */
  readonly select: (also: string, limit: number) => string;
  readonly most: number;
  /** When the last of the first {@link FIRST_RUNS} started; null if unknown. */
  readonly begin: number | null;
  /** The same for the runs of single agents. */
  readonly begins: readonly { readonly agentNo: number; readonly begin: number | null }[];
}

/**
 * The first runs of a list that have a wanted span. Searches the beginning of the list first, in the commits that hold the runs'
 * spans, then the beginning of the lists of agents that have such spans, and all spans only if too few match. If memory
 * has the starts of those agents' first runs, only their lists are searched: no other agent has such spans.
 */
export async function firstWithSpans(
  connection: Connection,
  capture: Capture,
  wanted: WantedSpans,
  runs: WantedRuns,
  agents: AgentsWithSpans,
): Promise<readonly Row[]> {
  const { select, most, begin, tenant } = runs;
  const known = await agents.of(connection, capture, tenant, wanted);
  if (known?.size === 0) return [];
  const beginOfAgents = known === null ? null : beginOf(known, runs);
  if (beginOfAgents === null && begin !== null) {
    const first = await lookAt(connection, capture, wanted, runs, isSince(begin));
    if (first !== null) return first;
  }
  const firstOfAgents = [isOf(known), ...(beginOfAgents === null ? [] : [isSince(beginOfAgents)])];
  const ofAgents = await lookAt(connection, capture, wanted, runs, firstOfAgents.join(' AND '));
  return ofAgents ?? (await connection.rows(select(`${isOf(known)} AND ${hasSpan(capture, wanted)}`, most)));
}

function isOf(agentNos: ReadonlySet<number> | null): string {
  return agentNos === null ? 'TRUE' : `agent_no IN (${[...agentNos].join(', ') || '-1'})`;
}

/** The latest known start from which an agent has `FIRST_RUNS` runs, so that all the agents together have at least as many. */
function beginOf(agentNos: ReadonlySet<number>, { begins }: WantedRuns): number | null {
  const known = begins.flatMap(({ agentNo, begin }) =>
    begin !== null && agentNos.has(agentNo) ? [begin] : [],
  );
  return known.length === 0 ? null : Math.max(...known);
}

function isSince(begin: number): string {
  return `started_at >= make_timestamp(${begin})`;
}

/**
 * Searches the first runs that meet a condition for the wanted spans.
 *
 * @returns null if too few runs match and later runs may match
 */
async function lookAt(
  connection: Connection,
  capture: Capture,
  wanted: WantedSpans,
  { select, most }: WantedRuns,
  also: string,
): Promise<readonly Row[] | null> {
  const candidates = await connection.rows(select(also, FIRST_RUNS));
  const { first, last } = endsOf(candidates);
  const areNear = last - first <= capture.lastSeq * MOST_OF_COMMITS;
  const small = areNear ? FIRST_RUNS : FEW_PAGES * most;
  const found: Row[] = [];
  for (const part of [candidates.slice(0, small), candidates.slice(small)]) {
    if (part.length > 0) found.push(...(await thoseWith(connection, capture, wanted, part, areNear)));
    if (found.length >= most) break;
  }
  return candidates.length < FIRST_RUNS || found.length >= most ? found.slice(0, most) : null;
}

/** The first and the last commit with spans of some runs. */
function endsOf(runs: readonly Row[]): { readonly first: number; readonly last: number } {
  const withSpans = runs.filter(({ last_seq: seq }) => Number(seq) > 0);
  return {
    first: withSpans.reduce((least, row) => Math.min(least, Number(row.first_seq)), Infinity),
    last: withSpans.reduce((greatest, row) => Math.max(greatest, Number(row.last_seq)), 0),
  };
}

/** The runs that have a wanted span. @param areNear whether to read the whole range of their commits */
async function thoseWith(
  connection: Connection,
  capture: Capture,
  wanted: WantedSpans,
  runs: readonly Row[],
  areNear: boolean,
): Promise<readonly Row[]> {
  const withSpans = runs.filter(({ last_seq: seq }) => Number(seq) > 0);
  if (withSpans.length === 0) return [];
  const { first, last } = endsOf(withSpans);
  const there = areNear ? [ofCommitsBetween(first, last)] : commitsOf(withSpans.map(commitsAt));
  const rows = await connection.rows(
    `SELECT DISTINCT trace_id::VARCHAR AS id, node_no = ${AGENT_NODE} AS is_agent FROM ${newest(
      capture,
      SPANS,
      there.map((commits) => narrowed(commits, wanted.sql)),
    )}`,
  );
  const ofAgent = (row: Row): boolean => row.is_agent === true && wanted.agentNos.length > 0;
  const has = new Set(rows.filter((row) => !ofAgent(row)).map(({ id }) => id));
  const hasAgent = new Set(rows.filter(ofAgent).map(({ id }) => id));
  const isNamed = new Set(wanted.agentNos);
  return runs.filter(
    ({ id, agent_no: agentNo }) => has.has(id) || (hasAgent.has(id) && isNamed.has(Number(agentNo))),
  );
}
