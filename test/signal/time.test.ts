import fc from 'fast-check';
import t from 'tap';
import { formatTime, parseTime } from '../../src/signal/time.js';
import { anyCharacter } from '../support/any-character.js';
import { holds } from '../support/property.js';

const EARLIEST = -Number.MAX_SAFE_INTEGER;
const LATEST = Number.MAX_SAFE_INTEGER;
const micros = fc.integer({ min: EARLIEST, max: LATEST });

/** Reference implementation: the platform parser for whole seconds, big integers for the rest. */
function oracle(day: string, time: string, fraction: string, offsetMinutes: number): bigint {
  const seconds = BigInt(Date.parse(`${day}T${time}.000Z`)) * 1000n;
  return seconds + BigInt(fraction.slice(0, 6).padEnd(6, '0')) - BigInt(offsetMinutes) * 60_000_000n;
}

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

void t.test('reads valid date-times', async (t) => {
  const second = Date.parse('2026-11-03T08:15:30.000Z') * 1000;
  const minute = second - 30_000_000;
  const cases: readonly (readonly [string, number])[] = [
    ['2026-11-03T08:15:30Z', second],
    ['2026-11-03t08:15:30z', second],
    ['2026-11-03 08:15:30Z', second],
    ['2026-11-03T08:15:30', second],
    ['2026-11-03T08:15Z', minute],
    ['2026-11-03T08:15', minute],
    ['2026-11-03T08:15+00:00', minute],
    ['2026-11-03T08:15:30.1Z', second + 100_000],
    ['2026-11-03T08:15:30,25Z', second + 250_000],
    ['2026-11-03T08:15:30.123456', second + 123_456],
    ['2026-11-03T08:15:30.123456789Z', second + 123_456],
    ['2026-11-03T08:15:30.000000999Z', second],
    ['2026-11-03T09:15:30+01:00', second],
    ['2026-11-03T09:15:30+0100', second],
    ['2026-11-03T09:15:30+01', second],
    ['2026-11-03T02:45:30-05:30', second],
    ['2026-11-03T08:15:30-00:00', second],
    ['2026-11-04T08:14:30+23:59', second],
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29) * 1000],
    ['1900-02-28T00:00:00Z', Date.UTC(1900, 1, 28) * 1000],
    ['2255-06-05T23:47:34.740991Z', LATEST],
    ['1684-07-28T00:12:25.259009Z', EARLIEST],
  ];
  for (const [text, expected] of cases) t.equal(parseTime(text), expected, text);
});

void t.test('rejects other texts', async (t) => {
  const cases = [
    '',
    'now',
    '2026-11-03',
    '2026-11-03T',
    '2026-11-03T08',
    '2026-11-03T08:1',
    '2026-11-03T08:15:',
    '2026-11-03T08:15:3',
    '2026-11-03T08:15:30.',
    '2026-11-03T08:15:30.Z',
    '2026-11-03T08:15:30.1234567890Z',
    '2026-11-03T08:15.5Z',
    '2026-11-03T08:15:30ZZ',
    '2026-11-03T08:15:30Z ',
    ' 2026-11-03T08:15:30Z',
    '2026-11-03T08:15:30 Z',
    '2026-11-03T08:15:30+1',
    '2026-11-03T08:15:30+01:',
    '2026-11-03T08:15:30+01:0',
    '2026-11-03T08:15:30+01:000',
    '2026-11-03T08:15:30+24:00',
    '2026-11-03T08:15:30+01:60',
    '2026-11-03T08:15:30[Europe/Paris]',
    '2026-11-03T08:15:30\u2212' + '01:00',
    '2026-11-03T24:00:00Z',
    '2026-11-03T08:60:00Z',
    '2026-11-03T08:15:60Z',
    '2026-00-03T08:15:30Z',
    '2026-13-03T08:15:30Z',
    '2026-11-00T08:15:30Z',
    '2026-11-31T08:15:30Z',
    '2026-02-29T08:15:30Z',
    '1900-02-29T08:15:30Z',
    '2026/11/03T08:15:30Z',
    '2026-11-03_08:15:30Z',
    '2026-11-03T08.15.30Z',
    '20261103T081530Z',
    '2026-W45-2T08:15:30Z',
    '-2026-11-03T08:15:30Z',
    '+002026-11-03T08:15:30Z',
    '٢٠٢٦-11-03T08:15:30Z',
    '2O26-11-03T08:15:30Z',
    '1778000000',
    // Not an exact number of microseconds in a double.
    '0001-01-01T00:00:00Z',
    '1684-07-28T00:12:25.259008Z',
    '2255-06-05T23:47:34.740992Z',
    '9999-12-31T23:59:59Z',
  ];
  for (const text of cases) t.equal(parseTime(text), undefined, JSON.stringify(text));
});

