import { SUMMED_PARTS, type SummedPart } from '../../../signal/call-details.js';
import { MOST_NANO_USD, sumToNumber, type Usd } from '../../../signal/money.js';
import { RATES_PER_NANO, type Price, type Rates } from '../../../signal/price.js';
import { type RepricedCalls, UNPRICEABLE, type Unpriceable } from '../../contracts/runs.js';
import {
  CALL_FLAGS,
  isByLifetime,
  LIFETIME_COLUMNS,
  lifetimeAmount,
  LONG_INPUTS,
  LONG_SHIFT,
  USAGE_COLUMNS,
} from '../../shared/priced-tokens.js';
import type { Row } from '../client/connection.js';
import { wide, withTokens } from './call-tokens.js';

/**
 * What calls would have cost at a price: the arithmetic of the processor `cost`, in SQL. Integers of 256 bits hold every product, and each
 * call is rounded once, half to even.
 *
 * @param calls a relation of calls
 */
export function repricing(calls: string, model: string | null, price: Price): string {
  const { long } = price;
  const isLong = long === null ? 'false' : `whole > ${long.over}`;
  const isOfLifetime = isByLifetime(price);
  const columns = isOfLifetime ? { ...USAGE_COLUMNS, ...LIFETIME_COLUMNS } : USAGE_COLUMNS;
  const priced = `SELECT *, ${amount(price, isOfLifetime)} AS amount FROM (SELECT *, ${isLong} AS is_long FROM ${withTokens(calls, model, columns)})`;
  const half = RATES_PER_NANO / 2;
  const whole = `intDiv(amount, ${RATES_PER_NANO})`;
  const left = `modulo(amount, ${RATES_PER_NANO})`;
  const rounded = `SELECT *, ${whole} + if(${left} > ${half} OR (${left} = ${half} AND modulo(${whole}, 2) = 1), 1, 0) AS nanos FROM (${priced})`;
  return `SELECT ${stats((where) => `countIf(${where})`)} FROM (SELECT *, ${whyNot(price)} AS why FROM (${rounded}))`;
}

/**
 * The same from sums of calls and the maximum of tokens per call, for prices accepted by `isOfSums`.
 *
 * @param sums from `tokenSums`
 */
export function repricingOfSums(sums: string, price: Price): string {
  const { long } = price;
  const isLong =
    long === null ? 'false' : `bitShiftRight(told, ${LONG_SHIFT}) > ${LONG_INPUTS.indexOf(long.over)}`;
  const has = (bit: number): string => `bitAnd(told, ${bit}) > 0`;
  const reasons = WHY.filter((reason) => reason !== 'no_parts' || price.output !== 0);
  const why = `multiIf(${reasons.map((reason) => `${has(CALL_FLAGS[reason])}, '${reason}'`).join(', ')}, '')`;
  const judged = `SELECT *, intDiv(${amount(price)}, ${RATES_PER_NANO}) AS nanos FROM
    (SELECT *, ${isLong} AS is_long, ${has(CALL_FLAGS.call)} AS is_call, ${has(CALL_FLAGS.priced)} AS is_priced, ${why} AS why FROM ${sums})`;
  return `SELECT toString(max(most)) AS most_tokens, ${stats((where) => `sumIf(one.calls, ${where})`)} FROM (${judged}) AS one`;
}

/** Reasons in `told` why a call has no cost. Whether a cost is too large depends on the price. */
const WHY = ['running', 'no_tokens', 'no_parts'] as const satisfies readonly Unpriceable[];

/** The columns of a result. @param number SQL for the number of calls that meet a condition */
function stats(number: (where: string) => string): string {
  const sum = (what: string, where: string): string => `toString(sumIf(${wide(what)}, ${where}))`;
  const is = "is_call AND why = ''";
  const both = `is_priced AND ${is}`;
  return `${number('is_call')} AS calls, ${number('is_priced')} AS priced_calls, ${sum('paid', 'is_priced')} AS total_cost,
      ${number(is)} AS repriced_calls, ${sum('nanos', is)} AS repriced_cost,
      ${number(both)} AS both_calls, ${sum('paid', both)} AS both_cost, ${sum('nanos', both)} AS both_repriced_cost, ${number(`is_long AND ${is}`)} AS long_calls,
      ${UNPRICEABLE.map((reason) => `${number(`is_call AND why = '${reason}'`)} AS ${reason}`).join(', ')},
      ${SUMMED_PARTS.map((part) => `toFloat64(sumIf(of_${part}, ${is})) AS sum_${part}`).join(', ')}`;
}

/** In thousandths of a nano-USD. */
function amount(price: Price, isOfLifetime = false): string {
  const { long } = price;
  const factor = (rate: number): string => wide(String(rate));
  const at = (rates: Rates): string =>
    [
      ...SUMMED_PARTS.map((part) => `${wide(`of_${part}`)} * ${factor(rates[part])}`),
      ...(isOfLifetime ? [lifetimeAmount(rates, factor)] : []),
    ].join(' + ');
  return long === null ? at(price) : `if(is_long, ${at(long)}, ${at(price)})`;
}

/** Why a call has no cost; empty if it has one. A total without parts has a cost only if output is free. */
function whyNot({ output }: Price): string {
  const cases: Readonly<Record<Unpriceable, string>> = {
    running: 'is_running',
    no_tokens: 'input_tokens IS NULL AND output_tokens IS NULL AND total_tokens IS NULL',
    no_parts: output === 0 ? 'false' : 'input_tokens IS NULL AND output_tokens IS NULL',
    too_large: `nanos > ${MOST_NANO_USD}`,
  };
  return `multiIf(${UNPRICEABLE.map((reason) => `${cases[reason]}, '${reason}'`).join(', ')}, '')`;
}

/** @param row of {@link repricing} */
export function repricedCalls(row: Row): RepricedCalls {
  const number = (name: string): number => Number(row[name] ?? 0);
  const amount = (of: string, count: string): Usd | null =>
    number(count) === 0 ? null : sumToNumber(BigInt(String(row[of])));
  return {
    calls: number('calls'),
    priced_calls: number('priced_calls'),
    total_cost: amount('total_cost', 'priced_calls'),
    repriced_calls: number('repriced_calls'),
    repriced_cost: amount('repriced_cost', 'repriced_calls'),
    both_calls: number('both_calls'),
    both_cost: amount('both_cost', 'both_calls'),
    both_repriced_cost: amount('both_repriced_cost', 'both_calls'),
    left_out: Object.fromEntries(UNPRICEABLE.map((reason) => [reason, number(reason)])) as Record<
      Unpriceable,
      number
    >,
    tokens: Object.fromEntries(SUMMED_PARTS.map((part) => [part, number(`sum_${part}`)])) as Record<
      SummedPart,
      number
    >,
    long_calls: number('long_calls'),
  };
}
