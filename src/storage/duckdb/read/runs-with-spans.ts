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

/** The first runs of a list are looked at by themselves: most often they have what is looked for. Memory knows when so many start. */
export const FIRST_RUNS = MOST_STARTS;
/** Where their spans lie in a smaller part of all commits, that part is read, otherwise just their commits. */
const MOST_OF_COMMITS = 1 / 16;
/** Of runs that lie apart, those of so many pages are looked at before the others. */
const FEW_PAGES = 3;

/** The condition for runs that used one of some versions of prompts. */
export function usesPrompts(capture: Capture, tenant: number, promptNos: readonly number[]): string {
  const of = `tenant = ${tenant} AND prompt_no IN (${promptNos.join(', ')})`;
  return `trace_id IN (SELECT trace_id FROM ${relation(capture, PROMPT_LINKS, of)})`;
}

/** The list in which runs are looked for. */
interface WantedRuns {
  readonly tenant: number;
  /** It in SQL: those that meet a further condition, so many at most, with `seq`, `id`, `agent_no` and the columns `COMMITS`. */
  readonly select: (also: string, limit: number) => string;
  /** Of the parameters in it. */
  readonly values: readonly string[];
  readonly most: number;
  /** When the last of the first {@link FIRST_RUNS} started, where that is known. */
  readonly begin: number | null;
  /** Likewise, of the runs of some agents. */
  readonly begins: readonly { readonly agentNo: number; readonly begin: number | null }[];
}

/**
 * The first runs of a list that have one of certain spans. Those at its beginning are looked at first, in the commits in which
 * their spans lie, then those at the beginning of what agents have that have such spans at all; only where too few of them have one, all
 * spans are. Where memory knows how far back the latter go, they are looked at alone: the others have none.
 */
export async function firstWithSpans(
  connection: Connection,
  capture: Capture,
  wanted: WantedSpans,
  runs: WantedRuns,
  agents: AgentsWithSpans,
): Promise<readonly Row[]> {
  const { select, values, most, begin, tenant } = runs;
  const known = await agents.of(connection, capture, tenant, wanted);
  if (known?.size === 0) return [];
  const beginOfAgents = known === null ? null : beginOf(known, runs);
  if (beginOfAgents === null && begin !== null) {
    const first = await lookAt(connection, capture, wanted, runs, isSince(begin));
    if (first !== null) return first;
  }
  const firstOfAgents = [isOf(known), ...(beginOfAgents === null ? [] : [isSince(beginOfAgents)])];
  const ofAgents = await lookAt(connection, capture, wanted, runs, firstOfAgents.join(' AND '));
  return (
    ofAgents ??
    (await connection.rows(select(`${isOf(known)} AND ${hasSpan(capture, wanted)}`, most), values))
  );
}

function isOf(agentNos: ReadonlySet<number> | null): string {
  return agentNos === null ? 'TRUE' : `agent_no IN (${[...agentNos].join(', ') || '-1'})`;
}

/** When the first runs of all of some agents started at the earliest: where one of them has so many since a time, all of them have. */
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
 * Looks for the spans of the first runs that meet a condition.
 *
 * @returns null where too few of them have one, and others may
 */
async function lookAt(
  connection: Connection,
  capture: Capture,
  wanted: WantedSpans,
  { select, values, most }: WantedRuns,
  also: string,
): Promise<readonly Row[] | null> {
  const candidates = await connection.rows(select(also, FIRST_RUNS), values);
  const { first, last } = endsOf(candidates);
  const areNear = last - first <= capture.lastSeq * MOST_OF_COMMITS;
  const few = areNear ? FIRST_RUNS : FEW_PAGES * most;
  const found: Row[] = [];
  for (const part of [candidates.slice(0, few), candidates.slice(few)]) {
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

/** Those of some runs that have one of the spans. @param areNear whether all commits between theirs are read */
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
