import fc from 'fast-check';
import t from 'tap';
import { formatDuration } from '../../src/ui/format/duration.js';
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatMoney,
  formatPercentage,
  unitName,
} from '../../src/ui/format/number.js';
import {
  formatClock,
  formatRelative,
  formatTime,
  formatTimeExactly,
  zoneLabel,
} from '../../src/ui/format/time.js';

void t.test('formats money with significant digits', async (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '$0'],
    [1e-9, '<$0.000001'],
    [0.003742, '$0.00374'],
    [0.9999, '$1.00'],
    [12.345, '$12.35'],
    [1234.4, '$1,234'],
    [2_500_000, '$2.50M'],
    [-0.5, '−$0.50'],
    [0.05, '$0.05'],
    [0.050_028_3, '$0.0500'],
    [0.1 + 0.2, '$0.30'],
  ];
  for (const [usd, text] of cases) t.equal(formatMoney(usd), text);
});

void t.test('formats durations with three digits or two units', async (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0 ms'],
    [0.001, '<0.01 ms'],
    [0.42, '0.42 ms'],
    [319, '319 ms'],
    [999.6, '1.00 s'],
    [4523, '4.52 s'],
    [42_000, '42 s'],
    [42_013, '42.0 s'],
    [59_999, '1 min'],
    [71_169, '1 m 11 s'],
    [3_599_600, '1 h'],
    [7_500_000, '2 h 05 m'],
    [86_399_000, '1 d'],
    [273_600_000, '3 d 04 h'],
  ];
  for (const [ms, text] of cases) t.equal(formatDuration(ms), text);
});

void t.test('never prints 60 s, 60 min or 1000 ms', async (t) => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e10, noNaN: true }), (ms) => {
      return !/\b60[sm]\b|\b24h\b|\b1000 ms|\b60(\.0)? s/.test(formatDuration(ms));
    }),
  );
  t.pass();
});

void t.test('formats counts, ratios and sizes', async (t) => {
  t.equal(formatCount(12_345), '12,345');
  t.equal(formatCount(1_234_567), '1.23M');
  t.equal(formatCounted(1, 'run'), '1 run');
  t.equal(formatCounted(2, 'entry', 'entries'), '2 entries');
  t.equal(formatPercentage(0.04), '<0.1%');
  t.equal(formatPercentage(99.96), '>99.9%', 'less than everything is not 100%');
  t.equal(formatPercentage(100), '100%');
  t.equal(formatPercentage(111.4), '111%');
  t.equal(formatPercentage(80), '80%');
  t.equal(formatPercentage(79.97), '80.0%', 'rounded zeros are shown');
  t.equal(formatPercentage(0.07 * 100), '7%');
  t.equal(unitName('{request}'), 'request');
  t.equal(unitName('1'), '');
  t.equal(unitName('By'), 'bytes');
  t.equal(unitName('ms'), 'ms');
  t.equal(formatBytes(1023), '1,023 B');
  t.equal(formatBytes(65_536), '64 KB');
  t.equal(formatBytes(1024 * 1024 - 1), '1 MB');
});

void t.test('times include their zone', async (t) => {
  const at = Date.parse('2026-11-24T14:30:43.253Z');
  t.equal(formatTime(at, 'utc'), '2026-11-24 14:30:43');
  t.equal(formatTimeExactly(at, 'utc'), '2026-11-24 14:30:43.253 UTC');
  t.equal(formatClock(at, 'utc'), '14:30:43.253');
  t.equal(formatRelative(at, at + 200_000), '3 min ago');
  t.equal(formatRelative(at, at - 60_000), 'in 1 min');
  t.equal(formatRelative(at, at + 3 * 86_400_000), '3 d ago');
  const before = process.env['TZ'];
  t.teardown(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
  process.env['TZ'] = 'Asia/Kathmandu';
  t.equal(zoneLabel(at, 'local'), 'UTC+5:45');
  t.equal(formatTime(at, 'local'), '2026-11-24 20:15:43');
  process.env['TZ'] = 'America/New_York';
  t.equal(zoneLabel(Date.parse('2026-07-01T00:00:00Z'), 'local'), 'UTC−4', 'in summer');
  t.equal(zoneLabel(at, 'local'), 'UTC−5', 'in winter');
});
