import type { CelProblem } from './expression-error.js';

const BRACKETS: Readonly<Record<string, string>> = { RPAREN: ')', RBRACKET: ']', RBRACE: '}' };
const EXPECTED: Readonly<Record<string, string>> = { ...BRACKETS, COLON: ':', COMMA: ',' };
/** What is meant by a character that is half an operator, or by a word that is one elsewhere. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ '=': 'equal is ==', '&': 'and is &&', '|': 'or is ||' },
  ...{ and: 'and is &&', or: 'or is ||', not: 'not is !', is: 'equal is ==' },
  ...{
    '“': 'texts stand in "…"',
    '”': 'texts stand in "…"',
    '‘': "texts stand in '…'",
    '’': "texts stand in '…'",
  },
};

/**
 * What is wrong with the grammar of an expression, and what to do.
 *
 * @returns undefined where it is not that
 */
export function wordSyntax({ code, summary, range }: CelProblem, source: string): string | undefined {
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
      return 'a text has no quote at its end';
    case 'unexpected_character': {
      const meant = MEANT[word] ?? MEANT[word.charAt(0)];
      if (meant !== undefined) return `${quoted(word)} is not known here; ${meant}`;
      if (Object.values(BRACKETS).includes(word)) return `"${word}" closes nothing`;
      return /^['"\w]/.test(word)
        ? `an operator such as && is missing ${here}`
        : `${quoted(word)} cannot stand here`;
    }
    default:
      return undefined;
  }
}

/** In quotes, unless it has its own. */
function quoted(word: string): string {
  return word.startsWith('"') ? word : `"${word}"`;
}
