import { RUNNING } from '../../../runs/rules/rows.js';
import type { Dimension } from '../../../signal/run-context.js';
import type { Micros } from '../../../signal/time.js';
import type { Prompts } from '../../contracts/prompts.js';
import type { ComparedPeriods, Period } from '../../contracts/runs.js';
import {
  type FoundGroups,
  type GroupField,
  type GroupRequest,
  MOST_COMPARED_GROUPS,
  type RunGroups,
} from '../../contracts/run-groups.js';
import { HAS_FAILED } from '../../schema/tables.js';
import {
  groupsOfRows,
  type IdentityOf,
  OF_VALUE,
  periodBefore,
  periodsByKey,
  withPromptNames,
} from '../../shared/run-groups.js';
import type { Row } from '../client/connection.js';
import { callsOf, COUNT_COLUMNS, COUNTED_COST, COUNTED_TOKENS, counts, COUNTS_USAGE } from './call-sums.js';
import type { ListParts } from './listed-runs.js';
import { conditions } from './run-conditions.js';

/** SQL for a run's group; empty: no value. A tag or prompt version has a row of its own. */
const KEYS: Readonly<Record<Exclude<GroupField, 'model'>, string>> = {
  agent: 'toString(agent_no)',
  user: "ifNull(user_id, '')",
  tag: "arrayJoin(splitByChar('\\n', ifNull(tags, '')))",
  environment: "ifNull(environment, '')",
  release: "ifNull(release, '')",
  agent_version: "ifNull(agent_version, '')",
  repository: "ifNull(repository, '')",
  prompt_version: 'toString(arrayJoin(arrayDistinct(prompts)))',
};

const PERCENTILES = (duration: string): string =>
  `quantileExactInclusiveOrNull(0.5)(${duration}) AS p50_ms, quantileExactInclusiveOrNull(0.95)(${duration}) AS p95_ms`;
const RUN_STATS = `count() AS runs, countIf(${HAS_FAILED}) AS failed, countIf(status <> ${RUNNING}) AS finished, countIf(success) AS successes, count(success) AS signals,
  ifNull(sum(toInt128(total_cost_usd)), 0) AS paid, count(total_cost_usd) AS priced, toString(ifNull(sum(toInt128(total_tokens)), 0)) AS tokens, count(total_tokens) AS counted,
  ${PERCENTILES('duration_ms')}`;
const CALL_STATS = `countIf(is_call) AS runs, countIf(is_call AND ${HAS_FAILED}) AS failed, countIf(is_call AND status <> ${RUNNING}) AS finished, 0 AS successes, 0 AS signals,
  sum(nanos) AS paid, countIf(is_priced) AS priced, toString(sum(used)) AS tokens, count() AS counted,
  ${PERCENTILES('if(is_call, duration_ms, NULL)')}`;
/** The columns of {@link RUN_STATS} and {@link KEYS}. */
const RUN_COLUMNS = [
  'started_at, status, success, total_cost_usd, total_tokens, duration_ms',
  'agent_no, user_id, tags, environment, release, agent_version, repository, prompts',
].join(', ');

/** The contract `RunGroups`. */
export class GroupReads implements RunGroups {
  readonly #parts: ListParts & { readonly prompts: Pick<Prompts, 'withNumbers'> };
  readonly #tenantOf: (userId: string) => Promise<number>;

  constructor(
    parts: ListParts & { readonly prompts: Pick<Prompts, 'withNumbers'> },
    tenantOf: (userId: string) => Promise<number>,
  ) {
    this.#parts = parts;
    this.#tenantOf = tenantOf;
  }

