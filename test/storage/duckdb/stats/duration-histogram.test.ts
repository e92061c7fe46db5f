import fc from 'fast-check';
import t from 'tap';
import { DurationHistogram } from '../../../../src/storage/duckdb/stats/duration-histogram.js';
import { SortedDurations } from '../../../../src/storage/duckdb/stats/sorted-durations.js';

const duration = fc.oneof(
  fc.constantFrom(0, 5e-324, 0.001, 1, 1.5, 1000, Number.MAX_VALUE),
  fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0),
  fc.integer({ min: 0, max: 50 }),
);

void t.test('a quantile is found among the few values of its range, for any values', async (t) => {
  const found = fc.check(
    fc.property(
      fc.array(duration, { minLength: 1, maxLength: 60 }),
      fc.array(duration, { maxLength: 20 }),
      fc.constantFrom(0, 0.5, 0.95, 1),
      (kept, removed, share) => {
        const histogram = new DurationHistogram();
        for (const value of [...kept, ...removed]) histogram.add(value, 1);
        for (const value of removed) histogram.add(value, -1);
        const place = histogram.find(share);
        if (place === null) throw new Error('there are values');
        const sorted = kept.toSorted((a, b) => a - b);
        const inRange = sorted.filter((value) => value >= place.from && value < place.to);
        const rank = (sorted.length - 1) * share;
        const read = inRange.slice(place.skip, place.skip + place.values);
        const expected = sorted.slice(Math.floor(rank), Math.ceil(rank) + 1);
        return (
          JSON.stringify(read) === JSON.stringify(expected) &&
          place.fraction === rank - Math.floor(rank) &&
          place.count === inRange.length
        );
      },
    ),
    { numRuns: 500 },
  );
  t.notOk(found.failed, fc.defaultReportMessage(found) ?? '');
});

void t.test('the values of a range stay in order while some come and go', async (t) => {
  const found = fc.check(
    fc.property(
      fc.array(duration, { maxLength: 60 }),
      fc.array(duration, { maxLength: 60 }),
      fc.array(fc.nat({ max: 59 }), { maxLength: 20 }),
      fc.tuple(duration, duration),
      (loaded, added, gone, [one, other]) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const isThere = (value: number): boolean => value >= from && value < to;
        const sorted = new SortedDurations({ from, to }, Float64Array.from(loaded.filter(isThere)));
        for (const value of added) sorted.add(value, 1);
        const left = [...loaded, ...added];
        for (const place of gone) for (const value of left.splice(place, 1)) sorted.add(value, -1);
        const expected = left.filter(isThere).sort((a, b) => a - b);
        const read = expected.map((_, place) => sorted.at(from, place));
        return (
          JSON.stringify(read) === JSON.stringify(expected) &&
          sorted.length === expected.length &&
          sorted.at(from, expected.length) === undefined &&
          sorted.covers({ from, to }) &&
          !sorted.covers({ from, to: Infinity })
        );
      },
    ),
    { numRuns: 500 },
  );
  t.notOk(found.failed, fc.defaultReportMessage(found) ?? '');
});

void t.test('without values there is no quantile', async (t) => {
  const histogram = new DurationHistogram();
  t.equal(histogram.find(0.95), null);
  histogram.add(3, 1);
  histogram.add(3, -1);
  t.equal(histogram.find(0.95), null);
});
