import fc from 'fast-check';
import t from 'tap';
import { bucketAt, bucketTimes, valuesAt } from '../../src/ui/charts/buckets.js';
import { DURATION_STEPS, HOUR_STEPS, isolated, valueRange } from '../../src/ui/charts/values.js';

const HOUR = 3_600_000;

void t.test('includes empty buckets', async (t) => {
  const answer = {
    interval: '1h',
    start_time: '2026-11-24T10:20:00Z',
    end_time: '2026-11-24T13:00:00Z',
  } as const;
  const times = bucketTimes(answer);
  t.same(
    times.map((ms) => new Date(ms).toISOString()),
    ['2026-11-24T10:00:00.000Z', '2026-11-24T11:00:00.000Z', '2026-11-24T12:00:00.000Z'],
  );
  const buckets = [{ start: '2026-11-24T11:00:00Z', runs: 3, p95_ms: null }];
  t.same(
    valuesAt(times, buckets, ({ runs }) => runs, 0),
    [0, 3, 0],
  );
  t.same(
    valuesAt(times, buckets, ({ p95_ms }) => p95_ms, null),
    [null, null, null],
  );
});

void t.test('a time belongs to the bucket that starts before it', async (t) => {
  const times = [10, 20, 30];
  t.same(
    [9, 10, 19, 20, 31].map((ms) => bucketAt(times, ms)),
    [null, 0, 0, 1, 2],
  );
  t.equal(bucketAt([], 1), null);
});

void t.test('durations use clock steps in both units', async (t) => {
  t.same(
    DURATION_STEPS,
    DURATION_STEPS.toSorted((a, b) => a - b),
  );
  for (const step of [50, 15_000, 30_000, 60_000, 2 * HOUR, 6 * HOUR, 24 * HOUR])
    t.ok(DURATION_STEPS.includes(step), String(step));
  t.notOk(DURATION_STEPS.includes(50_000));
  t.same(
    HOUR_STEPS.map((hours) => Math.round(hours * HOUR * 1000)),
    DURATION_STEPS.map((ms) => Math.round(ms * 1000)),
  );
});

void t.test('every bucket maps to its time, also before 1970', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e12, max: 4e12 }),
      fc.integer({ min: 1, max: 200 }),
      fc.nat(),
      (start, hours, which) => {
        const end = start + hours * HOUR;
        const times = bucketTimes({
          interval: '1h',
          start_time: new Date(start).toISOString(),
          end_time: new Date(end).toISOString(),
        });
        const at = Math.floor((start + (which % (end - start))) / HOUR) * HOUR;
        const values = valuesAt(times, [{ start: new Date(at).toISOString() }], () => 1, 0);
        return values.filter((value) => value === 1).length === 1;
      },
    ),
  );
});

void t.test('finds isolated values, which are drawn as points', async (t) => {
  t.same(isolated([1, null, 2, 3, null, 0]), [0, 5]);
  t.same(isolated([]), []);
});

void t.test('the value axis starts at zero, has headroom and is never empty', async (t) => {
  const cases: readonly (readonly [Parameters<typeof valueRange>, readonly [number, number]])[] = [
    [
      [null, null, undefined],
      [0, 1],
    ],
    [
      [50, 100, undefined],
      [0, 108],
    ],
    [
      [1, 2, 100],
      [0, 108],
    ],
    [
      [-100, -50, undefined],
      [-108, 0],
    ],
  ];
  for (const [given, range] of cases) t.same(valueRange(...given), range);
});
