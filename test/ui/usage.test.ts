import t from 'tap';
import { forecast } from '../../src/ui/pages/usage/forecast.js';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const RESETS = '2026-12-01T00:00:00Z';

function days(...events: readonly (number | null)[]) {
  return events.map((count, at) => ({
    date: new Date(NOW - (events.length - 1 - at) * 86_400_000).toISOString().slice(0, 10),
    events: count,
  }));
}

void t.test('forecasts a month from its last whole days', async (t) => {
  const shown = forecast(1000, null, days(9999, 10, 10, 10, 10, 10, 10, 10, 5), RESETS, NOW);
  t.match(shown, { perDay: 10, days: 7, total: 1045, reachedOn: null }, 'a week, excluding today');
});

void t.test('names the day of reaching the limit within this month', async (t) => {
  t.match(forecast(80, 100, days(10, 10, 3), RESETS, NOW), { total: 125, reachedOn: '2026-11-28' });
  t.match(forecast(10, 100, days(10, 10, 3), RESETS, NOW), { total: 55, reachedOn: null });
  t.match(forecast(10, 100, days(0, 0, 3), RESETS, NOW), { total: 10, reachedOn: null });
});

void t.test('forecasts nothing without two whole days', async (t) => {
  t.equal(forecast(10, 100, days(null, 10, 3), RESETS, NOW), null);
});
