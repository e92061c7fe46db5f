import { SUMMED_PARTS } from '../../../signal/call-details.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import type { RepricedFilter } from '../../contracts/runs.js';
import {
  LONG_INPUTS,
  LONG_SHIFT,
  pricedTokens,
  CALL_FLAGS,
  USAGE_COLUMNS,
  type LIFETIME_COLUMNS,
} from '../../shared/priced-tokens.js';
import { quoted } from '../client/literals.js';
import {
  callsOf,
  callsWithoutTokens,
  COUNT_COLUMNS,
  COUNTED_COST,
  counts,
  wantedRuns,
  placesOfCalls,
  runsWithCalls,
  withinHours,
} from './call-sums.js';
import type { ListParts } from './listed-runs.js';

/** The input columns of {@link withTokens}. */
export const TOKEN_COLUMNS = [...COUNT_COLUMNS, 'status', 'call_details'];

const TOKENS = pricedTokens('out');

type UsageColumns = typeof USAGE_COLUMNS & Partial<typeof LIFETIME_COLUMNS>;

/** Casts an expression to an integer type that holds any product of tokens and rates. */
export const wide = (what: string): string => `toInt256(${what})`;

/**
 * Calls of a model with counted cost (`paid`), tokens by part (`of_input` and so on), input length (`whole`), maximum of tokens (`most`), flags (`is_call`,
 * `is_priced`, `is_running`) and the reported tokens.
 *
 * @param calls a relation with {@link TOKEN_COLUMNS}
 * @param columns may have the lifetimes of writes in addition
 */
export function withTokens(
  calls: string,
  model: string | null,
  columns: UsageColumns = USAGE_COLUMNS,
): string {
  const usage = Object.entries(columns).map(
    ([part, name]) => `${wide(`JSONExtractInt(ifNull(call_details, ''), 'usage', '${part}')`)} AS ${name}`,
  );
  // A missing input or output is the total minus the other.
  const rest = (of: string): string => `greatest(${wide('0')}, ${wide('ifNull(total_tokens, 0)')} - ${of})`;
  const told = `SELECT cost_usd, ${COUNTED_COST} AS paid, input_tokens, output_tokens, total_tokens, status = ${RUN_STATUSES.indexOf('running')} AS is_running,
      ${counts('call')} AS is_call, ${counts('cost')} AND cost_usd IS NOT NULL AS is_priced, ${usage.join(', ')}
    FROM ${calls} WHERE ${isOfModel(model)}`;
  const outputs = `SELECT *, multiIf(output_tokens IS NOT NULL, ${wide('ifNull(output_tokens, 0)')}, input_tokens IS NULL, ${wide('0')}, ${rest(wide('ifNull(input_tokens, 0)'))}) AS out FROM (${told})`;
  const inputs = `SELECT *, if(input_tokens IS NOT NULL, ${wide('ifNull(input_tokens, 0)')}, ${rest('out')}) AS inp FROM (${outputs})`;
  const fresh = `SELECT *, greatest(${wide('0')}, inp - read - written) AS fresh, greatest(inp, read + written) AS whole, inp + out + read + written AS most FROM (${inputs})`;
  return `(SELECT *, ${SUMMED_PARTS.map((part) => `${TOKENS[part]} AS of_${part}`).join(', ')} FROM (${fresh}))`;
}

/**
 * Sums of the calls of a model by `told`, as a relation of `told`, `calls`, `paid`, `most`, and `of_input` and so on.
 *
 * @returns null if the rows of runs lack the sums for the time, or the user has no such agent
 */
export async function tokenSums(
  parts: Pick<ListParts, 'names' | 'reads'>,
  tenant: number,
  { model, ...filter }: RepricedFilter,
  abort?: AbortSignal,
): Promise<string | null> {
  const { hours, ends } = await placesOfCalls(parts, tenant, filter, callsWithoutTokens, abort);
  const isOfRun = await wantedRuns(parts, tenant, filter);
  if (hours === null || isOfRun === null) return null;
  const calls = await Promise.all(ends.map((end) => callsOf(parts, tenant, end, TOKEN_COLUMNS)));
  // A row that an earlier version has just written may lack `call_tokens`.
  const pairs = `arrayJoin(arrayZip(model_calls, arrayResize(call_tokens, length(model_calls)))) AS pair`;
  const ofRuns = `SELECT tokens.told AS told, call.calls AS calls, call.nanos AS paid, tokens.most AS most, ${SUMMED_PARTS.map((part) => `tokens.${part} AS of_${part}`).join(', ')}
    FROM (SELECT tupleElement(pair, 1) AS call, tupleElement(pair, 2) AS tokens FROM (SELECT ${pairs} FROM ${runsWithCalls(tenant, hours, isOfRun)}))
    WHERE ${[...withinHours('call', hours), isOfModel(model, 'call.')].join(' AND ')}`;
  const ofSpans = calls.flatMap((of) => (of === null ? [] : [sumsOfSpans(withTokens(of, model))]));
  return `(${[ofRuns, ...ofSpans].join(' UNION ALL ')})`;
}

/** @param calls from {@link withTokens} */
function sumsOfSpans(calls: string): string {
  const bit = (condition: string, bit: number): string => `if(${condition}, ${bit}, 0)`;
  const why = [
    `is_running, ${CALL_FLAGS.running}`,
    `input_tokens IS NOT NULL OR output_tokens IS NOT NULL, 0`,
    `total_tokens IS NULL, ${CALL_FLAGS.no_tokens}`,
  ];
  const long = LONG_INPUTS.map((over) => `(whole > ${over})`).join(' + ');
  const told = `${bit('is_call', CALL_FLAGS.call)} + ${bit('is_priced', CALL_FLAGS.priced)} + multiIf(${why.join(', ')}, ${CALL_FLAGS.no_parts}) + (${long}) * ${2 ** LONG_SHIFT}`;
  return `SELECT toUInt8(${told}) AS told, toUInt64(1) AS calls, if(is_priced, paid, toInt128(0)) AS paid, toInt128(most) AS most, ${SUMMED_PARTS.map((part) => `toInt128(of_${part}) AS of_${part}`).join(', ')}
    FROM ${calls} WHERE is_call OR is_priced`;
}

function isOfModel(model: string | null, of = ''): string {
  return model === null ? `${of}model IS NULL` : `${of}model = ${quoted(model)}`;
}
