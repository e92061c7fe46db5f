import { COUNTS, WHOLE } from '../../../runs/rules/told-calls.js';
import { COST_PARTS, type CostPart } from '../../../signal/call-details.js';
import { MOST_NANO_USD, sumToNumber, type Usd } from '../../../signal/money.js';
import { RATES_PER_NANO, type Price, type Rates } from '../../../signal/price.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import { UNPRICEABLE, type RepricedCalls, type Unpriceable } from '../../models.js';
import { quoted } from '../client/literals.js';
import type { Row } from '../client/connection.js';
import { USAGE_COLUMNS, pricedTokens } from '../../priced-tokens.js';

const TOKENS = pricedTokens('out');

/**
 * What calls would have cost at a price: the arithmetic of the processor `cost`, in SQL. Integers of 256 bits hold every product, and each
 * call is rounded once, half to even.
 *
 * @param calls a relation of calls
 */
export function repricing(calls: string, model: string | null, price: Price): string {
  const { long } = price;
  const wide = (what: string): string => `toInt256(${what})`;
  const parts = Object.entries(USAGE_COLUMNS).map(
    ([part, name]) => `${wide(`JSONExtractInt(ifNull(call_details, ''), 'usage', '${part}')`)} AS ${name}`,
  );
  // Where input or output is missing, it is what the other leaves of the total.
  const rest = (of: string): string =>
    `greatest(${wide(0n.toString())}, ${wide('ifNull(total_tokens, 0)')} - ${of})`;
  const told = `SELECT cost_usd, input_tokens, output_tokens, total_tokens, status = ${RUN_STATUSES.indexOf('running')} AS is_running,
      bitAnd(ifNull(counted, ${WHOLE}), ${COUNTS.call}) > 0 AS is_call, bitAnd(ifNull(counted, ${WHOLE}), ${COUNTS.cost}) > 0 AND cost_usd IS NOT NULL AS is_priced,
      ${parts.join(', ')} FROM ${calls} WHERE ${model === null ? 'model IS NULL' : `model = ${quoted(model)}`}`;
  const outputs = `SELECT *, multiIf(output_tokens IS NOT NULL, ${wide('ifNull(output_tokens, 0)')}, input_tokens IS NULL, ${wide('0')}, ${rest(wide('ifNull(input_tokens, 0)'))}) AS out FROM (${told})`;
  const inputs = `SELECT *, if(input_tokens IS NOT NULL, ${wide('ifNull(input_tokens, 0)')}, ${rest('out')}) AS inp FROM (${outputs})`;
  const isLong = long === null ? 'false' : `greatest(inp, read + written) > ${long.over}`;
  const fresh = `SELECT *, greatest(${wide('0')}, inp - read - written) AS fresh, ${isLong} AS is_long FROM (${inputs})`;
  const at = (rates: Rates): string =>
    COST_PARTS.map((part) => `(${TOKENS[part]}) * ${wide(String(rates[part]))}`).join(' + ');
  const amount = long === null ? at(price) : `if(is_long, ${at(long)}, ${at(price)})`;
  const priced = `SELECT *, ${COST_PARTS.map((part) => `${TOKENS[part]} AS of_${part}`).join(', ')}, ${amount} AS amount FROM (${fresh})`;
  const half = RATES_PER_NANO / 2;
  const whole = `intDiv(amount, ${RATES_PER_NANO})`;
  const left = `modulo(amount, ${RATES_PER_NANO})`;
  const rounded = `SELECT *, ${whole} + if(${left} > ${half} OR (${left} = ${half} AND modulo(${whole}, 2) = 1), 1, 0) AS nanos FROM (${priced})`;
  const judged = `SELECT *, ${whyNot(price)} AS why FROM (${rounded})`;
  const sum = (what: string, where: string): string => `toString(sumIf(${wide(what)}, ${where}))`;
  const number = (where: string): string => `countIf(${where})`;
  const is = "is_call AND why = ''";
  return `SELECT ${number('is_call')} AS calls, ${number('is_priced')} AS priced_calls, ${sum('ifNull(cost_usd, 0)', 'is_priced')} AS total_cost,
      ${number(is)} AS repriced_calls, ${sum('nanos', is)} AS repriced_cost,
      ${number(`is_priced AND ${is}`)} AS both_calls, ${sum('ifNull(cost_usd, 0)', `is_priced AND ${is}`)} AS both_cost,
      ${sum('nanos', `is_priced AND ${is}`)} AS both_repriced_cost, ${number(`is_long AND ${is}`)} AS long_calls,
      ${UNPRICEABLE.map((reason) => `${number(`is_call AND why = '${reason}'`)} AS ${reason}`).join(', ')},
      ${COST_PARTS.map((part) => `toFloat64(sumIf(of_${part}, ${is})) AS sum_${part}`).join(', ')}
    FROM (${judged})`;
}

/** Why no cost follows for a call; empty where one does. From a total alone one follows only where output costs nothing. */
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
    tokens: Object.fromEntries(COST_PARTS.map((part) => [part, number(`sum_${part}`)])) as Record<
      CostPart,
      number
    >,
    long_calls: number('long_calls'),
  };
}
