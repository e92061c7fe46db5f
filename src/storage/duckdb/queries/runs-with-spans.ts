import { storableName } from '../../../signal/names.js';
import { AGENT_NODE } from '../../../signal/service-map.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import type { SpanFilter } from '../../runs.js';
import { PROMPT_LINKS } from '../../prompt-links-table.js';
import { SPANS } from '../../tables.js';
import type { Agents } from '../figures/agents.js';
import { MOST_STARTS } from '../figures/newest-starts.js';
import type { Connection, Row } from '../files/connection.js';
import { literal } from '../files/database.js';
import { narrowed, ofCommitsBetween } from '../rows/commit-ranges.js';
import { newest, relation, type Condition } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { commitsAt } from '../runs/stored-traces.js';
import { commitsOf } from './glances.js';

/** The first runs of a list are looked at by themselves: most often they have what is looked for. Memory knows when so many start. */
export const FIRST_RUNS = MOST_STARTS;
/** Unless their spans may lie anywhere: then only so many, in just their commits. */
const SCATTERED_RUNS = 300;
const MOST_OF_COMMITS = 1 / 16;

/** Which spans a run must have one of, in SQL. */
export interface WantedSpans {
  readonly sql: string;
  /** Agents whose own node is asked for: of their runs a span with the node of its agent will do. */
  readonly agentNos: readonly number[];
}

/** The names of the service map's nodes. */
export interface NodeNames {
  readonly name: (number: number) => string;
  readonly find: (tenant: number, name: string) => number | undefined;
}

/** @returns null where no span can be one of them */
export function wantedSpans(
  { model, name, type, node }: SpanFilter,
  { agents, services }: { readonly agents: Agents; readonly services: NodeNames },
  tenant: number,
): WantedSpans | null {
  const sql = [`tenant = ${tenant}`];
  if (model !== undefined) sql.push(`model = ${literal(storableName(model))}`);
  if (name !== undefined) sql.push(`name = ${literal(storableName(name))}`);
  if (type !== undefined) sql.push(`type = ${SPAN_TYPES.indexOf(type)}`);
  if (node === undefined) return { sql: sql.join(' AND '), agentNos: [] };
  const agentNos = [...agents.ofTenant(tenant)]
    .filter((agent) => agent.name === node)
    .map((agent) => agent.agent_no);
  // A name for which there was no room has the number of another one.
  const found = services.find(tenant, node);
  const isNode = found !== undefined && services.name(found) === node;
  const numbers = [...(isNode ? [found] : []), ...(agentNos.length > 0 ? [AGENT_NODE] : [])];
  if (numbers.length === 0) return null;
  return { sql: [...sql, `node_no IN (${numbers.join(', ')})`].join(' AND '), agentNos };
}

/** The condition for runs that used one of some versions of prompts. */
export function usesPrompts(capture: Capture, tenant: number, promptNos: readonly number[]): string {
  const of = `tenant = ${tenant} AND prompt_no IN (${promptNos.join(', ')})`;
  return `trace_id IN (SELECT trace_id FROM ${relation(capture, PROMPT_LINKS, of)})`;
}

/** The list in which runs are looked for. */
interface WantedRuns {
  /** It in SQL: those that meet a further condition, so many at most, with `seq`, `id`, `agent_no` and the columns `COMMITS`. */
  readonly select: (also: string, limit: number) => string;
  /** Of the parameters in it. */
  readonly values: readonly string[];
  readonly most: number;
  /** When the last of the first {@link FIRST_RUNS} started, where that is known. */
  readonly begin: number | null;
}

/**
 * The first runs of a list that have one of certain spans. Those at its beginning are looked at first, in the commits in which
 * their spans lie; only where too few of them have one, all spans are.
 */
export async function firstWithSpans(
  connection: Connection,
  capture: Capture,
  wanted: WantedSpans,
  { select, values, most, begin }: WantedRuns,
): Promise<readonly Row[]> {
  const atBegin = begin === null ? 'TRUE' : `started_at >= make_timestamp(${begin})`;
  const candidates = await connection.rows(select(atBegin, FIRST_RUNS), values);
  const withSpans = candidates.filter(({ last_seq: seq }) => Number(seq) > 0);
  const first = withSpans.reduce((least, row) => Math.min(least, Number(row.first_seq)), Infinity);
  const last = withSpans.reduce((greatest, row) => Math.max(greatest, Number(row.last_seq)), 0);
  const areAll = candidates.length < FIRST_RUNS;
  if (areAll && withSpans.length === 0) return [];
  const areNear = areAll || last - first <= capture.lastSeq * MOST_OF_COMMITS;
  const looked = areNear ? candidates : candidates.slice(0, SCATTERED_RUNS);
  const there = areNear ? [ofCommitsBetween(first, last)] : commitsOf(looked.map(commitsAt));
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
  const found = looked.filter(
    ({ id, agent_no: agentNo }) => has.has(id) || (hasAgent.has(id) && isNamed.has(Number(agentNo))),
  );
  if (areAll || found.length >= most) return found.slice(0, most);
  return await connection.rows(select(hasSpan(capture, wanted), most), values);
}

/** The condition for runs that have one of the spans. */
function hasSpan(capture: Capture, { sql, agentNos }: WantedSpans): string {
  const having = (also: Condition): string =>
    `trace_id IN (SELECT trace_id FROM ${newest(capture, SPANS, also)})`;
  if (agentNos.length === 0) return having(sql);
  const ofAgent = `agent_no IN (${agentNos.join(', ')}) AND ${having(`${sql} AND node_no = ${AGENT_NODE}`)}`;
  return `(${having(`${sql} AND node_no <> ${AGENT_NODE}`)} OR (${ofAgent}))`;
}
