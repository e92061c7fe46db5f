import { Type } from 'typebox';
import { validationProblem } from '../../http/field-errors.js';
import { parseJson } from '../../signal/json.js';
import { MAX_NAME, storableName } from '../../signal/names.js';
import type { RunFilter } from '../../storage/contracts/runs.js';
import { SCORE_OPERATORS, type ScoreCondition, type ScoreOperator } from '../../storage/contracts/scores.js';

/** Maximum number of conditions in a request: each is a join. */
const MOST_CONDITIONS = 5;
/** A quoted or a plain name, and the rest: an operator with its operand, or nothing. */
const CONDITION = /^(!?)("(?:[^"\\]|\\.)*"|[^<>=!"][^<>=!]*)(?:(<=|>=|!=|<|>|=)(.*))?$/s;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** The query parameter that selects runs by their scores. */
export const scoreParameter = {
  score: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 2 * MAX_NAME }), {
      maxItems: MOST_CONDITIONS,
      description: `Runs with a score of a name that meets a condition, for example \`helpfulness<0.5\`; also scores of their spans and responses. Operators for values: \`<\`, \`<=\`, \`>\`, \`>=\`, \`=\` and \`!=\`. \`tone=polite\` compares the label; a label that is a number is put in double quotes. \`helpfulness\` alone selects runs with any such score, \`!helpfulness\` runs without one. A name with one of \`<>=!"\` is written as a JSON string. Repeat the parameter for several conditions, at most ${MOST_CONDITIONS}: a run must meet all.`,
    }),
  ),
};

/**
 * The conditions of a request; none if absent.
 *
 * @throws HttpProblem 422 for a text that is not a condition
 */
export function scoreFilter({ score }: { readonly score?: readonly string[] }): Pick<RunFilter, 'scores'> {
  return score === undefined || score.length === 0 ? {} : { scores: score.map(conditionOf) };
}

function conditionOf(text: string): ScoreCondition {
  const [, not = '', named = '', operator, operand = ''] = CONDITION.exec(text) ?? [];
  const name = storableName(textOf(named) ?? '');
  if (name === '' || (not !== '' && operator !== undefined)) throw broken();
  if (operator === undefined) return { kind: not === '' ? 'any' : 'none', name };
  const test = SCORE_OPERATORS.find((one) => one === operator) ?? '=';
  const wanted = operand.trim();
  if (NUMBER.test(wanted)) return { kind: 'value', name, operator: test, value: finite(wanted) };
  const label = storableName(textOf(wanted) ?? '');
  // score==1 is a mistake, not the label "=1".
  if (label === '' || !isOfLabels(test) || /^[<>=!]/.test(wanted)) throw broken();
  return { kind: 'label', name, operator: test, label };
}

function isOfLabels(operator: ScoreOperator): operator is '=' | '!=' {
  return operator === '=' || operator === '!=';
}

/** The text, or what it quotes; null for a quoted text that is not JSON. */
function textOf(text: string): string | null {
  if (!text.startsWith('"')) return text;
  try {
    const quoted = parseJson(text);
    return typeof quoted === 'string' ? quoted : null;
  } catch {
    return null;
  }
}

function finite(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw broken();
}

function broken() {
  const message =
    'must be a condition such as helpfulness<0.5, tone=polite, helpfulness or !helpfulness; quote other names as in JSON';
  return validationProblem('query', [{ field: 'score', message }]);
}
