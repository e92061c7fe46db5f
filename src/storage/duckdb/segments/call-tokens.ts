import { COUNTS, WHOLE } from '../../../runs/rules/duplicate-calls.js';
import { SUMMED_PARTS } from '../../../signal/call-details.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import {
  LONG_INPUTS,
  LONG_SHIFT,
  CALL_FLAGS,
  USAGE_COLUMNS,
  pricedTokens,
} from '../../shared/priced-tokens.js';

/** The tokens of calls as their prices need them (`signal/call-tokens.ts`), in SQL. */

const TOKENS = pricedTokens('output');

/** The columns of a span that the tokens are computed from. */
export const TOKEN_COLUMNS = 'status, call_details';

/**
 * Calls with their tokens by part (`of_input` and so on), the length of their input (`whole`), and the `CALL_FLAGS` of each call
 * (`told`).
 *
 * @param calls a relation with the columns of calls and {@link TOKEN_COLUMNS}
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
  return `(SELECT *, ${tokens.join(', ')}, ${told()} AS told FROM (${fresh}))`;
}

/** Whether this part of a call counts here: another span may report the same call (`runs/rules/duplicate-calls.ts`). */
function counts(what: keyof typeof COUNTS): string {
  return `(coalesce(counted, ${WHOLE}) & ${COUNTS[what]}) > 0`;
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
