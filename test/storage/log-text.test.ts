import t from 'tap';
import { phrasesOf, tokensOf } from '../../src/storage/shared/log-text.js';

void t.test(
  'marks that pile up on a character are read in time, and what is around them is found',
  async (t) => {
    // Unicode has them put in an order for which the time grows with the square of their number: minutes for these.
    for (const marks of ['\u0323\u0301', '\uFF9E\u0301', '\u{1D165}\u{1D16D}\u0301']) {
      const text = `Before e${marks.repeat(1_000_000 / marks.length)} after`;
      const tokens = tokensOf(text);
      t.strictSame([tokens[0], tokens.at(-1)], ['before', 'after']);
      t.strictSame(phrasesOf(text.slice(0, 1000)).at(0), ['before'], 'a query is read as a text is');
    }
  },
);

void t.test('marks in the number that languages have them count as they are', async (t) => {
  for (const text of ['e\u0323\u0302', 'ผู้ใหญ่', 'ｶﾞｷﾞ', 'व्याकरण', `e${'\u0301'.repeat(30)}x`])
    t.strictSame(
      tokensOf(text),
      text
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu),
      text,
    );
});

void t.test('of a text that NFKC makes many times longer the beginning is searched', async (t) => {
  const ligature = '\uFDFA';
  const words = ligature.normalize('NFKC').split(' ');
  t.strictSame(tokensOf(`${ligature} ${ligature}`), [...words, ...words], 'a short one whole');
  const among = `${'word '.repeat(20)}${ligature} last`;
  t.strictSame(tokensOf(among).slice(20), [...words, 'last'], 'and among other text');
  const long = tokensOf(ligature.repeat(100_000));
  t.strictSame(long.slice(0, 3), words.slice(0, 3));
  t.ok(long.join(' ').length <= 64 + 3 * 100_000);
});
