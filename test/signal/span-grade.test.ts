import fc from 'fast-check';
import t from 'tap';
import { gradeFor, gradeOf, NO_GRADE, encodeGrade } from '../../src/signal/span-grade.js';
import { holds } from '../support/property.js';

const micros = fc.oneof(
  fc.nat({ max: 1_000 }),
  fc.nat({ max: 2 ** 31 - 1 }),
  fc.integer({ min: -10, max: 2 ** 52 }),
);

void t.test('buckets start at their bounds', async (t) => {
  holds(
    t,
    fc.property(micros, (duration) => {
      const bucket = gradeFor('completed', duration) / 2;
      const bound = (n: number): number => Math.round(100 * 2 ** (n / 4));
      const isAbove = bucket === 1 || duration >= bound(bucket - 1);
      const isBelow = bucket === 126 || duration < bound(bucket);
      return Number.isInteger(bucket) && bucket >= 1 && bucket <= 126 && isAbove && isBelow;
    }),
  );
});

void t.test('grades grow with the duration, and a failure is one higher', async (t) => {
  holds(
    t,
    fc.property(micros, micros, (a, b) => {
      const [shorter, longer] = [Math.min(a, b), Math.max(a, b)];
      return (
        gradeFor('completed', shorter) <= gradeFor('completed', longer) &&
        gradeFor('failed', a) === gradeFor('completed', a) + 1 &&
        gradeFor('timed_out', a) === gradeFor('failed', a)
      );
    }),
  );
});

void t.test('a running span has no bucket', async (t) => {
  t.equal(gradeOf('running', 5, null), NO_GRADE);
  t.equal(gradeOf('failed', 5, null), 1);
  t.same([0, 1, 2, 5, 253].map(encodeGrade), [
    '',
    ' that failed',
    ' that took less than 0.119 ms',
    ' that took less than 0.141 ms and failed',
    ' that took very long and failed',
  ]);
  // Stored numbers, which must not change.
  t.same(
    [0, 118, 119, 1_000, 1_000_000, 60_000_000, 252_000_000_000].map((end) => gradeOf('completed', 0, end)),
    [2, 2, 4, 28, 108, 154, 250],
  );
});
