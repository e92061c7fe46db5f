import t from 'tap';
import { remembering } from '../../src/signal/remembering.js';

/** Returns the length of a text and records the calls. */
function counting() {
  const asked: string[] = [];
  return {
    asked,
    find: (text: string): number | undefined => {
      asked.push(text);
      return text === '' ? undefined : text.length;
    },
  };
}

void t.test('caches results, including empty ones', (t) => {
  const { asked, find } = counting();
  const lengthOf = remembering(3, find);
  for (let round = 0; round < 2; round++)
    t.same(['a', '', 'bc'].map(lengthOf), [1, undefined, 2], 'the same each time');
  t.same(asked, ['a', '', 'bc']);
  t.end();
});

void t.test('clears the cache at its maximum size', (t) => {
  const { asked, find } = counting();
  const lengthOf = remembering(2, find);
  for (const text of ['a', 'b', 'c', 'c', 'a']) lengthOf(text);
  t.same(asked, ['a', 'b', 'c', 'a'], 'only entries cached before are cleared');
  t.end();
});

void t.test('does not cache long texts', (t) => {
  const { asked, find } = counting();
  const lengthOf = remembering(2, find);
  const [short, long] = ['x'.repeat(256), 'x'.repeat(257)];
  for (const text of [long, short, long, short]) t.equal(lengthOf(text), text.length);
  t.same(asked, [long, short, long]);
  t.end();
});
