import { suggestion, nearestName } from '../config/nearest-name.js';
import type { CelProblem } from './expression-error.js';
import { MATCHES } from './patterns.js';
import { PRESENCE } from './presence.js';
import { RECORD_TYPES, type RecordVariable, type Variable } from './scope/record-types.js';
import { type Node, literalText } from './syntax-tree.js';
import type { Environment } from '@marcbachmann/cel-js';

/** CEL's function definitions. */
type Functions = ReturnType<Environment['getDefinitions']>['functions'];

/** The call that CEL names in quotes: `'string.startWith(string)'`. */
const CALL = /'(?:[^'(]*\.)?([^'(.]+)\(.*'/s;
/** Enough for every function of CEL that takes one kind of thing. */
const MOST_WAYS = 4;

/**
 * Advice for a call to an unknown function: the intended name, or how to call the function.
 *
 * @param summary CEL's error text
 * @param functions all available functions
 * @returns text to append; empty if no function is similar
 */
function callAdvice(summary: string, functions: Functions): string {
  const name = CALL.exec(summary)?.[1];
  if (name === undefined) return '';
  const ways = functions.filter((known) => known.name === name).map(({ signature }) => signature);
  if (ways.length > 0) return `; it is called as ${ways.slice(0, MOST_WAYS).join(' or ')}`;
  const names = functions
    .map((known) => known.name)
    .filter((known) => known !== PRESENCE && known !== MATCHES);
  const nearest = nearestName(name, names);
  return nearest === undefined ? `; there is no function "${name}"` : `; did you mean "${nearest}"?`;
}

const BRACKETS: Readonly<Record<string, string>> = { RPAREN: ')', RBRACKET: ']', RBRACE: '}' };
const EXPECTED: Readonly<Record<string, string>> = { ...BRACKETS, COLON: ':', COMMA: ',' };
/** Suggestions for half an operator, or for a word that is an operator in other languages. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ '=': 'equal is ==', '&': 'and is &&', '|': 'or is ||' },
  ...{ and: 'and is &&', or: 'or is ||', not: 'not is !', is: 'equal is ==' },
  ...{
    '“': 'write strings as "…"',
    '”': 'write strings as "…"',
    '‘': "write strings as '…'",
    '’': "write strings as '…'",
  },
};

/**
 * The syntax error of an expression, and its remedy.
 *
 * @returns undefined for other errors
 */
function formatSyntaxError({ code, summary, range }: CelProblem, source: string): string | undefined {
  const rest = source.slice(range?.start ?? 0);
  const [word = ''] = /^(?:\w+|[=!<>&|]+|"[^"]*"|.)/su.exec(rest.trimStart()) ?? [];
  const here = word === '' ? 'at the end' : `before ${quoted(word)}`;
  switch (code) {
    case 'unexpected_token':
      return `a value is missing ${here}`;
    case 'expected_token': {
      const expected = /^Expected (\w+)/.exec(summary)?.[1] ?? '';
      const sign = EXPECTED[expected];
      return sign === undefined ? `a name is missing ${here}` : `"${sign}" is missing ${here}`;
    }
    case 'unterminated_string':
    case 'unterminated_triple_quoted_string':
      return 'a string has no closing quote';
    case 'unexpected_character': {
      const meant = MEANT[word] ?? MEANT[word.charAt(0)];
      if (meant !== undefined) return `${quoted(word)} is not known here; ${meant}`;
      if (Object.values(BRACKETS).includes(word)) return `"${word}" closes nothing`;
      return /^['"\w]/.test(word)
        ? `an operator such as && is missing ${here}`
        : `${quoted(word)} is not allowed here`;
    }
    default:
      return undefined;
  }
}

/** In quotes, unless it has its own. */
function quoted(word: string): string {
  return word.startsWith('"') ? word : `"${word}"`;
}

/** Prefix of some CEL type names. */
const CEL_PACKAGE = 'google.protobuf.';

/** Formats an expression error and its remedy in our words. @param functions available to the expression */
export function formatProblem(
  problem: CelProblem,
  source: string,
  variables: readonly Variable[],
  functions: Functions,
): string {
  const summary = problem.summary.replaceAll(PRESENCE, 'has').replaceAll(MATCHES, 'matches');
  const name = /^[^:]+: (.*)$/s.exec(summary)?.[1] ?? '';
  switch (problem.code) {
    case 'unknown_variable':
      return `there is no variable "${name}"${suggestion(name, variables)}`;
    case 'no_such_key':
      return unknownField(name, problem.node as Node | undefined);
    case 'no_such_overload':
      return summary.replaceAll(CEL_PACKAGE, '') + typeAdvice(summary, problem.node as Node | undefined);
    case 'incompatible_ternary_branches':
      return `${summary}; wrap one in dyn() to allow different types`;
    case 'no_matching_overload':
      return summary + callAdvice(summary, functions);
    default:
      return formatSyntaxError(problem, source) ?? summary;
  }
}

function unknownField(name: string, node: Node | undefined): string {
  const object = node?.op === '.' ? node.args[0] : undefined;
  const variable = object?.op === 'id' ? object.args : undefined;
  const type =
    variable !== undefined && variable in RECORD_TYPES ? RECORD_TYPES[variable as RecordVariable] : undefined;
  if (type === undefined) return `there is no field "${name}"`;
  return `${variable ?? ''} has no field "${name}"${suggestion(name, Object.keys(type.fields))}`;
}

const NUMBERS = ['int', 'uint', 'double'];
/** `no such overload: int / double` */
const BINARY = /^no such overload: (\S+) (\S+) (\S+)$/;

/**
 * Advice for an operator that CEL does not define for its operand types.
 *
 * @param summary CEL's error text
 * @param node the operation
 * @returns text to append; empty if there is no advice
 */
function typeAdvice(summary: string, node: Node | undefined): string {
  const advice = adviceOf(summary, node);
  return advice === undefined ? '' : `; ${advice}`;
}

function adviceOf(summary: string, node: Node | undefined): string | undefined {
  if (summary.includes('null')) return 'to test whether a field has a value, use has(span.model)';
  if (/^no such overload: !\w/.test(summary)) return '! needs true or false: use a comparison or has()';
  const [, left = '', operator = '', right = ''] = BINARY.exec(summary) ?? [];
  if (operator === 'in')
    return right === 'string' ? 'to test for a substring, use a.contains("b")' : undefined;
  const isOne = (type: string) => left === type || right === type;
  if ([left, right].some((type) => type.startsWith('list')))
    return 'what is in a list, "in" tells: "a" in span.tags';
  if (isOne('google.protobuf.Timestamp')) return 'write a time as timestamp("2026-01-31T12:00:00Z")';
  if (isOne('google.protobuf.Duration')) return 'write a duration as duration("5s")';
  const isNumber = (type: string) => NUMBERS.includes(type);
  if (isNumber(left) && isNumber(right)) return 'convert both to one type with double() or int()';
  if (!(isOne('string') && (isNumber(left) || isNumber(right)))) return undefined;
  return withLiteral(node, operator);
}

/** Of a text and a number. */
function withLiteral(node: Node | undefined, operator: string): string {
  const sides: readonly unknown[] = Array.isArray(node?.args) ? node.args : [];
  const isText = (side: unknown) => literalText(side as Node) !== undefined;
  const isNumber = (side: unknown) => (side as Node).op === 'value' && !isText(side);
  if (operator === '+') return 'string() converts a number to a string';
  if (sides.some(isText)) return 'write numbers without quotes';
  if (sides.some(isNumber)) return 'write strings in quotes';
  return 'string() converts a number to a string, double() a string to a number';
}
