import fc from 'fast-check';
import t from 'tap';
import { KeptDurations } from '../../../../src/storage/duckdb/write/kept-durations.js';

const duration = fc.oneof(
  fc.constantFrom(0, 5e-324, 0.001, 1, 1.5, 1000, Number.MAX_VALUE / 100),
  fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0),
  fc.integer({ min: 0, max: 50 }),
);

void t.test('a quantile lies between the values of its rank', async (t) => {
  const found = fc.check(
    fc.property(
      fc.array(duration, { minLength: 1, maxLength: 60 }),
      fc.array(duration, { maxLength: 20 }),
      fc.constantFrom(0, 0.5, 0.95, 1),
      (kept, removed, share) => {
        const durations = new KeptDurations();
        for (const value of [...kept, ...removed]) durations.add(value);
        for (const value of removed) durations.remove(value);
        const sorted = kept.toSorted((a, b) => a - b);
        const rank = (sorted.length - 1) * share;
        const [lower = NaN, upper = NaN] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
        return (
          durations.count === kept.length &&
          durations.quantile(share) === lower + (upper - lower) * (rank - Math.floor(rank))
        );
      },
    ),
    { numRuns: 500 },
  );
  t.notOk(found.failed, fc.defaultReportMessage(found) ?? '');
});

void t.test('an empty set has no quantile', async (t) => {
  const durations = new KeptDurations();
  t.equal(durations.quantile(0.95), null);
  durations.add(3);
  durations.remove(3);
  t.equal(durations.quantile(0.95), null);
  durations.remove(3);
  t.equal(durations.count, 0);
});