void t.test('reads any date-time like an independent parser', async (t) => {
  holds(
    t,
    fc.property(
      fc.integer({ min: 1690, max: 2250 }),
      fc.integer({ min: 0, max: 365 }),
      fc.nat(86_399),
      fc.stringMatching(/^\d{0,9}$/),
      fc.constantFrom('T', 't', ' '),
      fc.constantFrom('.', ','),
      fc.integer({ min: -1439, max: 1439 }),
      fc.constantFrom('', ':'),
      (year, dayOfYear, secondOfDay, fraction, separator, point, offset, colon) => {
        const day = new Date(Date.UTC(year, 0, 1 + dayOfYear)).toISOString().slice(0, 10);
        const time = [Math.floor(secondOfDay / 3600), Math.floor(secondOfDay / 60) % 60, secondOfDay % 60]
          .map((part) => pad(part))
          .join(':');
        const sign = offset < 0 ? '-' : '+';
        const size = Math.abs(offset);
        const zone = `${sign}${pad(Math.floor(size / 60))}${colon}${pad(size % 60)}`;
        const text = `${day}${separator}${time}${fraction === '' ? '' : point + fraction}${zone}`;
        return BigInt(parseTime(text) ?? NaN) === oracle(day, time, fraction, offset);
      },
    ),
    { numRuns: 5000 },
  );
});

void t.test('reads and prints every day of 560 years like the platform', async (t) => {
  let wrong = 0;
  for (let ms = Date.UTC(1690, 0, 1); ms < Date.UTC(2250, 0, 1); ms += 86_400_000) {
    const text = new Date(ms).toISOString();
    if (parseTime(text) !== ms * 1000 || formatTime(ms * 1000) !== text.replace('.000', '')) wrong++;
  }
  t.equal(wrong, 0);
});

void t.test('prints times with the shortest of 0, 3 or 6 digits', async (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '1970-01-01T00:00:00Z'],
    [1, '1970-01-01T00:00:00.000001Z'],
    [1000, '1970-01-01T00:00:00.001Z'],
    [100_000, '1970-01-01T00:00:00.100Z'],
    [100_100, '1970-01-01T00:00:00.100100Z'],
    [-1, '1969-12-31T23:59:59.999999Z'],
    [-1_000_000, '1969-12-31T23:59:59Z'],
    [951_782_400_000_000, '2000-02-29T00:00:00Z'],
    [LATEST, '2255-06-05T23:47:34.740991Z'],
    [EARLIEST, '1684-07-28T00:12:25.259009Z'],
  ];
  for (const [value, expected] of cases) t.equal(formatTime(value), expected);
});

void t.test('formatted times parse back, and milliseconds match the platform format', async (t) => {
  holds(
    t,
    fc.property(micros, (value) => parseTime(formatTime(value)) === value),
    { numRuns: 5000 },
  );
  holds(
    t,
    fc.property(fc.integer({ min: -9e12, max: 9e12 }), (ms) => {
      const expected = new Date(ms).toISOString().replace('.000Z', 'Z');
      return formatTime(ms * 1000) === expected;
    }),
    { numRuns: 5000 },
  );
});

void t.test('never throws for any text', async (t) => {
  holds(
    t,
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const value = parseTime(text);
      return value === undefined || Number.isSafeInteger(value);
    }),
  );
});
