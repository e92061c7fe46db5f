import fc from 'fast-check';
import t from 'tap';
import { TermScanner, seedOf, termHash, termsOf } from '../../../../src/storage/duckdb/index/text-terms.js';
import { tokensOf, visibleText } from '../../../../src/storage/shared/log-text.js';
import { parseTextQuery } from '../../../../src/storage/shared/text-query.js';
import { neverDiffers, same } from '../../../support/property.js';

const TENANT = 7;

function hashesIn(
  text: string,
  isJson: boolean,
): { readonly hashes: ReadonlySet<number>; readonly isComplete: boolean } {
  const hashes = new Set<number>();
  const scanner = new TermScanner((hash) => hashes.add(hash));
  scanner.scan(TENANT, Buffer.from(text), isJson);
  return { hashes, isComplete: scanner.isComplete };
}

/** The terms of a text as people see it that were not found. */
function missingIn(text: string, isJson: boolean): string[] {
  const { hashes, isComplete } = hashesIn(text, isJson);
  if (!isComplete) return [];
  const symbols: string[] = [];
  const tokens = tokensOf(visibleText(text), symbols);
  const terms = [...tokens, ...(symbols.join('').match(/(?![\0-\x7f])\p{S}/gu) ?? [])];
  return terms.filter((term) => !hashes.has(termHash(seedOf(TENANT), term)));
}

const PARTS = [
  'refund',
  'Order',
  '7',
  'n',
  'u',
  'nrt',
  'Straße',
  'ÜBER',
  'u\u0308',
  '\u0301',
  'Σ',
  'ΟΔΟΣ',
  '東',
  '京都',
  'データ',
  'ﾃﾞｰﾀ',
  'カ\u3099',
  'ไทย',
  '한국',
  'ｒｅ',
  'ﬁ',
  '™',
  '²',
  '🚀',
  '👩‍💻',
  '→',
  '─',
  '✓',
  'שָׁלוֹם',
  'привет',
  'مرحبا',
  '—',
  '’',
  '…',
  '\u00a0',
  '\u200d',
  '\u00ad',
  '\u001b[31m',
  '\u001b[0m',
  '\u001b[',
  '\u009b1m',
  '\u001b]8;;http://a b\u0007',
  '\u001b',
  '\u001bc',
  '\\',
  '\\\\',
  '\\n',
  '\\u00e9',
  '\\u0041',
  '\\ud83d\\ude80',
  '\\u',
  '\\x',
  '/',
  '"',
  "'",
  '\n',
  '\t',
  ' ',
  ' ',
  ', ',
  '-',
  '_',
  '.',
  '{',
  '}',
  '[1]',
  '\u001f',
  '\0',
  '\ud800',
] as const;
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PARTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
);
const plain = fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(''));
/** JSON in strings of JSON, with characters beyond ASCII as they are or as escapes. */
const document = fc
  .tuple(plain, plain, fc.array(fc.boolean(), { maxLength: 3 }))
  .map(([one, other, levels]) =>
    levels.reduce<string>(
      (text, isAscii) => escaped(JSON.stringify({ text, other }), isAscii),
      escaped(JSON.stringify({ one, other }), false),
    ),
  );

function escaped(json: string, isAscii: boolean): string {
  if (!isAscii) return json;
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

void t.test('no term of a stored text is missed', async (t) => {
  await neverDiffers(t, { runs: 20_000, ms: 6000 }, [plain, document], async (text, json) => {
    same({ text, missing: missingIn(text, false) }, { text, missing: [] });
    same({ json, missing: missingIn(json, true) }, { json, missing: [] });
    return Promise.resolve();
  });
});

void t.test('words that a text does not have are mostly absent', (t) => {
  const { hashes } = hashesIn(
    JSON.stringify({ text: 'first line\nsecond\tpart “quoted” caf\u00e9 C:\\new' }),
    true,
  );
  const has = (word: string): boolean => hashes.has(termHash(seedOf(TENANT), word));
  t.ok(['first', 'second', 'part', 'quoted', 'café', 'new'].every(has));
  t.notOk(['nsecond', 'tpart', 'line nsecond', 'caf', 'absent'].some(has));
  t.notOk(hashes.has(termHash(seedOf(TENANT + 1), 'first')), 'of another user');
  t.end();
});

void t.test('conditions name the terms that they need', (t) => {
  const termsIn = (query: string): string[][] =>
    termsOf(parseTextQuery(query) ?? { phrases: [], prefixes: [], literals: [] });
  t.strictSame(termsIn('Refund "two words" pre* "a pre*" 🚀 -> 東京都 猫'), [
    ['refund'],
    ['words', 'two'],
    ['東京', '京都'],
    ['a'],
    ['🚀'],
  ]);
  t.end();
});
