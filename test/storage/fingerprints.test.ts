import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { Fingerprints } from '../../src/storage/duckdb/fingerprints.js';
import { holds } from '../support/property.js';

/** So many random UUIDs in words. */
function randomIds(count: number): Uint32Array {
  const bytes = randomBytes(count * 16);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, count * 4);
}

void t.test('what was added is found, over several tables; almost nothing else is', async (t) => {
  const ids = randomIds(50_000);
  const set = new Fingerprints({ firstBits: 6 });
  for (let i = 0; i < 50_000; i++) set.add(1, ids, i * 4, i);
  t.equal(set.size, 50_000);
  let found = 0;
  let foundOfOthers = 0;
  const others = randomIds(50_000);
  for (let i = 0; i < 50_000; i++) {
    if (set.mayHave(1, ids, i * 4)) found++;
    if (set.mayHave(2, ids, i * 4) || set.mayHave(1, others, i * 4)) foundOfOthers++;
  }
  t.equal(found, 50_000, 'no miss');
  t.ok(foundOfOthers < 5, `${foundOfOthers} of another tenant or never added`);
  t.ok(set.bytes < 50_000 * 48);
});

void t.test('ids that differ in a few bits only are told apart', async (t) => {
  const set = new Fingerprints();
  const words = new Uint32Array(4);
  let confused = 0;
  for (let i = 0; i < 4; i++) {
    for (let n = 0; n < 20_000; n++) {
      words.fill(0);
      words[i] = n + 1;
      if (set.mayHave(7, words, 0)) confused++;
      set.add(7, words, 0, n);
    }
  }
  t.ok(confused < 3, `${confused} of 80 000`);
});

void t.test('numbers follow their ids through replacements', async (t) => {
  const step = fc.record({ id: fc.nat(30), number: fc.integer({ min: 1, max: 1e9 }) });
  holds(
    t,
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const set = new Fingerprints({ firstBits: 3, seed: 1 });
      const expected = new Map<number, number>();
      for (const { id, number } of steps) {
        const before = expected.get(id);
        if (before === undefined) set.add(1, wordsOf(id), 0, number);
        else set.replace(1, wordsOf(id), 0, before, number);
        expected.set(id, number);
      }
      return Array.from({ length: 31 }, (_, id) => id).every(
        (id) =>
          JSON.stringify(set.numbers(1, wordsOf(id), 0)) ===
          JSON.stringify([expected.get(id)].filter(Boolean)),
      );
    }),
    { numRuns: 300 },
  );
});

void t.test('two ids with one fingerprint keep a number each', async (t) => {
  // Both are added as they are: to the set they are one id that comes twice.
  const set = new Fingerprints({ firstBits: 4, seed: 1 });
  set.add(1, wordsOf(5), 0, 100);
  set.add(1, wordsOf(5), 0, 200);
  t.same(set.numbers(1, wordsOf(5), 0), [100, 200]);
  set.replace(1, wordsOf(5), 0, 200, 300);
  t.same(set.numbers(1, wordsOf(5), 0), [100, 300]);
  set.replace(1, wordsOf(5), 0, 999, 400);
  t.same(set.numbers(1, wordsOf(5), 0), [100, 300, 400], 'added where the number is not there');
  t.same(set.numbers(1, wordsOf(6), 0), []);
});

function wordsOf(n: number): Uint32Array {
  return Uint32Array.of(n, 0, 0, n);
}
