import fc from 'fast-check';
import t from 'tap';
import { dayOf, isTimezone } from '../../src/alerting/days.js';
import { formatTime, parseTime } from '../../src/signal/time.js';
import { holds } from '../support/property.js';

function at(text: string): number {
  return parseTime(text) ?? NaN;
}

const DAYS = [
  ['UTC', '2026-03-29T00:00:00Z', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
  ['UTC', '2026-03-29T23:59:59.999999Z', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
  // 23 and 25 hours.
  ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  ['Europe/Berlin', '2026-10-25T22:59:59.999999Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  // Unusual offsets.
  ['Asia/Kathmandu', '2026-05-01T18:14:59Z', '2026-04-30T18:15:00Z', '2026-05-01T18:15:00Z'],
  ['Pacific/Chatham', '2026-07-01T12:00:00Z', '2026-07-01T11:15:00Z', '2026-07-02T11:15:00Z'],
  ['Pacific/Kiritimati', '2026-07-01T12:00:00Z', '2026-07-01T10:00:00Z', '2026-07-02T10:00:00Z'],
  // Days that start at one o'clock.
  ['America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'],
  ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
  // Clocks set back at midnight to the previous day, and a minute after it.
  ['America/Sao_Paulo', '2018-02-18T02:30:00Z', '2018-02-17T02:00:00Z', '2018-02-18T03:00:00Z'],
  ['America/St_Johns', '2010-11-07T02:45:00Z', '2010-11-07T02:30:00Z', '2010-11-08T03:30:00Z'],
  // A skipped date and a repeated one.
  ['Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
  ['Pacific/Kwajalein', '1993-08-20T13:00:00Z', '1993-08-20T12:00:00Z', '1993-08-21T12:00:00Z'],
] as const;

for (const [timezone, now, from, to] of DAYS)
  void t.test(`the day of ${now} in ${timezone}`, async (t) => {
    const day = dayOf(at(now), timezone);
    t.strictSame({ from: formatTime(day.from), to: formatTime(day.to) }, { from, to });
  });

void t.test('days of any zone are contiguous and match its calendar', async (t) => {
  const zones = Intl.supportedValuesOf('timeZone');
  const dates = new Map<string, Intl.DateTimeFormat>();
  const dateAt = (zone: string, micros: number): string => {
    const known = dates.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
    dates.set(zone, known);
    return known.format(micros / 1000);
  };
  holds(
    t,
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: at('1990-01-01T00:00:00Z'), max: at('2037-01-01T00:00:00Z') }),
      (zone, now) => {
        const day = dayOf(now, zone);
        const before = dayOf(day.from - 1, zone);
        const hours = (day.to - day.from) / 3_600_000_000;
        return (
          day.from <= now &&
          now < day.to &&
          before.to === day.from &&
          hours >= 22 &&
          hours <= 26 &&
          dateAt(zone, day.from - 1000) < dateAt(zone, day.from) &&
          dateAt(zone, day.from) === dateAt(zone, day.from + (day.to - day.from) / 2)
        );
      },
    ),
    { numRuns: 300 },
  );
});

void t.test('accepts only valid time zone names', async (t) => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) t.ok(isTimezone(name), name);
  for (const name of ['', 'Europe/Bonn', 'Berlin time', ' UTC']) t.notOk(isTimezone(name), name);
  t.throws(() => dayOf(0, 'Europe/Bonn'), RangeError);
});
