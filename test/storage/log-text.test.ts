import t from 'tap';
import { tokensOf } from '../../src/storage/shared/log-text.js';
import { parseTextQuery } from '../../src/storage/shared/text-query.js';

void t.test('normalizes many combining marks in linear time and indexes the surrounding text', async (t) => {
  // Canonical ordering sorts them in quadratic time: minutes for these.
  for (const marks of ['\u0323\u0301', '\uFF9E\u0301', '\u{1D165}\u{1D16D}\u0301']) {
    const text = `Before e${marks.repeat(1_000_000 / marks.length)} after`;
    const tokens = tokensOf(text);
    t.strictSame([tokens[0], tokens.at(-1)], ['before', 'after']);
    t.strictSame(
      parseTextQuery(text.slice(0, 1000))?.phrases.at(0),
      ['before'],
      'queries are tokenized like texts',
    );
  }
});

void t.test('keeps the combining marks of natural languages', async (t) => {
  const texts: readonly (readonly [string, readonly string[]])[] = [
    ['e\u0323\u0302', ['\u1ec7']],
    ['ผู้ใหญ่', ['ผู', 'ู้', '้ใ', 'ให', 'หญ', 'ญ่']],
    ['ｶﾞｷﾞ', ['ガギ']],
    ['व्याकरण', ['व', 'य', 'करण']],
    [`e${'\u0301'.repeat(30)}x`, ['\u00e9', 'x']],
  ];
  for (const [text, tokens] of texts) t.strictSame(tokensOf(text), tokens, text);
});

void t.test('indexes the beginning of a text that NFKC expands', async (t) => {
  const ligature = '\uFDFA';
  const words = ligature.normalize('NFKC').split(' ');
  t.strictSame(tokensOf(`${ligature} ${ligature}`), [...words, ...words], 'a short one completely');
  const among = `${'word '.repeat(20)}${ligature} last`;
  t.strictSame(tokensOf(among).slice(20), [...words, 'last'], 'among other text');
  const long = tokensOf(ligature.repeat(100_000));
  t.strictSame(long.slice(0, 3), words.slice(0, 3));
  t.ok(long.join(' ').length <= 64 + 3 * 100_000);
});
