import { RUNNING } from '../../../runs/rules/rows.js';
import type { Micros } from '../../../signal/time.js';
import type { ComparedPeriods } from '../../contracts/runs.js';
import {
  type FoundGroups,
  type GroupField,
  type GroupRequest,
  MOST_COMPARED_GROUPS,
  type RunGroups,
} from '../../contracts/run-groups.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { HAS_FAILED, TRACES } from '../../schema/tables.js';
import {
  callsOfPeriods,
  groupsOfRows,
  type IdentityOf,
  OF_VALUE,
  periodsByKey,
  runsOfPeriods,
  type SelectedRuns,
} from '../../shared/run-groups.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { ReadContext, Served } from '../segments/read-context.js';
import { counts, COUNTS_USAGE, withTokens } from '../segments/call-tokens.js';
import { conditions } from './run-conditions.js';
import { hasScores } from './run-scores.js';
import { someCalls } from './summed-calls.js';

interface Place {
  readonly connection: Connection;
  readonly capture: Capture;
  readonly agents: Agents;
  readonly tenant: number;
}

/** SQL for a run's group; empty: no value. A tag has a row of its own. */
const KEYS: Readonly<Record<Exclude<GroupField, 'model'>, string>> = {
  agent: 'agent_no::VARCHAR',
  user: "coalesce(user_id, '')",
  tag: "unnest(CASE WHEN tags IS NULL THEN [''] ELSE string_split(tags, chr(10)) END)",
  environment: "coalesce(environment, '')",
  release: "coalesce(release, '')",
  agent_version: "coalesce(agent_version, '')",
  repository: "coalesce(repository, '')",
  prompt_version: 'prompt_no::VARCHAR',
};

/** Exact sums. Sums replace `count(*) FILTER (…)`, which takes twice as long. */
const RUN_STATS = `count(*) AS runs, sum((${HAS_FAILED})::TINYINT)::BIGINT AS failed, sum((status <> ${RUNNING})::TINYINT)::BIGINT AS finished,
  coalesce(sum(success::TINYINT), 0)::BIGINT AS successes, count(success) AS signals, sum(total_cost_usd) AS paid, count(total_cost_usd) AS priced,
  sum(total_tokens)::VARCHAR AS tokens, count(total_tokens) AS counted, quantile_cont(duration_ms, [0.5, 0.95]) AS percentiles`;
const CALL_STATS = `sum(is_call::TINYINT)::BIGINT AS runs, sum((is_call AND ${HAS_FAILED})::TINYINT)::BIGINT AS failed, sum((is_call AND status <> ${RUNNING})::TINYINT)::BIGINT AS finished,
  0 AS successes, 0 AS signals, sum(paid) AS paid, sum(is_priced::TINYINT)::BIGINT AS priced,
  sum(all_tokens)::VARCHAR AS tokens, count(*) AS counted, quantile_cont(CASE WHEN is_call THEN duration_ms END, [0.5, 0.95]) AS percentiles`;

/** Runs, or model calls, by a field, in a period and in the one before. */
async function readGroups(place: Place, request: GroupRequest): Promise<FoundGroups> {
  const { group_by } = request;
  const rows =
    group_by === 'model' ? await groupCalls(place, request) : await groupRuns(place, request, group_by);
  return groupsOfRows(rows, request, group_by === 'agent' ? identityOf(place) : OF_VALUE);
}

/** Statistics of both periods by agent number. */
export async function periodsOfAgents(
  place: Place,
  request: SelectedRuns,
): Promise<ReadonlyMap<number, ComparedPeriods>> {
  const runs = await runsOf(place, request);
  if (runs === null) return new Map();
  const keyed = `SELECT *, ${KEYS.agent} AS key FROM ${runs}`;
  const rows = await place.connection.rows(
    statement(keyed, RUN_STATS, request.start_time, { isTotalled: false, most: Number.MAX_SAFE_INTEGER }),
  );
  return new Map([...periodsByKey(rows)].map(([key, periods]) => [Number(key), periods]));
}

