import { itemAt } from '../../../signal/checked.js';
import { sumToNumber } from '../../../signal/money.js';
import { RUN_KINDS, RUN_STATUSES } from '../../../signal/span.js';
import { hourOf } from '../../../signal/trace-map.js';
import { HAS_FAILED } from '../../schema/tables.js';
import type { NumberedVersion, Prompts } from '../../contracts/prompts.js';
import {
  type FoundSeries,
  MOST_SERIES,
  type RunSeries,
  type RunTotals,
  type Series,
  type SeriesBucket,
  type SeriesRequest,
} from '../../contracts/runs.js';
import type { AgentsOfUser } from '../names/agent-names.js';
import type { Row } from '../client/connection.js';
import { numberOf } from '../../shared/summaries-of-rows.js';
import type { ListParts } from './listed-runs.js';
import { seriesOfModels } from '../../shared/series-of-models.js';
import { callSums, CALL_SUMS, costOf, IS_USED } from './call-sums.js';
import { conditions, dimensionsOf } from './run-conditions.js';

/** The group of all runs in no other group. */
const OTHERS = -1;
const STATS_COLUMNS = `count() AS runs, countIf(${HAS_FAILED}) AS failed, countIf(success) AS success_count,
  count(total_cost_usd) AS priced_runs, toString(ifNull(sum(toInt128(total_cost_usd)), 0)) AS cost, count(total_tokens) AS counted, toFloat64(ifNull(sum(toInt128(total_tokens)), 0)) AS tokens,
  quantileExactInclusiveOrNull(0.5)(duration_ms) AS p50_ms, quantileExactInclusiveOrNull(0.95)(duration_ms) AS p95_ms`;
const NEEDED = 'started_at, status, success, total_cost_usd, total_tokens, duration_ms';

/** The grouping level of a row: a bit for each column that is aggregated. */
const LEVELS = { bucket: 0, group: 1, total: 3 } as const;

/** The request, with the numbers of the prompt's versions. */
interface Asked extends SeriesRequest {
  readonly tenant: number;
  readonly agents: AgentsOfUser;
  readonly versions: readonly NumberedVersion[];
}

/** The contract `Series` over the rows of runs. One statement per answer, or two if groups overlap. */
export class SeriesReads implements Series {
  readonly #parts: ListParts & { readonly prompts: Pick<Prompts, 'numbersOf'> };
  readonly #tenantOf: (userId: string) => Promise<number>;

  constructor(
    parts: ListParts & { readonly prompts: Pick<Prompts, 'numbersOf'> },
    tenantOf: (userId: string) => Promise<number>,
  ) {
    this.#parts = parts;
    this.#tenantOf = tenantOf;
  }

  async read(userId: string, request: SeriesRequest, abort?: AbortSignal): Promise<FoundSeries> {
    const { reads, names, prompts } = this.#parts;
    const tenant = await this.#tenantOf(userId);
    const versions = request.prompt === undefined ? [] : await prompts.numbersOf(userId, request.prompt);
    const asked = { ...request, tenant, versions, agents: await names.of(tenant) };
    const key = await this.#keyOf(asked, abort);
    const rows = await reads.rows(statementOf(asked, key), abort);
    const of = (level: number, isNow: boolean): Row[] =>
      rows.filter((row) => Number(row.level) === level && (Number(row.is_now) === 1) === isNow);
    const numbers = new Set(request.group_by === 'agent' ? rows.map((row) => Number(row.key)) : []);
    numbers.delete(OTHERS);
    numbers.delete(0);
    const agents = await names.of(tenant, numbers);
    const buckets = of(LEVELS.bucket, true);
    const groups =
      request.group_by === 'model'
        ? await readModelSeries(this.#parts, tenant, request, abort)
        : of(LEVELS.group, true)
            .map((row) => groupOf(row, buckets, { ...asked, agents }))
            .sort(([a, one], [b, other]) => {
              const [runs, others] = [one.total?.runs ?? 0, other.total?.runs ?? 0];
              return Number(a === OTHERS) - Number(b === OTHERS) || others - runs || a - b;
            })
            .map(([, group]) => group);
    return {
      groups,
      total: totalsOf(of(LEVELS.total, true)[0]),
      previous_total: totalsOf(of(LEVELS.total, false)[0]),
    };
  }

  /** SQL for the group of a run; with too many groups, all but the largest are merged into one. */
  async #keyOf(asked: Asked, abort: AbortSignal | undefined): Promise<string> {
    const { group_by: group, start_time, end_time } = asked;
    if (group === undefined || group === 'model') return '0';
    const column = { agent: 'agent_no', status: 'status', prompt_version: 'prompt' }[group];
    if (group === 'status') return `toInt64(${column})`;
    const from = `${runsOf(asked, start_time, end_time)} ${group === 'prompt_version' ? joined(asked) : ''}`;
    const rows = await this.#parts.reads.rows(
      `SELECT key, count() OVER () AS keys FROM (SELECT toInt64(${column}) AS key, count() AS runs FROM ${from} GROUP BY key) ORDER BY runs DESC, key LIMIT ${MOST_SERIES}`,
      abort,
    );
    if (Number(rows[0]?.keys ?? 0) <= MOST_SERIES) return `toInt64(${column})`;
    return `if(${column} IN (${rows.map((row) => Number(row.key)).join(', ')}), toInt64(${column}), ${OTHERS})`;
  }
}

function joined({ versions }: Asked): string {
  const numbers = versions.map(({ number }) => number).join(', ');
  return `ARRAY JOIN arrayIntersect(prompts, [${numbers || 0}]) AS prompt`;
}

