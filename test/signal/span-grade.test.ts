import fc from 'fast-check';
import t from 'tap';
import { gradeFor, gradeOf, microsOf, NO_GRADE, encodeGrade } from '../../src/signal/span-grade.js';
import { holds } from '../support/property.js';

const micros = fc.oneof(
  fc.nat({ max: 1_000 }),
  fc.nat({ max: 2 ** 31 - 1 }),
  fc.integer({ min: -10, max: 2 ** 52 }),
);

void t.test('a grade gives the duration within 1%, or half a microsecond', async (t) => {
  holds(
    t,
    fc.property(micros, (duration) => {
      const [given, found] = [
        Math.max(0, Math.min(duration, 2 ** 40)),
        microsOf(gradeFor('failed', duration)),
      ];
      return found !== null && Math.abs(found - given) <= Math.max(0.01 * given, 0.5);
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

void t.test('a running span has no duration', async (t) => {
  t.equal(gradeOf('running', 5, null), NO_GRADE);
  t.equal(gradeOf('failed', 5, null), 1);
  t.equal(microsOf(1), null);
  t.same([0, 1, 976, 977].map(encodeGrade), [
    '',
    ' that failed',
    ' that took about 1.014 ms',
    ' that took about 1.014 ms and failed',
  ]);
});

void t.test('stored numbers keep their meaning', async (t) => {
  t.same(
    [0, 1, 2, 1_000, 1_000_000, 60_000_000, 2 ** 45].map((end) => gradeOf('completed', 0, end)),
    [256, 258, 330, 974, 1692, 2118, 3138],
  );
  t.same(
    [2, 28, 109, 250].map((grade) => Math.round(microsOf(grade) ?? 0)),
    [109, 1037, 1_062_371, 234_184_752_392],
    'four buckets an octave from 100 us, of earlier versions',
  );
});
