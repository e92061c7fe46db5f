import fc from 'fast-check';
import t from 'tap';
import { NewestStarts } from '../../../../src/storage/duckdb/stats/newest-starts.js';

const step = fc.record({
  /** A small range for many equal starts, mostly ascending as usual. */
  start: fc.integer({ min: -50, max: 2000 }),
  remove: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
});

void t.test('the newest starts match a model', async (t) => {
  const found = fc.check(
    fc.property(fc.array(step, { maxLength: 1500, size: 'max' }), (steps) => {
      const starts = NewestStarts.make();
      const all: number[] = [];
      for (const { start, remove } of steps) {
        if (!remove) {
          starts.add(start);
          all.push(start);
        } else if (all.length > 0) {
          const [gone = 0] = all.splice(Math.abs(start) % all.length, 1);
          starts.remove(gone);
        }
      }
      all.sort((a, b) => b - a);
      for (let n = 1; n <= all.length + 1; n++) {
        const known = starts.get(n);
        if (known !== null && known !== all[n - 1]) return false;
      }
      return true;
    }),
    { numRuns: 200 },
  );
  t.notOk(found.failed, fc.defaultReportMessage(found) ?? '');
});

void t.test('keeps the newest 512 starts, and all of them below that', async (t) => {
  const starts = NewestStarts.make();
  for (let start = 1; start <= 512; start++) starts.add(start);
  t.equal(starts.get(1), 512);
  t.equal(starts.get(512), 1);
  t.equal(starts.get(513), null);
  for (let start = 513; start <= 2000; start++) starts.add(start);
  t.equal(starts.get(1), 2000);
  t.equal(starts.get(512), 1489);
  starts.remove(2000);
  t.equal(starts.get(1), 1999);
  t.equal(starts.get(512), null, 'the next one was dropped');
});
