import { COUNTS, WHOLE } from '../../../runs/rules/duplicate-calls.js';
import { RUN_KINDS } from '../../../signal/span.js';
import { TYPE_CODES } from '../../../signal/trace-map.js';
import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import { sumToNumber, type Usd } from '../../../signal/money.js';
import type { Micros } from '../../../signal/time.js';
import type { CallFilter } from '../../contracts/runs.js';
import { hoursOfTime, type WholeHours } from '../../shared/whole-hours.js';
import { isKnown } from '../names/agent-names.js';
import { UNKNOWN_CALLS } from '../tables/run-tables.js';
import { dimensionsOf } from './run-conditions.js';
import { effectiveSpans } from './effective-spans-sql.js';
import type { ListParts } from './listed-runs.js';

/** From this many hours on, the sums in the rows of runs are used; below, reading the spans is faster. */
const MANY_HOURS = 48;

const IS_LLM = `type = ${TYPE_CODES.llm}`;
/** Spans that may count; the same for all versions of a span. Spans other than model calls count by the effective span (`derive-run.ts`). */
const REPORTS_USAGE = `(${IS_LLM} OR (seq = 0 AND (total_tokens IS NOT NULL OR cost_usd IS NOT NULL)))`;
/** SQL condition for spans that count: `SpanCounts` in `runs/rules/usage.ts`. */
export const COUNTS_USAGE = `((${IS_LLM} AND (counted IS NULL OR counted <> 0)) OR ifNull(counted_tokens, 0) > 0 OR ifNull(counted_cost, 0) > 0)`;

/** SQL condition that this part of a call counts on this span (`runs/rules/usage.ts`). */
export const counts = (what: keyof typeof COUNTS): string =>
  `(${IS_LLM} AND bitAnd(ifNull(counted, ${WHOLE}), ${COUNTS[what]}) > 0)`;

/** SQL for the counted cost of a span. */
export const COUNTED_COST = `toInt128(ifNull(counted_cost, if(${counts('cost')}, ifNull(cost_usd, 0), 0)))`;
/** SQL for the counted tokens of a span. */
export const COUNTED_TOKENS = `toInt128(ifNull(counted_tokens, if(${counts('call')}, ifNull(total_tokens, 0), 0)))`;
/** If only some tokens count, the same share of input and output counts. */
const share = (column: string): string =>
  `if(total = ifNull(total_tokens, 0), toInt128(ifNull(${column}, 0)), intDiv(toInt128(ifNull(${column}, 0)) * total, greatest(ifNull(total_tokens, 0), 1)))`;

/** The columns that determine the counted amounts of a span. */
export const COUNT_COLUMNS = [
  'model',
  'type',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cost_usd',
  'counted',
  'counted_tokens',
  'counted_cost',
] as const;

/** SQL sums of the calls of a model: `calls`, `priced`, `cost` as a text, `tokens`. @param parts from {@link callSums} */
export const CALL_SUMS = `sum(one.calls) AS calls, sum(one.priced) AS priced, toString(sum(one.nanos)) AS cost, toFloat64(sum(one.total)) AS tokens`;
/** SQL condition for sums that are not empty. */
export const IS_USED = 'calls > 0 OR priced > 0 OR sum(one.nanos) > 0 OR sum(one.total) > 0';

/** The cost in a row of sums; null if no call has a cost. */
export function costOf(priced: unknown, cost: unknown): Usd | null {
  const nanos = BigInt(String(cost));
  return Number(priced) === 0 && nanos === 0n ? null : sumToNumber(nanos);
}

/**
 * Model calls within a time, from the sums in the rows of runs where possible, otherwise from spans: a relation of `model`, `at`, `calls`,
 * `priced`, `nanos`, `input`, `output`, `total`, `first` and `last`.
 *
 * @param step what `at` is rounded down to afterwards; omit it if `at` is not used
 * @returns null if the user has no such agent
 */
export async function callSums(
  parts: Pick<ListParts, 'names' | 'reads'>,
  tenant: number,
  filter: CallFilter,
  step: Micros = MICROS_PER_HOUR,
  abort?: AbortSignal,
): Promise<string | null> {
  const isByHour = step % MICROS_PER_HOUR === 0;
  const oneByOne: CallPlaces = { hours: null, ends: [filter] };
  const places = isByHour ? await placesOfCalls(parts, tenant, filter, UNKNOWN, abort) : oneByOne;
  const isOfRun = await wantedRuns(parts, tenant, filter);
  if (isOfRun === null) return null;
  const { hours, ends } = places;
  const calls = await Promise.all(ends.map((end) => callsOf(parts, tenant, end, COUNT_COLUMNS)));
  const ofSpans = calls.flatMap((of) => (of === null ? [] : [sumsOfSpans(of)]));
  const all = hours === null ? ofSpans : [sumsOfRuns(tenant, hours, isOfRun), ...ofSpans];
  return `(${all.join(' UNION ALL ')})`;
}

