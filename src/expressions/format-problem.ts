import { suggestion, nearestName } from '../config/nearest-name.js';
import type { CelProblem } from './expression-error.js';
import { MATCHES } from './patterns.js';
import { PRESENCE } from './presence.js';
import { RECORD_TYPES, type RecordVariable, type Variable } from './scope/record-types.js';
import type { Node } from './syntax-tree.js';
import { typeAdvice } from './unfit-types.js';
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
