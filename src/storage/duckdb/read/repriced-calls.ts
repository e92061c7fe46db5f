import { SUMMED_PARTS, type SummedPart } from '../../../signal/call-details.js';
import { MOST_NANO_USD } from '../../../signal/money.js';
import { RATES_PER_NANO, type Price, type Rates } from '../../../signal/price.js';
import {
  type RepricedCalls,
  type RepricedFilter,
  UNPRICEABLE,
  type Unpriceable,
} from '../../contracts/runs.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import type { Capture } from '../segments/segment.js';
import {
  CALL_FLAGS,
  isByLifetime,
  isOfSums,
  LIFETIME_COLUMNS,
  lifetimeAmount,
  LONG_INPUTS,
  LONG_SHIFT,
  mayBeTooLarge,
} from '../../shared/priced-tokens.js';
import { withTokens } from '../segments/call-tokens.js';
import { sumOf } from '../write/run-summary.js';
import { callParts, someCalls } from './summed-calls.js';

const NONE: RepricedCalls = repricedCalls({});
/** Reasons for a missing cost, as bits of `told`. Whether a cost would be too large depends on the price alone. */
const WHY = ['running', 'no_tokens', 'no_parts'] as const satisfies readonly Unpriceable[];

/**
 * What calls would have cost at a price: the arithmetic of the processor `cost`, in SQL. It is exact: integers of 128 bits hold
 * every product, and each call is rounded once, half to even. Accepted amounts fit into 64 bits; DuckDB divides such integers
 * forty times faster. If no call needs rounding, and no writes cost by their lifetime, the result from sums equals the result from
 * single calls.
 */
export async function repriceCalls(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: RepricedFilter,
  price: Price,
): Promise<RepricedCalls> {
  if (isOfSums(price)) {
    const parts = await callParts({ connection, capture, tenant }, agents, filter);
    if (parts === null) return NONE;
    const [row = {}] = await connection.rows(statementOfSums(parts, price));
    const sums = repricedCalls(row);
    const isExact = sums.tokens.cached_write === 0 || !isByLifetime(price);
    if (isExact && !mayBeTooLarge(Number(row.most ?? 0), price)) return sums;
  }
  const calls = someCalls(capture, agents, tenant, filter);
  if (calls === null) return NONE;
  const [row] = await connection.rows(statement(calls, price));
  return row === undefined ? NONE : repricedCalls(row);
}

/** @param parts of the sums of calls */
function statementOfSums(parts: string, price: Price): string {
  const { long } = price;
  const isLong = long === null ? 'FALSE' : `(told >> ${LONG_SHIFT}) > ${LONG_INPUTS.indexOf(long.over)}`;
  const judged = `SELECT *, ${amount(price)} // ${RATES_PER_NANO} AS amount, ${whyNot(price)} AS why FROM (SELECT *, ${isLong} AS is_long FROM (${parts}))`;
  const number = (where: string): string => `coalesce(sum(calls) FILTER (${where}), 0)::BIGINT`;
  // The remainder after all calls were removed is not a cost of 0.
  const sum = (what: string, where: string): string =>
    `(CASE WHEN ${number(where)} > 0 THEN sum(${what}) FILTER (${where}) END)::VARCHAR`;
  return `SELECT max(most) AS most, ${stats({ number, sum, cost: 'nanos' })} FROM (${judged})`;
}

/** @param calls a relation of spans */
function statement(calls: string, price: Price): string {
  const isOfLifetime = isByLifetime(price);
  const tokens = isOfLifetime ? withLifetimes(withTokens(calls)) : withTokens(calls);
  const priced = `SELECT *, TRY_CAST(${amount(price, isOfLifetime)} AS BIGINT) AS exact FROM (SELECT *, ${isLong(price)} AS is_long FROM ${tokens})`;
  const rounded = `SELECT *, exact // ${RATES_PER_NANO} + CASE WHEN ${isRoundedUp('exact')} THEN 1 ELSE 0 END AS amount FROM (${priced})`;
  const judged = `SELECT *, coalesce(${whyNot(price)}, CASE WHEN amount IS NULL OR amount > ${MOST_NANO_USD} THEN 'too_large' END) AS why FROM (${rounded})`;
  const sum = (what: string, where: string): string => `(sum(${what}) FILTER (${where}))::VARCHAR`;
  const number = (where: string): string => `count(*) FILTER (${where})`;
  return `SELECT ${stats({ number, sum, cost: 'paid' })} FROM (${judged})`;
}

