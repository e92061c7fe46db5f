import fc from 'fast-check';
import t from 'tap';
import { retryDelayMs } from '../../../../src/delivery/senders/webhook/retry-plan.js';
import { ATTEMPT_KINDS } from '../../../../src/delivery/senders/webhook/sender.js';
import { holds } from '../../../support/property.js';

const SCHEDULE = [5000, 300_000, 1_800_000];
const REFUSED = { kind: 'refused', statusCode: 500, retryAfterMs: null } as const;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

void t.test('follows the schedule with jitter', async (t) => {
  t.strictSame(
    [0, 1, 2, 3].map((step) => retryDelayMs(SCHEDULE, step, REFUSED, 0.5)),
    [5000, 300_000, 1_800_000, null],
  );
  t.equal(retryDelayMs(SCHEDULE, 1, REFUSED, 0), 240_000);
  t.equal(retryDelayMs(SCHEDULE, 1, REFUSED, 0.999999999), 360_000);
  t.equal(retryDelayMs([], 0, REFUSED, 0.5), null);
  t.equal(retryDelayMs([0], 0, REFUSED, 0.5), 0);
});

void t.test('waits at least a minute for a busy receiver', async (t) => {
  for (const statusCode of [429, 502, 504])
    t.equal(retryDelayMs(SCHEDULE, 0, { ...REFUSED, statusCode }, 0), MINUTE);
  t.equal(retryDelayMs(SCHEDULE, 0, { kind: 'timed_out', statusCode: null, retryAfterMs: null }, 0), MINUTE);
  t.equal(retryDelayMs(SCHEDULE, 0, { ...REFUSED, statusCode: 429 }, 0.75), 66_000);
  t.equal(retryDelayMs(SCHEDULE, 0, { ...REFUSED, statusCode: 503 }, 0.5), 5000);
  t.equal(retryDelayMs(SCHEDULE, 1, { ...REFUSED, statusCode: 429 }, 0.5), 300_000);
});

void t.test('a receiver may request up to a day', async (t) => {
  const asked = (retryAfterMs: number) => retryDelayMs(SCHEDULE, 1, { ...REFUSED, retryAfterMs }, 0.5);
  t.strictSame(
    [0, 299_000, 400_000, 86_400_000, 90_000_000].map(asked),
    [300_000, 300_000, 400_000, 86_400_000, 86_400_000],
  );
});

void t.test('the delay always stays within its bounds', async (t) => {
  holds(
    t,
    fc.property(
      fc.array(fc.integer({ min: 0, max: 30 * 86_400_000 }), { maxLength: 50 }),
      fc.nat(60),
      fc.constantFrom(...ATTEMPT_KINDS),
      fc.option(fc.constantFrom(200, 301, 408, 410, 429, 500, 502, 503, 504)),
      fc.option(fc.integer({ min: 0, max: 1e9 })),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (schedule, step, kind, statusCode, retryAfterMs, random) => {
        const found = retryDelayMs(schedule, step, { kind, statusCode, retryAfterMs }, random);
        const planned = schedule[step];
        if (planned === undefined) return found === null;
        const isBusy = kind === 'timed_out' || [429, 502, 504].includes(statusCode ?? 0);
        const d = isBusy ? Math.max(planned, MINUTE) : planned;
        const asked = Math.min(retryAfterMs ?? 0, DAY);
        return (
          found !== null &&
          Number.isInteger(found) &&
          found >= Math.floor(Math.max(d * 0.8, isBusy ? MINUTE : 0, asked)) &&
          found <= Math.ceil(Math.max(d * 1.2, asked))
        );
      },
    ),
  );
});
