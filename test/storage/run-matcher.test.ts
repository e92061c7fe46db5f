import t from 'tap';
import { RunMatcher } from '../../src/storage/shared/run-matcher.js';
import { parseTextQuery } from '../../src/storage/shared/text-query.js';

/** The length of the parts in which long texts are matched. */
const PART = 65_536;

async function matcherOf(query: string, text: string): Promise<RunMatcher> {
  const parsed = parseTextQuery(query);
  if (parsed === null) throw new Error('the query has words');
  const matcher = new RunMatcher(parsed);
  await matcher.add({ span: null, field: 'outcome', text });
  return matcher;
}

/** A text of four parts in which something begins some characters before the second part. */
function around(something: string, before: number, filler: string): string {
  const start = filler.repeat(Math.ceil(PART / filler.length)).slice(0, PART - before);
  return `${start}${something}${filler.repeat((3 * PART) / filler.length)}`;
}

void t.test('finds what is at the end of a part', async (t) => {
  const phrase = ' alpha beta gamma ';
  for (const filler of ['word ', '数据库', 'a. '])
    for (const before of [0, 7, 12, 18, 1500]) {
      const text = around(phrase, before, filler);
      const name = `${before} characters before, ${filler}`;
      t.ok((await matcherOf('"alpha beta gamma"', text)).matches, name);
      t.ok((await matcherOf('"beta gam*"', text)).matches, name);
      t.notOk((await matcherOf('"alpha gamma"', text)).matches, name);
      t.notOk((await matcherOf('alpha -"beta gamma"', text)).matches, name);
    }
  const { match } = await matcherOf('gamma', around(phrase, 12, 'word '));
  t.match(match?.snippet.text, /alpha beta gamma/);
});

void t.test('shows the place that meets most conditions', async (t) => {
  const turns = Array.from({ length: 40 }, (_, i) => `Question ${i}: what about ${i}?`).join(' '.repeat(50));
  const { match } = await matcherOf('question 33', turns);
  const marked = match?.snippet.marks.map((place) => match.snippet.text.slice(...place));
  t.equal(marked?.includes('33'), true);
  t.match(match?.snippet.text, /Question 33/);
  // Far from each other: the first place.
  const apart = await matcherOf('alpha gamma', `alpha${' word'.repeat(100)} gamma`);
  t.match(apart.match?.snippet.text, /^alpha/);
});

void t.test('finds a phrase that is longer than the overlap of parts', async (t) => {
  const words = Array.from({ length: 900 }, (_, i) => `w${i}`);
  const text = around(` ${words.join(' ')} `, 2500, 'word ');
  const phrase = `"${words.slice(300, 700).join(' ')}"`;
  t.ok((await matcherOf(phrase, text)).matches);
  const { match } = await matcherOf(phrase, `${'word '.repeat(100)}${words.join(' ')}`);
  t.match(match?.snippet.text, 'w300 w301');
  t.notOk((await matcherOf(`"${words.slice(300, 700).join(' ')} w9"`, text)).matches);
});