/** Adds `LIFETIME_COLUMNS` to calls from `withTokens`. */
function withLifetimes(calls: string): string {
  const parts = Object.entries(LIFETIME_COLUMNS).map(
    ([part, name]) =>
      `CASE WHEN written > 0 THEN greatest(0, coalesce(TRY_CAST(json_extract_string(call_details, '$.usage.${part}') AS BIGINT), 0)) ELSE 0 END AS ${name}`,
  );
  return `(SELECT *, ${parts.join(', ')} FROM ${calls})`;
}

interface Counting {
  /** The number of calls that meet a condition, and the sum of a column over them as a text; null if no call meets it. */
  readonly number: (where: string) => string;
  readonly sum: (what: string, where: string) => string;
  /** The column of the recorded cost. */
  readonly cost: string;
}

/** The columns of an answer. */
function stats({ number, sum, cost }: Counting): string {
  const isCall = `(told & ${CALL_FLAGS.call}) > 0`;
  const isPriced = `(told & ${CALL_FLAGS.priced}) > 0`;
  const is = `${isCall} AND why IS NULL`;
  return `${number(isCall)} AS calls, ${number(isPriced)} AS priced_calls, ${sum(cost, isPriced)} AS total_cost,
      ${number(is)} AS repriced_calls, ${sum('amount', is)} AS repriced_cost,
      ${number(`${isPriced} AND ${is}`)} AS both_calls, ${sum(cost, `${isPriced} AND ${is}`)} AS both_cost,
      ${sum('amount', `${isPriced} AND ${is}`)} AS both_repriced_cost, ${number(`is_long AND ${is}`)} AS long_calls,
      ${UNPRICEABLE.map((reason) => `${number(`${isCall} AND why = '${reason}'`)} AS ${reason}`).join(', ')},
      ${SUMMED_PARTS.map((part) => `coalesce(sum(of_${part}) FILTER (${is}), 0)::DOUBLE AS of_${part}`).join(', ')}`;
}

function isLong({ long }: Price): string {
  return long === null ? 'FALSE' : `whole > ${long.over}`;
}

/** The cost in thousandths of a nano-USD, as a 128-bit integer in SQL. */
function amount(price: Price, isOfLifetime = false): string {
  const { long } = price;
  const factor = (rate: number): string => `${rate}::HUGEINT`;
  const at = (rates: Rates): string =>
    [
      ...SUMMED_PARTS.map((part) => `of_${part} * ${factor(rates[part])}`),
      ...(isOfLifetime ? [lifetimeAmount(rates, factor)] : []),
    ].join(' + ');
  return `(${long === null ? at(price) : `CASE WHEN is_long THEN ${at(long)} ELSE ${at(price)} END`})`;
}

/** Whether a division by `RATES_PER_NANO` rounds up (half to even), in SQL. */
function isRoundedUp(amount: string): string {
  const half = RATES_PER_NANO / 2;
  const left = `${amount} % ${RATES_PER_NANO}`;
  return `${left} > ${half} OR (${left} = ${half} AND (${amount} // ${RATES_PER_NANO}) % 2 = 1)`;
}

/** Why a call has no cost; null if it may have one. A total of tokens alone gives a cost only if output is free. */
function whyNot({ output }: Price): string {
  const reasons = WHY.filter((reason) => reason !== 'no_parts' || output !== 0);
  return `CASE ${reasons.map((reason) => `WHEN (told & ${CALL_FLAGS[reason]}) > 0 THEN '${reason}'`).join(' ')} END`;
}

function repricedCalls(row: Row): RepricedCalls {
  const number = (name: string): number => Number(row[name] ?? 0);
  return {
    calls: number('calls'),
    priced_calls: number('priced_calls'),
    total_cost: sumOf(row.total_cost),
    repriced_calls: number('repriced_calls'),
    repriced_cost: sumOf(row.repriced_cost),
    both_calls: number('both_calls'),
    both_cost: sumOf(row.both_cost),
    both_repriced_cost: sumOf(row.both_repriced_cost),
    left_out: Object.fromEntries(UNPRICEABLE.map((reason) => [reason, number(reason)])) as Record<
      Unpriceable,
      number
    >,
    tokens: Object.fromEntries(SUMMED_PARTS.map((part) => [part, number(`of_${part}`)])) as Record<
      SummedPart,
      number
    >,
    long_calls: number('long_calls'),
  };
}
