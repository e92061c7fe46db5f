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
  const set = new Fingerprints({ withNumbers: false, firstBits: 6 });
  let added = 0;
  for (let i = 0; i < 50_000; i++) if (set.addNew(1, ids, i * 4)) added++;
  t.ok(added > 49_990, `${added} were new`);
  t.equal(set.size, added);
  let found = 0;
  let foundAgain = 0;
  let foundOfOthers = 0;
  const others = randomIds(50_000);
  for (let i = 0; i < 50_000; i++) {
    if (set.mayHave(1, ids, i * 4)) found++;
    if (!set.addNew(1, ids, i * 4)) foundAgain++;
    if (set.mayHave(2, ids, i * 4) || set.mayHave(1, others, i * 4)) foundOfOthers++;
  }
  t.equal(found, 50_000, 'no miss');
  t.equal(foundAgain, 50_000);
  t.ok(foundOfOthers < 5, `${foundOfOthers} of another tenant or never added`);
  t.ok(set.bytes < 50_000 * 16);
});

void t.test('ids that differ in a few bits only are told apart', async (t) => {
  const set = new Fingerprints({ withNumbers: false });
  const words = new Uint32Array(4);
  let confused = 0;
  for (let i = 0; i < 4; i++) {
    for (let n = 0; n < 20_000; n++) {
      words.fill(0);
      words[i] = n + 1;
      if (!set.addNew(7, words, 0)) confused++;
    }
  }
  t.ok(confused < 3, `${confused} of 80 000`);
});

void t.test('a failed commit takes its ids back, and only those', async (t) => {
  const id = fc.nat(300);
  holds(
    t,
    fc.property(
      fc.array(fc.record({ ids: fc.array(id, { maxLength: 60 }), fails: fc.boolean() }), { maxLength: 12 }),
      (commits) => {
        const set = new Fingerprints({ withNumbers: false, firstBits: 3, seed: 1 });
        const expected = new Set<number>();
        for (const { ids, fails } of commits) {
          set.begin();
          for (const n of ids) set.addNew(1, wordsOf(n), 0);
          if (fails) set.rollback();
          else for (const n of ids) expected.add(n);
        }
        const found = Array.from({ length: 301 }, (_, n) => n).filter((n) => set.mayHave(1, wordsOf(n), 0));
        return (
          set.size === expected.size && found.every((n) => expected.has(n)) && found.length === expected.size
        );
      },
    ),
    { numRuns: 300 },
  );
});

void t.test('numbers follow their ids through replacements and failed commits', async (t) => {
  const step = fc.record({ id: fc.nat(30), number: fc.integer({ min: 1, max: 1e9 }) });
  holds(
    t,
    fc.property(
      fc.array(fc.record({ steps: fc.array(step, { maxLength: 10 }), fails: fc.boolean() }), {
        maxLength: 12,
      }),
      (commits) => {
        const set = new Fingerprints({ withNumbers: true, firstBits: 3, seed: 1 });
        let expected = new Map<number, number>();
        for (const { steps, fails } of commits) {
          set.begin();
          const after = new Map(expected);
          for (const { id, number } of steps) {
            const before = after.get(id);
            if (before === undefined) set.add(1, wordsOf(id), 0, number);
            else set.replace(1, wordsOf(id), 0, before, number);
            after.set(id, number);
          }
          if (fails) set.rollback();
          else expected = after;
        }
        return Array.from({ length: 31 }, (_, id) => id).every(
          (id) =>
            JSON.stringify(set.numbers(1, wordsOf(id), 0)) ===
            JSON.stringify([expected.get(id)].filter(Boolean)),
        );
      },
    ),
    { numRuns: 300 },
  );
});

void t.test('two ids with one fingerprint keep a number each', async (t) => {
  // Both are added as they are: to the set they are one id that comes twice.
  const set = new Fingerprints({ withNumbers: true, firstBits: 4, seed: 1 });
  set.add(1, wordsOf(5), 0, 100);
  set.add(1, wordsOf(5), 0, 200);
  t.same(set.numbers(1, wordsOf(5), 0), [100, 200]);
  set.replace(1, wordsOf(5), 0, 200, 300);
  t.same(set.numbers(1, wordsOf(5), 0), [100, 300]);
  set.replace(1, wordsOf(5), 0, 999, 400);
  t.same(set.numbers(1, wordsOf(5), 0), [100, 300, 400], 'added where the number is not there');
  t.same(set.numbers(1, wordsOf(6), 0), []);
});

void t.test('without a commit to take back, additions leave nothing but themselves in memory', async (t) => {
  const set = new Fingerprints({ withNumbers: true });
  const ids = randomIds(1);
  for (let i = 0; i < 1000; i++) set.add(1, ids, 0, i);
  set.rollback();
  t.equal(set.size, 1000);
});

function wordsOf(n: number): Uint32Array {
  return Uint32Array.of(n, 0, 0, n);
}