/** Agent runs within a time, as a relation. */
function runsOf(asked: Asked, from: number, to: number): string {
  const { tenant, agents, agent_id, prompt, versions } = asked;
  const numbers = versions.map(({ number }) => number).join(', ');
  const where = [
    `tenant = ${tenant}`,
    `kind = ${RUN_KINDS.indexOf('agent')}`,
    `hour BETWEEN ${hourOf(from)} AND ${hourOf(to)}`,
    `started_at >= ${from} AND started_at < ${to}`,
    ...dimensionsOf(asked),
    ...(asked.filter === undefined ? [] : [conditions(agents, tenant, asked.filter) ?? 'false']),
    ...(agent_id === undefined ? [] : [`agent_no = ${agents.byId(agent_id)?.number ?? 0}`]),
    ...(prompt === undefined ? [] : [numbers === '' ? 'false' : `hasAny(prompts, [${numbers}])`]),
  ];
  return `(SELECT ${NEEDED}, agent_no, prompts FROM runs FINAL WHERE ${where.join(' AND ')})`;
}

function statementOf(asked: Asked, key: string): string {
  const { start_time, end_time, interval, group_by } = asked;
  const before = Math.max(2 * start_time - end_time, Number.MIN_SAFE_INTEGER);
  const all = runsOf(asked, before, end_time);
  const bucket = `started_at - positiveModulo(started_at, ${interval})`;
  const rows = (of: string, join = ''): string =>
    `(SELECT ${NEEDED}, toUInt8(started_at >= ${start_time}) AS is_now, ${of} AS key, ${bucket} AS bucket FROM ${all} ${join})`;
  const levels = (from: string, sets: string): string =>
    `SELECT is_now, key, bucket, grouping(key, bucket) AS level, ${STATS_COLUMNS} FROM ${from} GROUP BY GROUPING SETS (${sets})`;
  const totals = '(is_now)';
  const groups = '(is_now, key), (is_now, key, bucket)';
  if (group_by !== 'prompt_version') return `${levels(rows(key), `${totals}, ${groups}`)} ORDER BY bucket`;
  // A run may be in several groups, so they do not add up to the total.
  return `SELECT * FROM (${levels(rows('0'), `${totals}, (is_now, key, bucket)`)}) WHERE level = ${LEVELS.total}
    UNION ALL SELECT * FROM (${levels(rows(key, joined(asked)), groups)}) ORDER BY bucket`;
}

function groupOf(
  row: Row,
  buckets: readonly Row[],
  { agents, group_by: group, versions }: Asked,
): [number, RunSeries] {
  const key = Number(row.key);
  const isNamed = key !== OTHERS;
  const agent = isNamed && group === 'agent' ? agents.byNumber(key) : undefined;
  return [
    key,
    {
      agent: agent === undefined ? null : { id: agent.id, name: agent.name },
      status: isNamed && group === 'status' ? itemAt(RUN_STATUSES, key) : null,
      ...(group === 'prompt_version'
        ? { prompt_version: versions.find(({ number }) => number === key)?.version ?? null }
        : {}),
      total: isNamed ? totalsOf(row) : null,
      buckets: buckets
        .filter((bucket) => Number(bucket.key) === key)
        .map((bucket): SeriesBucket => ({ start: Number(bucket.bucket), ...totalsOf(bucket) }))
        .sort((a, b) => a.start - b.start),
    },
  ];
}

function totalsOf(row: Row | undefined): RunTotals {
  const priced = Number(row?.priced_runs ?? 0);
  return {
    runs: Number(row?.runs ?? 0),
    failed: Number(row?.failed ?? 0),
    success_count: Number(row?.success_count ?? 0),
    cost: priced === 0 ? null : sumToNumber(BigInt(String(row?.cost))),
    priced_runs: priced,
    tokens: Number(row?.counted ?? 0) === 0 ? null : Number(row?.tokens),
    p50_ms: numberOf(row?.p50_ms),
    p95_ms: numberOf(row?.p95_ms),
  };
}

/** Series of the models with the most calls, then of all other models together. */
async function readModelSeries(
  parts: ListParts,
  tenant: number,
  { interval, ...of }: SeriesRequest,
  abort?: AbortSignal,
): Promise<RunSeries[]> {
  const filter = { ...of, kind: 'agent', end_time: of.end_time - 1 } as const;
  const calls = await callSums(parts, tenant, filter, interval, abort);
  if (calls === null) return [];
  const rows = await parts.reads.rows(
    // One pass: a relation referenced twice is read twice.
    `WITH sums AS (
       SELECT ifNull(model, '') AS name, one.at - positiveModulo(one.at, ${interval}) AS bucket, ${CALL_SUMS}
       FROM ${calls} AS one GROUP BY name, bucket HAVING ${IS_USED}),
     of_models AS (SELECT *, sum(calls) OVER (PARTITION BY name) AS of_model FROM sums),
     placed AS (SELECT *, dense_rank() OVER (ORDER BY of_model DESC, name) AS place FROM of_models)
     SELECT if(place <= ${MOST_SERIES}, name, NULL) AS key, bucket, sum(calls) AS all_calls, sum(priced) AS all_priced,
       toString(sum(toInt128(cost))) AS all_cost, sum(tokens) AS all_tokens
     FROM placed GROUP BY key, bucket ORDER BY bucket`,
    abort,
  );
  const groups = new Map<string | null, SeriesBucket[]>();
  for (const row of rows) {
    const key = typeof row.key === 'string' ? row.key : null;
    const known = groups.get(key) ?? [];
    groups.set(key, known);
    known.push({
      start: Number(row.bucket),
      runs: Number(row.all_calls),
      failed: 0,
      success_count: 0,
      cost: costOf(row.all_priced, row.all_cost),
      priced_runs: Number(row.all_priced),
      tokens: Number(row.all_tokens),
      p50_ms: null,
      p95_ms: null,
    });
  }
  return seriesOfModels(groups);
}