/** The hours that are read from the sums in rows of runs, and the ranges that are read from spans. */
interface CallPlaces {
  readonly hours: WholeHours | null;
  readonly ends: readonly CallFilter[];
}

/** SQL condition for rows of runs written before `model_calls` existed. */
const UNKNOWN = `calls_until = ${UNKNOWN_CALLS}`;
/** SQL condition for rows of runs written before `model_calls` or `call_tokens` existed. */
export const callsWithoutTokens = `(${UNKNOWN} OR length(call_tokens) <> length(model_calls))`;

/** @param unknown condition for rows without the needed sums: if the user has one, all calls are read from spans */
export async function placesOfCalls(
  { reads }: Pick<ListParts, 'reads'>,
  tenant: number,
  filter: CallFilter,
  unknown: string,
  abort?: AbortSignal,
): Promise<CallPlaces> {
  const { whole, ends } = hoursOfTime(filter);
  const isLong = whole !== null && whole.before - whole.first >= MANY_HOURS;
  const first = `SELECT 1 AS is_there FROM runs WHERE tenant = ${tenant} AND ${unknown} LIMIT 1`;
  if (!isLong || (await reads.rows(first, abort)).length > 0) return { hours: null, ends: [filter] };
  return { hours: whole, ends };
}

/**
 * Calls of the wanted runs as a relation: by default, model calls and other spans that report usage.
 *
 * @param isCall condition for the spans, the same for all versions of a span
 * @returns null if the user has no such agent
 */
export async function callsOf(
  { names }: Pick<ListParts, 'names'>,
  tenant: number,
  filter: CallFilter,
  columns: readonly string[],
  isCall = REPORTS_USAGE,
): Promise<string | null> {
  const { start_time: from, end_time: to } = filter;
  const calls = effectiveSpans(tenant, { from, to }, columns, isCall);
  const isOfRun = await wantedRuns({ names }, tenant, filter);
  if (isOfRun === null) return null;
  if (isOfRun === ALL_RUNS) return calls;
  const runs = `SELECT trace_id FROM runs FINAL WHERE tenant = ${tenant} AND ${isOfRun}`;
  return `(SELECT * FROM ${calls} WHERE trace_id IN (${runs}))`;
}

const ALL_RUNS = 'true';

/** The condition for runs of the wanted agent and versions, if any; null if the user has no such agent. */
export async function wantedRuns(
  { names }: Pick<ListParts, 'names'>,
  tenant: number,
  filter: CallFilter,
): Promise<string | null> {
  const sql = dimensionsOf(filter);
  if (filter.kind !== undefined) sql.push(`kind = ${RUN_KINDS.indexOf(filter.kind)}`);
  if (filter.agent_id !== undefined) {
    const agent = (await names.of(tenant)).byId(filter.agent_id);
    if (!isKnown(agent)) return null;
    sql.push(`kind = ${RUN_KINDS.indexOf('agent')} AND agent_no = ${agent.number}`);
  }
  return sql.length === 0 ? ALL_RUNS : sql.join(' AND ');
}

/** The rows of runs that may have calls in some hours, in SQL. */
export function runsWithCalls(tenant: number, { first }: WholeHours, isOfRun: string): string {
  const where = [`tenant = ${tenant}`, isOfRun, ...(first === -Infinity ? [] : [`calls_until >= ${first}`])];
  return `runs FINAL WHERE ${where.join(' AND ')}`;
}

/** Conditions for an entry of `model_calls`. */
export function withinHours(entry: string, { first, before }: WholeHours): string[] {
  return [
    ...(first === -Infinity ? [] : [`${entry}.hour >= ${first}`]),
    ...(before === Infinity ? [] : [`${entry}.hour < ${before}`]),
  ];
}

function sumsOfRuns(tenant: number, hours: WholeHours, isOfRun: string): string {
  // A separate ARRAY JOIN clause loses columns if they are read from a union and not all are selected.
  const calls = `SELECT arrayJoin(model_calls) AS one FROM ${runsWithCalls(tenant, hours, isOfRun)}`;
  return `SELECT one.model AS model, toInt64(one.hour) * ${MICROS_PER_HOUR} AS at, one.calls AS calls, one.priced AS priced, one.nanos AS nanos,
      one.input AS input, one.output AS output, one.total AS total, one.first AS first, one.last AS last
    FROM (${calls}) WHERE ${withinHours('one', hours).join(' AND ') || 'true'}`;
}

function sumsOfSpans(calls: string): string {
  const isPriced = `cost_usd IS NOT NULL AND ${counts('cost')}`;
  return `SELECT model, started_at AS at, toUInt64(${counts('call')}) AS calls, toUInt64(${isPriced}) AS priced, ${COUNTED_COST} AS nanos,
      ${share('input_tokens')} AS input, ${share('output_tokens')} AS output, total, started_at AS first, started_at AS last
    FROM (SELECT *, ${COUNTED_TOKENS} AS total FROM ${calls} WHERE ${COUNTS_USAGE})`;
}
