import { COUNTS, WHOLE } from '../../../runs/rules/duplicate-calls.js';
import { SUMMED_PARTS } from '../../../signal/call-details.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import { TYPE_CODES } from '../../../signal/trace-map.js';
import {
  LONG_INPUTS,
  LONG_SHIFT,
  CALL_FLAGS,
  USAGE_COLUMNS,
  pricedTokens,
} from '../../shared/priced-tokens.js';

/** SQL for the counted usage of calls, and for their tokens by priced part (`signal/call-tokens.ts`). */

const TOKENS = pricedTokens('output');

const IS_LLM = `type = ${TYPE_CODES.llm}`;

/** SQL condition for spans that may count in stats of models. Never becomes false in a later version of a span. */
export const REPORTS_USAGE = `(${IS_LLM} OR total_tokens IS NOT NULL OR cost_usd IS NOT NULL)`;
/** SQL condition for spans that count: `SpanCounts` in `runs/rules/usage.ts`. */
export const COUNTS_USAGE = `((${IS_LLM} AND counted IS DISTINCT FROM 0) OR counted_tokens > 0 OR counted_cost > 0)`;

/** The columns of a span that {@link withTokens} needs. */
export const TOKEN_COLUMNS =
  'type, status, input_tokens, output_tokens, total_tokens, cost_usd, counted, counted_tokens, counted_cost, call_details';

/**
 * Calls with counted usage (`paid`, `in_tokens`, `out_tokens`, `all_tokens`), their tokens by part (`of_input` and so on),
 * the length of their input (`whole`), and the `CALL_FLAGS` of each call (`told`).
 *
 * @param calls a relation with {@link TOKEN_COLUMNS}
 */
export function withTokens(calls: string): string {
  const paths = Object.keys(USAGE_COLUMNS).map((part) => `'$.usage.${part}'`);
  const most = Number.MAX_SAFE_INTEGER;
  const usage = Object.values(USAGE_COLUMNS).map(
    (name, at) => `least(coalesce(TRY_CAST(parts[${at + 1}] AS BIGINT), 0), ${most}) AS ${name}`,
  );
  // If input or output is missing, it is the total minus the other one.
  const rest = (of: string): string => `greatest(0, coalesce(total_tokens, 0) - ${of})`;
  const parts = `SELECT *, CASE WHEN starts_with(call_details, '{"usage":{') THEN json_extract_string(call_details, [${paths.join(', ')}]) END AS parts FROM ${calls}`;
  const outputs = `SELECT * EXCLUDE (parts), ${usage.join(', ')}, coalesce(output_tokens, CASE WHEN input_tokens IS NULL THEN 0 ELSE ${rest('input_tokens')} END) AS output FROM (${parts})`;
  const inputs = `SELECT *, coalesce(input_tokens, ${rest('output')}) AS input FROM (${outputs})`;
  const fresh = `SELECT *, greatest(0, input - read - written) AS fresh, greatest(input, read + written) AS whole FROM (${inputs})`;
  const tokens = SUMMED_PARTS.map((part) => `${TOKENS[part]} AS of_${part}`);
  const usual = (what: keyof typeof COUNTS, column: string): string =>
    `CASE WHEN ${counts(what)} THEN coalesce(${column}, 0) ELSE 0 END`;
  // If only some tokens count, the same share of input and output counts.
  const share = (column: string): string =>
    `CASE WHEN all_tokens = coalesce(total_tokens, 0) THEN coalesce(${column}, 0)::HUGEINT ELSE coalesce(${column}, 0)::HUGEINT * all_tokens // greatest(total_tokens, 1) END`;
  const counted = `SELECT *, coalesce(counted_cost, ${usual('cost', 'cost_usd')}) AS paid, coalesce(counted_tokens, ${usual('call', 'total_tokens')}) AS all_tokens FROM (${fresh})`;
  return `(SELECT *, ${share('input_tokens')} AS in_tokens, ${share('output_tokens')} AS out_tokens, ${tokens.join(', ')}, ${told()} AS told FROM (${counted}))`;
}

/** SQL condition that this part of a call counts on this span (`runs/rules/usage.ts`). */
export function counts(what: keyof typeof COUNTS): string {
  return `${IS_LLM} AND (coalesce(counted, ${WHOLE}) & ${COUNTS[what]}) > 0`;
}

function told(): string {
  const bit = (condition: string, bit: number): string => `CASE WHEN ${condition} THEN ${bit} ELSE 0 END`;
  const why = [
    `WHEN status = ${RUN_STATUSES.indexOf('running')} THEN ${CALL_FLAGS.running}`,
    `WHEN input_tokens IS NULL AND output_tokens IS NULL AND total_tokens IS NULL THEN ${CALL_FLAGS.no_tokens}`,
    `WHEN input_tokens IS NULL AND output_tokens IS NULL THEN ${CALL_FLAGS.no_parts}`,
  ];
  const long = LONG_INPUTS.map((most) => `(whole > ${most})::INTEGER`).join(' + ');
  return `(${bit(counts('call'), CALL_FLAGS.call)} + ${bit(`${counts('cost')} AND cost_usd IS NOT NULL`, CALL_FLAGS.priced)}
    + CASE ${why.join(' ')} ELSE 0 END + (${long}) * ${2 ** LONG_SHIFT})::UTINYINT`;
}