/** The runs of both periods as a relation; null if the user has no such agent. */
async function runsOf(place: Place, request: SelectedRuns): Promise<string | null> {
  const { capture, agents, tenant } = place;
  const wanted = runsOfPeriods(request);
  const matching = conditions(agents, tenant, wanted);
  if (matching === null) return null;
  const runs = newest(capture, TRACES, `tenant = ${tenant} AND ${matching.sql}`);
  const isScored = await hasScores(place, wanted.scores);
  return isScored === 'TRUE' ? runs : `(SELECT * FROM ${runs} WHERE ${isScored})`;
}

async function groupRuns(
  place: Place,
  request: GroupRequest,
  field: Exclude<GroupField, 'model'>,
): Promise<readonly Row[]> {
  const { connection, capture, tenant } = place;
  const runs = await runsOf(place, request);
  if (runs === null) return [];
  const links = relation(capture, PROMPT_LINKS, `tenant = ${tenant}`);
  const from =
    field === 'prompt_version'
      ? `${runs} JOIN (SELECT DISTINCT trace_id, prompt_no FROM ${links}) USING (trace_id)`
      : runs;
  const keyed = `SELECT *, ${KEYS[field]} AS key FROM ${from}`;
  const { start_time } = request;
  if (field !== 'tag' && field !== 'prompt_version')
    return await connection.rows(statement(keyed, RUN_STATS, start_time));
  // A run may be in several groups, so they do not add up to the total.
  return [
    ...(await connection.rows(statement(keyed, RUN_STATS, start_time, { isTotalled: false }))),
    ...(await connection.rows(statement(`SELECT *, '' AS key FROM ${runs}`, RUN_STATS, start_time))).filter(
      ({ is_total }) => Number(is_total) === 1,
    ),
  ];
}

async function groupCalls(
  { connection, capture, agents, tenant }: Place,
  request: GroupRequest,
): Promise<readonly Row[]> {
  const calls = someCalls(capture, agents, tenant, callsOfPeriods(request));
  if (calls === null) return [];
  const counted = withTokens(`(SELECT * FROM ${calls} WHERE ${COUNTS_USAGE})`);
  const keyed = `SELECT *, coalesce(model, '') AS key, ${counts('call')} AS is_call, ${counts('cost')} AND cost_usd IS NOT NULL AS is_priced FROM ${counted}`;
  return await connection.rows(statement(keyed, CALL_STATS, request.start_time));
}

/**
 * Sums by key and period, of the keys with the highest cost, and by period.
 *
 * @param keyed a relation of runs or calls with their `key`
 */
function statement(
  keyed: string,
  sums: string,
  start: Micros,
  {
    isTotalled = true,
    most = MOST_COMPARED_GROUPS,
  }: { readonly isTotalled?: boolean; readonly most?: number } = {},
): string {
  const sets = `(key, is_now)${isTotalled ? ', (is_now)' : ''}`;
  return `WITH cells AS MATERIALIZED (
      SELECT key, is_now, grouping(key) AS is_total, ${sums}, epoch_us(max(started_at)) AS last_at
      FROM (SELECT *, (started_at >= make_timestamp(${start}))::TINYINT AS is_now FROM (${keyed})) GROUP BY GROUPING SETS (${sets})),
    largest AS (
      SELECT key, count(*) OVER () AS keys FROM cells WHERE is_total = 0 GROUP BY key
      ORDER BY max(CASE WHEN is_now = 1 THEN paid END) DESC NULLS LAST, max(CASE WHEN is_now = 1 THEN runs END) DESC NULLS LAST, key LIMIT ${most})
    SELECT cells.* EXCLUDE (paid, percentiles), keys, paid::VARCHAR AS nanos, percentiles[1] AS p50_ms, percentiles[2] AS p95_ms
    FROM cells LEFT JOIN largest USING (key) WHERE is_total = 1 OR keys IS NOT NULL`;
}

function identityOf({ agents }: Place): IdentityOf {
  return (key) => {
    const agent = agents.byNumber(Number(key));
    return agent && { key: agent.id, name: agent.name };
  };
}

/** The contract `RunGroups` in the store thread. */
export class GroupReads implements Served<RunGroups> {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  async read({ tenant, long }: ReadContext, request: GroupRequest): Promise<FoundGroups> {
    return await long((connection, capture) =>
      readGroups({ connection, capture, agents: this.#agents, tenant }, request),
    );
  }
}
