import { storableIdentity } from '../../../signal/run-context.js';
import { sumToNumber } from '../../../signal/money.js';
import { RUN_KINDS, type RunKind } from '../../../signal/span.js';
import { MOST_USAGE } from '../../../runs/rules/usage.js';
import { HAS_FAILED } from '../../schema/tables.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import {
  MOST_NAMED,
  type RepositorySummary,
  type SessionFilter,
  type Sessions,
  type SessionSummary,
  type StoredScore,
  type UserFilter,
  type UserSummary,
} from '../../contracts/runs.js';
import type { AgentsOfUser } from '../names/agent-names.js';
import { quoted } from '../client/literals.js';
import type { Row } from '../client/connection.js';
import { numberOf, textOf } from '../../shared/summaries-of-rows.js';
import type { ListParts } from './listed-runs.js';
import { conditions, contains } from './run-conditions.js';
import { readSessionScores } from './score-reads.js';

/** The contract `Sessions` over the rows of runs. */
export class SessionReads implements Sessions {
  readonly #parts: ListParts;
  readonly #tenantOf: (userId: string) => Promise<number>;

  constructor(parts: ListParts, tenantOf: (userId: string) => Promise<number>) {
    this.#parts = parts;
    this.#tenantOf = tenantOf;
  }

  async list(
    userId: string,
    filter: SessionFilter,
    { offset, limit }: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<SessionSummary>> {
    const { reads, names } = this.#parts;
    const tenant = await this.#tenantOf(userId);
    const where = conditions(await names.of(tenant), tenant, filter);
    if (where === null) return { items: [], count: 0 };
    const runs = `FROM runs FINAL WHERE ${where} AND session_id IS NOT NULL`;
    const [counted, found] = await Promise.all([
      reads.rows(`SELECT uniqExact(session_id) AS sessions ${runs}`, abort),
      reads.rows(
        `SELECT session_id AS id, max(started_at) AS last ${runs} GROUP BY session_id ORDER BY last DESC, id LIMIT ${limit} OFFSET ${offset}`,
        abort,
      ),
    ]);
    const ids = found.map(({ id }) => String(id));
    return {
      items: await this.#sessionsOf(tenant, ids, filter.kind, abort),
      count: Number(counted[0]?.sessions),
    };
  }

  async read(
    userId: string,
    sessionId: string,
    { kind }: Pick<SessionFilter, 'kind'>,
    abort?: AbortSignal,
  ): Promise<SessionSummary | null> {
    const tenant = await this.#tenantOf(userId);
    const [session] = await this.#sessionsOf(tenant, [storableIdentity(sessionId)], kind, abort);
    return session ?? null;
  }

  async scores(userId: string, sessionId: string, abort?: AbortSignal): Promise<readonly StoredScore[]> {
    const session = { tenant: await this.#tenantOf(userId), sessionId: storableIdentity(sessionId) };
    return await readSessionScores(this.#parts.reads, session, abort);
  }

  async users(
    userId: string,
    { query, ...filter }: UserFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<UserSummary>> {
    const also = query === undefined ? 'true' : contains('user_id', query);
    const groups = { column: 'user_id', also } as const;
    const { rows, count } = await this.#byCost(userId, filter, groups, page, abort);
    return { items: rows.map((row) => ({ user_id: String(row.id), ...statsOf(row) })), count };
  }

  async repositories(
    userId: string,
    filter: SessionFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<RepositorySummary>> {
    const groups = { column: 'repository', also: 'true' } as const;
    const { rows, count } = await this.#byCost(userId, filter, groups, page, abort);
    const items = rows.map((row) => ({
      repository: String(row.id),
      users: Number(row.users),
      ...statsOf(row),
    }));
    return { items, count };
  }

  /** One page of the groups of the matching runs by a column, and the number of all groups. */
  async #byCost(
    userId: string,
    filter: SessionFilter,
    { column, also }: { readonly column: 'user_id' | 'repository'; readonly also: string },
    { offset, limit }: PageRange,
    abort: AbortSignal | undefined,
  ): Promise<{ readonly rows: readonly Row[]; readonly count: number }> {
    const { reads, names } = this.#parts;
    const tenant = await this.#tenantOf(userId);
    const where = conditions(await names.of(tenant), tenant, filter);
    if (where === null) return { rows: [], count: 0 };
    const runs = `FROM (SELECT ${column} AS id, user_id, session_id, status, started_at, total_tokens, total_cost_usd
      FROM runs FINAL WHERE ${where} AND ${column} IS NOT NULL AND ${also})`;
    const [counted, rows] = await Promise.all([
      reads.rows(`SELECT uniqExact(id) AS groups ${runs}`, abort),
      reads.rows(
        `SELECT id, count() AS runs, countIf(${HAS_FAILED}) AS failed, uniqExact(session_id) AS sessions, uniqExact(user_id) AS users,
           max(started_at) AS last_at, count(total_tokens) AS counted,
           toInt64(least(sum(toInt128(ifNull(total_tokens, 0))), toInt128(${MOST_USAGE}))) AS tokens, count(total_cost_usd) AS priced,
           sum(toInt128(ifNull(total_cost_usd, 0))) AS summed, toString(summed) AS cost
         ${runs} GROUP BY id ORDER BY if(priced = 0, -1, summed) DESC, runs DESC, id LIMIT ${limit} OFFSET ${offset}`,
        abort,
      ),
    ]);
    return { rows, count: Number(counted[0]?.groups) };
  }

  /** In the order of the ids; sessions without runs are skipped. */
  async #sessionsOf(
    tenant: number,
    ids: readonly string[],
    kind: RunKind | undefined,
    abort: AbortSignal | undefined,
  ): Promise<SessionSummary[]> {
    if (ids.length === 0) return [];
    const isOf = [
      `tenant = ${tenant}`,
      `session_id IN (${ids.map(quoted).join(', ')})`,
      ...(kind === undefined ? [] : [`kind = ${RUN_KINDS.indexOf(kind)}`]),
    ].join(' AND ');
    const lastOf = (what: string): string =>
      `SELECT session_id, groupArray(${MOST_NAMED})(${what}) AS named FROM (
         SELECT session_id, ${what}, max(started_at) AS last FROM found GROUP BY session_id, ${what} ORDER BY last DESC, ${what}
       ) GROUP BY session_id`;
    const rows = await this.#parts.reads.rows(
      `WITH found AS (SELECT session_id, user_id, agent_no, status, started_at, ended_at, total_tokens, total_cost_usd FROM runs FINAL WHERE ${isOf})
       SELECT s.session_id AS session_id, runs, failed, first_at, last_at, counted, tokens, priced, cost, u.named AS users, a.named AS agents FROM (
         SELECT session_id, count() AS runs, countIf(${HAS_FAILED}) AS failed, min(started_at) AS first_at,
           max(greatest(started_at, ifNull(ended_at, started_at))) AS last_at, count(total_tokens) AS counted,
           toInt64(least(sum(toInt128(total_tokens)), toInt128(${MOST_USAGE}))) AS tokens, count(total_cost_usd) AS priced, toString(sum(toInt128(total_cost_usd))) AS cost
         FROM found GROUP BY session_id) s
       LEFT JOIN (${lastOf('user_id')}) u ON u.session_id = s.session_id
       LEFT JOIN (${lastOf('agent_no')}) a ON a.session_id = s.session_id`,
      abort,
    );
    const numbers = new Set(rows.flatMap((row) => row.agents as readonly number[]));
    const agents = await this.#parts.names.of(tenant, numbers);
    const found = new Map(rows.map((row) => [String(row.session_id), row]));
    return ids.flatMap((id) => {
      const row = found.get(id);
      return row === undefined ? [] : summary(id, row, agents);
    });
  }
}

function statsOf(row: Row): Omit<UserSummary, 'user_id'> {
  return {
    runs: Number(row.runs),
    failed_runs: Number(row.failed),
    sessions: Number(row.sessions),
    last_at: Number(row.last_at),
    total_tokens: Number(row.counted) === 0 ? null : numberOf(row.tokens),
    total_cost: Number(row.priced) === 0 ? null : sumToNumber(BigInt(String(row.cost))),
  };
}

function summary(id: string, row: Row, agents: AgentsOfUser): SessionSummary {
  const named = (row.agents as readonly number[]).flatMap((number) => agents.byNumber(number) ?? []);
  return {
    session_id: id,
    user_ids: (row.users as readonly (string | null)[]).flatMap((user) => textOf(user) ?? []),
    agents: named.map((agent) => ({ id: agent.id, name: agent.name })),
    runs: Number(row.runs),
    failed_runs: Number(row.failed),
    first_at: Number(row.first_at),
    last_at: Number(row.last_at),
    total_tokens: Number(row.counted) === 0 ? null : numberOf(row.tokens),
    total_cost: Number(row.priced) === 0 ? null : sumToNumber(BigInt(String(row.cost))),
  };
}
