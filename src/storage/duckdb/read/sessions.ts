import { storableIdentity } from '../../../signal/run-context.js';
import { RUN_KINDS, type RunKind } from '../../../signal/span.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import {
  MOST_NAMED,
  type RepositorySummary,
  type SessionFilter,
  type SessionSummary,
  type UserFilter,
  type UserSummary,
} from '../../contracts/runs.js';
import { HAS_FAILED, TRACES } from '../../schema/tables.js';
import { MOST_USAGE } from '../../../runs/rules/usage.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import type { Row } from '../files/plain-rows.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { dimensionsOf, hasIdentity } from './run-conditions.js';
import { number, sumOf, text } from '../write/run-summary.js';

/** Values of `grouping`: a bit for the user and one for the agent, set if the group is not split by it. */
const [BY_USER, BY_AGENT, WHOLE] = [1, 2, 3];

/** The ids of one page of sessions, and the number of all sessions. */
export async function findSessions(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: SessionFilter,
  { offset, limit }: PageRange,
): Promise<{ readonly ids: readonly string[]; readonly count: number }> {
  const where = conditionsOf(agents, tenant, filter);
  if (where === null) return { ids: [], count: 0 };
  const runs = newest(capture, TRACES, `${where} AND session_id IS NOT NULL`);
  const rows = await connection.rows(
    `WITH found AS MATERIALIZED (SELECT session_id AS id, max(started_at) AS last FROM ${runs} GROUP BY session_id)
     SELECT id, (SELECT count(*) FROM found) AS count FROM (SELECT * FROM found ORDER BY last DESC, id LIMIT ${limit} OFFSET ${offset}) ORDER BY last DESC, id`,
  );
  if (rows.length > 0 || offset === 0)
    return { ids: rows.map(({ id }) => String(id)), count: Number(rows[0]?.count ?? 0) };
  const [row] = await connection.rows(`SELECT count(DISTINCT session_id) AS count FROM ${runs}`);
  return { ids: [], count: Number(row?.count) };
}

/** SQL condition for the matching runs; null if the agent is unknown. */
function conditionsOf(agents: Agents, tenant: number, filter: SessionFilter): string | null {
  const { kind, user_id: userId, agent_id: agentId, start_time: from, end_time: to } = filter;
  const sql = [ofKind(tenant, kind)];
  if (userId !== undefined) sql.push(hasIdentity('user_id', [storableIdentity(userId)]));
  if (agentId !== undefined) {
    const numbers = agents.namedById(tenant, agentId).map((agent) => agent.agent_no);
    if (numbers.length === 0) return null;
    sql.push(`agent_no IN (${numbers.join(', ')})`);
  }
  sql.push(...dimensionsOf(filter));
  if (from !== undefined) sql.push(`started_at >= make_timestamp(${from})`);
  if (to !== undefined) sql.push(`started_at <= make_timestamp(${to})`);
  return sql.join(' AND ');
}

/** One page of users with stats of their runs, by cost, then runs, and the number of all users. */
export async function findUsers(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: UserFilter,
  page: PageRange,
): Promise<Page<UserSummary>> {
  const where = conditionsOf(agents, tenant, filter);
  if (where === null) return { items: [], count: 0 };
  const isWanted =
    filter.query === undefined
      ? 'user_id IS NOT NULL'
      : `contains(lower(user_id), lower(${literal(filter.query)}))`;
  const runs = `SELECT *, user_id AS id FROM ${newest(capture, TRACES, `${where} AND ${isWanted}`)}`;
  const { rows, count } = await byCost(connection, runs, page);
  return { items: rows.map((row) => ({ user_id: String(row.id), ...statsOf(row) })), count };
}

/** One page of repositories, like {@link findUsers}. */
export async function findRepositories(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: SessionFilter,
  page: PageRange,
): Promise<Page<RepositorySummary>> {
  const where = conditionsOf(agents, tenant, filter);
  if (where === null) return { items: [], count: 0 };
  const runs = `SELECT *, repository AS id FROM ${newest(capture, TRACES, `${where} AND repository IS NOT NULL`)}`;
  const { rows, count } = await byCost(connection, runs, page);
  const items = rows.map((row) => ({
    repository: String(row.id),
    users: Number(row.users),
    ...statsOf(row),
  }));
  return { items, count };
}

