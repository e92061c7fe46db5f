import { COST_PARTS, type CostPart } from '../../../signal/call-details.js';
import { MOST_NANO_USD } from '../../../signal/money.js';
import { RATES_PER_NANO, type Price, type Rates } from '../../../signal/price.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import { UNPRICEABLE, type RepricedCalls, type RepricedFilter, type Unpriceable } from '../../models.js';
import type { Agents } from '../figures/agents.js';
import type { Connection, Row } from '../files/connection.js';
import type { Capture } from '../rows/segment.js';
import { counts } from '../sums/model-sums.js';
import { someCalls } from './models.js';
import { sumOf } from './run-summary.js';

/** Parts of the usage that a call may tell, as `printCall` keeps them, and what they are called here. */
const TOLD = {
  cached_read: 'read',
  cached_write: 'written',
  audio_input: 'heard',
  audio_output: 'said',
} as const;

/** How many tokens of a call are priced as which part; each is in one. What a cache gave of audio costs what it gives of text. */
const TOKENS: Readonly<Record<CostPart, string>> = {
  input: 'fresh - least(heard, fresh)',
  cached_read: 'read',
  cached_write: 'written',
  audio_input: 'least(heard, fresh)',
  output: 'output - least(said, output)',
  audio_output: 'least(said, output)',
};

const NONE: RepricedCalls = repricedCalls({});

/**
 * What calls would have cost at a price: the arithmetic of the processor `cost`, in SQL. It is exact, since integers of 128 bits hold every
 * product, and each call is rounded once, half to even. What is accepted as an amount fits into 64 bits, of which DuckDB divides integers
 * forty times faster.
 */
export async function repriceCalls(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: RepricedFilter,
  price: Price,
): Promise<RepricedCalls> {
  const calls = someCalls(capture, agents, tenant, filter);
  if (calls === null) return NONE;
  const [row] = await connection.rows(statement(calls, price));
  return row === undefined ? NONE : repricedCalls(row);
}

/** @param calls a relation of spans */
function statement(calls: string, price: Price): string {
  const paths = Object.keys(TOLD).map((part) => `'$.usage.${part}'`);
  const parts = Object.values(TOLD).map((name, at) => `coalesce(parts[${at + 1}]::HUGEINT, 0) AS ${name}`);
  // Where input or output is missing, it is what the other leaves of the total.
  const rest = (of: string): string => `greatest(0, coalesce(total_tokens, 0)::HUGEINT - ${of})`;
  const told = `SELECT cost_usd, input_tokens, output_tokens, total_tokens, status = ${RUN_STATUSES.indexOf('running')} AS is_running,
      ${counts('call')} AS is_call, ${counts('cost')} AND cost_usd IS NOT NULL AS is_priced,
      CASE WHEN starts_with(call_details, '{"usage":{') THEN json_extract_string(call_details, [${paths.join(', ')}]) END AS parts FROM ${calls}`;
  const outputs = `SELECT *, ${parts.join(', ')},
      coalesce(output_tokens, CASE WHEN input_tokens IS NULL THEN 0 ELSE ${rest('input_tokens')} END)::HUGEINT AS output FROM (${told})`;
  const inputs = `SELECT *, coalesce(input_tokens, ${rest('output')})::HUGEINT AS input FROM (${outputs})`;
  const fresh = `SELECT *, greatest(0, input - read - written) AS fresh, ${isLong(price)} AS is_long FROM (${inputs})`;
  const priced = `SELECT *, ${COST_PARTS.map((part) => `${TOKENS[part]} AS of_${part}`).join(', ')}, TRY_CAST(${amount(price)} AS BIGINT) AS amount FROM (${fresh})`;
  const rounded = `SELECT *, amount // ${RATES_PER_NANO} + CASE WHEN ${isRoundedUp()} THEN 1 ELSE 0 END AS nanos FROM (${priced})`;
  const judged = `SELECT *, ${whyNot(price)} AS why FROM (${rounded})`;
  const sum = (what: string, where: string): string => `(sum(${what}) FILTER (${where}))::VARCHAR`;
  const number = (where: string): string => `count(*) FILTER (${where})`;
  const is = 'is_call AND why IS NULL';
  return `SELECT ${number('is_call')} AS calls, ${number('is_priced')} AS priced_calls, ${sum('cost_usd', 'is_priced')} AS total_cost,
      ${number(is)} AS repriced_calls, ${sum('nanos', is)} AS repriced_cost,
      ${number(`is_priced AND ${is}`)} AS both_calls, ${sum('cost_usd', `is_priced AND ${is}`)} AS both_cost,
      ${sum('nanos', `is_priced AND ${is}`)} AS both_repriced_cost, ${number(`is_long AND ${is}`)} AS long_calls,
      ${UNPRICEABLE.map((reason) => `${number(`is_call AND why = '${reason}'`)} AS ${reason}`).join(', ')},
      ${COST_PARTS.map((part) => `coalesce(sum(of_${part}) FILTER (${is}), 0)::DOUBLE AS of_${part}`).join(', ')}
    FROM (${judged})`;
}

function isLong({ long }: Price): string {
  return long === null ? 'FALSE' : `greatest(input, read + written) > ${long.over}`;
}

/** In thousandths of a nano-USD, of 128 bits. */
function amount(price: Price): string {
  const { long } = price;
  const at = (rates: Rates): string =>
    COST_PARTS.map((part) => `(${TOKENS[part]}) * ${rates[part]}::HUGEINT`).join(' + ');
  return long === null ? at(price) : `CASE WHEN is_long THEN ${at(long)} ELSE ${at(price)} END`;
}

/** Half to even. */
function isRoundedUp(): string {
  const half = RATES_PER_NANO / 2;
  const left = `amount % ${RATES_PER_NANO}`;
  return `${left} > ${half} OR (${left} = ${half} AND (amount // ${RATES_PER_NANO}) % 2 = 1)`;
}

/** Why no cost follows for a call; null where one does. From a total alone one follows only where output costs nothing. */
function whyNot({ output }: Price): string {
  const cases: Readonly<Record<Unpriceable, string>> = {
    running: 'is_running',
    no_tokens: 'input_tokens IS NULL AND output_tokens IS NULL AND total_tokens IS NULL',
    no_parts: output === 0 ? 'FALSE' : 'input_tokens IS NULL AND output_tokens IS NULL',
    too_large: `nanos IS NULL OR nanos > ${MOST_NANO_USD}`,
  };
  return `CASE ${UNPRICEABLE.map((reason) => `WHEN ${cases[reason]} THEN '${reason}'`).join(' ')} END`;
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
    tokens: Object.fromEntries(COST_PARTS.map((part) => [part, number(`of_${part}`)])) as Record<
      CostPart,
      number
    >,
    long_calls: number('long_calls'),
  };
}
