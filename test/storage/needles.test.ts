import t from 'tap';
import { tokensOf } from '../../src/storage/shared/log-text.js';
import { isFolded, needlesOf, patternInBytes, patternInText } from '../../src/storage/shared/needles.js';
import { parseTextQuery } from '../../src/storage/shared/text-query.js';

const WORD = /[\p{L}\p{N}]/u;

function* characters(): Generator<string> {
  for (let code = 0x80; code < 0x110000; code++)
    if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code);
}

/** A text as DuckDB writes bytes. */
function asBytes(text: string): string {
  return Array.from(Buffer.from(text), (byte) =>
    byte >= 0x20 && byte < 0x7f && !'"\'\\'.includes(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0').toUpperCase()}`,
  ).join('');
}

/** Whether a pattern of RE2 matches: a group with flags is a separate expression in JavaScript. */
function has(text: string, pattern: string): boolean {
  const [, needle = '', rest = ''] = /^\(\?i:(.*?)\)\|(.*)/s.exec(pattern) ?? [];
  const parts =
    needle === ''
      ? [[pattern.replace('(?i)', ''), 'iu']]
      : [
          [needle, 'iu'],
          [rest, 'u'],
        ];
  return parts.some(([part = '', flags]) =>
    new RegExp(part.replaceAll(/\\x\{([0-9a-f]+)\}/g, '\\u{$1}'), flags).test(text),
  );
}

void t.test('a character that becomes others is folded', async (t) => {
  const missing: string[] = [];
  for (const character of characters()) {
    const code = character.codePointAt(0) ?? 0;
    const folded = Array.from(character.normalize('NFKC').toLowerCase());
    const isItself = folded.every(
      (one) => !WORD.test(one) || one === character || one.toUpperCase() === character,
    );
    if (!isItself && !isFolded(code)) missing.push(code.toString(16));
    // A letter may be stored as several characters.
    const [, ...joining] = Array.from(character.normalize('NFD'));
    if (WORD.test(character) && character.normalize('NFC') === character)
      for (const mark of joining)
        if (!isFolded(mark.codePointAt(0) ?? 0)) missing.push(`${code.toString(16)} with ${mark}`);
  }
  t.strictSame(missing, []);
  const letters = 'aszAZ09 äöüÄ éñ ßçø я Ж ω 東京 の ア 한 ع א क ก'.replaceAll(' ', '');
  t.strictSame(
    Array.from(letters).filter((letter) => isFolded(letter.codePointAt(0) ?? 0)),
    [],
  );
});

void t.test('patterns match every stored form of a needle', async (t) => {
  const stored: readonly (readonly [string, string])[] = [
    ['refund', 'A REFUND.'],
    ['refund', 'ｒｅｆｕｎｄ'],
    ['refund', 're\u001b[31mfund'],
    ['refund', '"re\\u0066und"'],
    ['über', 'ÜBER'],
    ['über', 'u\u0308ber'],
    ['東京', '"東京都"'],
    ['file', 'ﬁle'],
    ['k', '\u212a'],
    ['->', 'a -> b'],
    ['🚀', '🚀!'],
    ["it's", "it's"],
  ];
  for (const [needle, text] of stored) {
    t.ok(has(asBytes(text), patternInBytes(needle)), `${needle} in ${text}`);
    t.ok(has(text, patternInText(needle)), `${needle} in ${text}`);
  }
  for (const text of ['a text without it: {"s":"k","x":[1,2]}\n', 'Größe: übrig', '東京']) {
    t.notOk(has(asBytes(text), patternInBytes('refund')), text);
    t.notOk(has(text, patternInText('refund')), text);
  }
});

void t.test('each condition has its longest word as needle', async (t) => {
  const none = { phrases: [], prefixes: [], literals: [] };
  const needles = (query: string) => needlesOf(parseTextQuery(query) ?? none);
  t.strictSame(needles('"a longer phrase" word pre* -without'), ['longer', 'word', 'pre']);
  t.strictSame(needles('\\'), [], 'JSON escapes it');
  t.equal(needles('a b c d e f g h i').length, 6);
  t.strictSame(tokensOf('ÜBER'), needles('ÜBER'));
});

void t.test('reads words, phrases, prefixes, signs and exclusions', async (t) => {
  const none = { phrases: [], prefixes: [], literals: [] };
  const parsed = (query: string) => {
    const { without, ...wanted } = parseTextQuery(query) ?? { ...none, without: none };
    const { phrases, prefixes, literals } = without;
    return [wanted, { phrases, prefixes, literals }];
  };
  t.strictSame(parsed('a-b "c d" e* -f -"g h" -> i-'), [
    { phrases: [['a'], ['b'], ['c', 'd'], ['i']], prefixes: [['e']], literals: ['->'] },
    { ...none, phrases: [['f'], ['g', 'h']] },
  ]);
  t.strictSame(parsed('"c d*" -x* *'), [
    { ...none, prefixes: [['c', 'd']], literals: ['*'] },
    { ...none, prefixes: [['x']] },
  ]);
  t.strictSame(parsed('x"y z"-w "open'), [{ ...none, phrases: [['x'], ['y', 'z'], ['w'], ['open']] }, none]);
  t.strictSame(parsed('東京* a-東'), [{ ...none, phrases: [['東京'], ['a']], literals: ['東'] }, none]);
  t.equal(parseTextQuery('""'), null);
  t.strictSame(parsed('  '), [none, none]);
});