/** One page of the groups of some runs by `id`, and the number of all groups. */
async function byCost(
  connection: Connection,
  runs: string,
  { offset, limit }: PageRange,
): Promise<{ readonly rows: readonly Row[]; readonly count: number }> {
  const rows = await connection.rows(
    `SELECT id, count(*) AS runs, count(*) FILTER (${HAS_FAILED}) AS failed, count(DISTINCT session_id) AS sessions, count(DISTINCT user_id) AS users,
      epoch_us(max(started_at)) AS last_at, CASE WHEN sum(total_tokens) IS NOT NULL THEN least(sum(total_tokens), ${MOST_USAGE}) END::BIGINT AS tokens,
      sum(total_cost_usd) AS summed, summed::VARCHAR AS cost
    FROM (${runs}) GROUP BY id ORDER BY coalesce(summed, -1) DESC, runs DESC, id LIMIT ${limit} OFFSET ${offset}`,
  );
  const [counted] = await connection.rows(`SELECT count(DISTINCT id) AS count FROM (${runs})`);
  return { rows, count: Number(counted?.count) };
}

function statsOf(row: Row): Omit<UserSummary, 'user_id'> {
  return {
    runs: Number(row.runs),
    failed_runs: Number(row.failed),
    sessions: Number(row.sessions),
    last_at: Number(row.last_at),
    total_tokens: number(row.tokens),
    total_cost: sumOf(row.cost),
  };
}

/** The stats of sessions, in the order of the ids; sessions without runs are left out. */
export async function sessionsOf(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  ids: readonly string[],
  kind: RunKind | undefined,
): Promise<SessionSummary[]> {
  if (ids.length === 0) return [];
  const where = `${ofKind(tenant, kind)} AND ${hasIdentity('session_id', ids)}`;
  const groups = `SELECT session_id, user_id, agent_no, grouping(user_id, agent_no) AS part, count(*) AS runs,
      count(*) FILTER (${HAS_FAILED}) AS failed, min(started_at) AS first_at, max(started_at) AS last_start,
      max(greatest(started_at, coalesce(ended_at, started_at))) AS last_at, sum(total_tokens) AS tokens, sum(total_cost_usd) AS cost
    FROM ${newest(capture, TRACES, where)}
    GROUP BY GROUPING SETS ((session_id), (session_id, user_id), (session_id, agent_no))`;
  const rows = await connection.rows(
    `SELECT session_id, user_id, agent_no, part, runs, failed, epoch_us(first_at) AS first_at, epoch_us(last_at) AS last_at,
      CASE WHEN tokens IS NOT NULL THEN least(tokens, ${MOST_USAGE}) END::BIGINT AS tokens, cost::VARCHAR AS cost
    FROM (${groups}) QUALIFY row_number() OVER (PARTITION BY session_id, part ORDER BY last_start DESC, user_id, agent_no) <= ${MOST_NAMED}
    ORDER BY last_start DESC, user_id, agent_no`,
  );
  const bySession = new Map(ids.map((id) => [id, new Map<number, Row[]>()]));
  for (const row of rows) {
    const parts = bySession.get(String(row.session_id));
    const part = Number(row.part);
    parts?.set(part, [...(parts.get(part) ?? []), row]);
  }
  return [...bySession].flatMap(([id, parts]) => {
    const [all] = parts.get(WHOLE) ?? [];
    return all === undefined ? [] : summary(id, all, parts, agents);
  });
}

function summary(
  id: string,
  all: Row,
  parts: ReadonlyMap<number, readonly Row[]>,
  agents: Agents,
): SessionSummary {
  const named = (parts.get(BY_AGENT) ?? []).flatMap((row) => agents.byNumber(Number(row.agent_no)) ?? []);
  return {
    session_id: id,
    user_ids: (parts.get(BY_USER) ?? []).flatMap((row) => text(row.user_id) ?? []),
    // One name has a number for each kind of its runs.
    agents: [...new Map(named.map(({ id, name }) => [id, { id, name }])).values()],
    runs: Number(all.runs),
    failed_runs: Number(all.failed),
    first_at: Number(all.first_at),
    last_at: Number(all.last_at),
    total_tokens: number(all.tokens),
    total_cost: sumOf(all.cost),
  };
}

function ofKind(tenant: number, kind: RunKind | undefined): string {
  return kind === undefined
    ? `tenant = ${tenant}`
    : `tenant = ${tenant} AND kind = ${RUN_KINDS.indexOf(kind)}`;
}