  async read(userId: string, request: GroupRequest, abort?: AbortSignal): Promise<FoundGroups> {
    const { group_by } = request;
    const tenant = await this.#tenantOf(userId);
    const rows =
      group_by === 'model'
        ? await groupCalls(this.#parts, tenant, request, abort)
        : await groupRuns(this.#parts, tenant, request, group_by, abort);
    const identityOf = group_by === 'agent' ? await this.#agents(tenant, rows) : OF_VALUE;
    const found = groupsOfRows(rows, request, identityOf);
    return group_by === 'prompt_version' ? await withPromptNames(found, this.#parts.prompts, userId) : found;
  }

  async #agents(tenant: number, rows: readonly Row[]): Promise<IdentityOf> {
    const numbers = new Set(
      rows.filter(({ is_total }) => Number(is_total) === 0).map(({ key }) => Number(key)),
    );
    const agents = await this.#parts.names.of(tenant, numbers);
    return (key) => {
      const agent = agents.byNumber(Number(key));
      return agent && { key: agent.id, name: agent.name };
    };
  }
}

/** Statistics of both periods by agent number. */
export async function periodsOfAgents(
  parts: ListParts,
  tenant: number,
  request: Period & Pick<GroupRequest, Dimension>,
  abort: AbortSignal | undefined,
): Promise<ReadonlyMap<number, ComparedPeriods>> {
  const runs = await runsOf(parts, tenant, request);
  if (runs === null) return new Map();
  const keyed = `SELECT *, ${KEYS.agent} AS key FROM ${runs}`;
  const rows = await parts.reads.rows(
    statement(keyed, RUN_STATS, request.start_time, { isTotalled: false, most: Number.MAX_SAFE_INTEGER }),
    abort,
  );
  return new Map([...periodsByKey(rows)].map(([key, periods]) => [Number(key), periods]));
}

/** The runs of both periods as a relation; null if the user has no such agent. */
async function runsOf(
  { names }: Pick<ListParts, 'names'>,
  tenant: number,
  { start_time, end_time, filter, ...of }: Omit<GroupRequest, 'group_by' | 'sort' | 'limit'>,
): Promise<string | null> {
  const within = { start_time: periodBefore({ start_time, end_time }), end_time: end_time - 1 };
  const where = conditions(await names.of(tenant), tenant, { ...filter, ...of, kind: 'agent', ...within });
  return where && `(SELECT ${RUN_COLUMNS} FROM runs FINAL WHERE ${where})`;
}

async function groupRuns(
  parts: ListParts,
  tenant: number,
  request: GroupRequest,
  field: Exclude<GroupField, 'model'>,
  abort: AbortSignal | undefined,
): Promise<readonly Row[]> {
  const { group_by, sort, limit, ...wanted } = request;
  const runs = await runsOf(parts, tenant, wanted);
  if (runs === null) return [];
  const keyed = `SELECT *, ${KEYS[field]} AS key FROM ${runs}`;
  const { start_time } = request;
  if (field !== 'tag' && field !== 'prompt_version')
    return await parts.reads.rows(statement(keyed, RUN_STATS, start_time), abort);
  // A run may be in several groups, so they do not add up to the total.
  const [groups, all] = await Promise.all([
    parts.reads.rows(statement(keyed, RUN_STATS, start_time, { isTotalled: false }), abort),
    parts.reads.rows(statement(`SELECT *, '' AS key FROM ${runs}`, RUN_STATS, start_time), abort),
  ]);
  return [...groups, ...all.filter(({ is_total }) => Number(is_total) === 1)];
}

async function groupCalls(
  parts: ListParts,
  tenant: number,
  { start_time, end_time, group_by, sort, limit, filter, ...of }: GroupRequest,
  abort: AbortSignal | undefined,
): Promise<readonly Row[]> {
  const within = { start_time: periodBefore({ start_time, end_time }), end_time: end_time - 1 };
  const calls = await callsOf(parts, tenant, { ...of, ...within }, [
    ...COUNT_COLUMNS,
    'status',
    'duration_ms',
  ]);
  if (calls === null) return [];
  const keyed = `SELECT started_at, status, duration_ms, ifNull(model, '') AS key, ${counts('call')} AS is_call, cost_usd IS NOT NULL AND ${counts('cost')} AS is_priced,
      ${COUNTED_COST} AS nanos, ${COUNTED_TOKENS} AS used
    FROM ${calls} WHERE ${COUNTS_USAGE}`;
  return await parts.reads.rows(statement(keyed, CALL_STATS, start_time), abort);
}

/**
 * Sums by key and period, of the keys with the highest cost, and by period.
 *
 * @param keyed a relation of runs or calls with their `key`
 */
function statement(
  keyed: string,
  stats: string,
  start: Micros,
  {
    isTotalled = true,
    most = MOST_COMPARED_GROUPS,
  }: { readonly isTotalled?: boolean; readonly most?: number } = {},
): string {
  const sets = `(key, is_now)${isTotalled ? ', (is_now)' : ''}`;
  const cells = `SELECT key, is_now, toUInt8(grouping(key)) AS is_total, ${stats}, max(started_at) AS last_at
    FROM (SELECT *, toUInt8(started_at >= ${start}) AS is_now FROM (${keyed})) GROUP BY GROUPING SETS (${sets})`;
  // Windows in place of a join: a relation referenced twice is read twice.
  const now = (column: string): string =>
    `max(if(is_now = 1 AND ${column} > 0, ${column}, NULL)) OVER (PARTITION BY is_total, key)`;
  return `SELECT * EXCEPT (paid, now_paid, now_runs, place), toString(paid) AS nanos, max(place) OVER (PARTITION BY is_total) AS keys
    FROM (SELECT *, dense_rank() OVER (PARTITION BY is_total ORDER BY now_paid DESC NULLS LAST, now_runs DESC NULLS LAST, key) AS place
      FROM (SELECT *, ${now('paid')} AS now_paid, ${now('runs')} AS now_runs FROM (${cells})))
    QUALIFY is_total = 1 OR place <= ${most}`;
}
