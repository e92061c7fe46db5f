import t from 'tap';
import { previewAlert } from '../../src/alerting/preview.js';
import type { Observing, PastStats, TargetStats } from '../../src/storage/contracts/alerts.js';
import { BAD, GOOD, aComposite, aRule, points, runs, NOTHING, USER, UTC_SETTINGS } from './alert-samples.js';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
/** 2026-11-20T12:00:00Z */
const NOW = 1_795_176_000_000_000;

/** A past set by a test, by minutes before now. */
function pastOf(statsAt: (minutesAgo: number) => TargetStats, metric = points([])): PastStats {
  return {
    observe: async (userId: string, requests: readonly Observing[]) => {
      if (userId !== USER) throw new Error('somebody else was asked for');
      return requests.map(({ now, targets, metrics }) => ({
        targets: targets.map(() => statsAt((NOW - now) / MINUTE)),
        metrics: metrics.map(() => metric),
      }));
    },
  };
}

const TEN = { now: NOW, step: 10 * MINUTE, count: 13 };

void t.test('fires when exceeded, and resolves after the quiet period', async (t) => {
  const past = pastOf((ago) => (ago <= 90 && ago > 60 ? BAD : ago > 100 ? NOTHING : GOOD));
  const rule = aRule({ threshold: 0.5, cooldown_minutes: 60 });
  const found = await previewAlert(past, rule, UTC_SETTINGS, TEN);
  t.equal(found.points.length, 13);
  t.same(found.points[0], { at: NOW - 2 * HOUR, value: null, verdict: 'no_data', observed: [null] });
  t.match(found.points[3], { at: NOW - 90 * MINUTE, value: 1, verdict: 'met' });
  t.match(found.points[12], { at: NOW, value: 0, verdict: 'not_met' });
  // Not met at 60 and 50 minutes before now.
  t.same(found.firings, [{ firedAt: NOW - 90 * MINUTE, value: 1, resolvedAt: NOW - 50 * MINUTE }]);
});

void t.test('respects the cooldown, and known data does not fire again', async (t) => {
  const at = (found: { readonly firings: readonly { readonly firedAt: number }[] }) =>
    found.firings.map(({ firedAt }) => (NOW - firedAt) / MINUTE);
  const rule = aRule({ threshold: 0.5, cooldown_minutes: 30 });
  const news = pastOf((ago) => ({ ...NOTHING, window: runs(4, 4, { seq: 1000 - ago }) }));
  t.same(at(await previewAlert(news, rule, UTC_SETTINGS, TEN)), [120, 90, 60, 30, 0]);
  t.same(
    at(
      await previewAlert(
        pastOf(() => BAD),
        rule,
        UTC_SETTINGS,
        TEN,
      ),
    ),
    [120],
    'no new evidence',
  );
  t.same(
    at(
      await previewAlert(
        pastOf(() => GOOD),
        rule,
        UTC_SETTINGS,
        TEN,
      ),
    ),
    [],
  );
});

void t.test('a composite alert reports the value of each condition', async (t) => {
  const rule = aComposite(
    'and',
    { type: 'failure_rate', source: 'ai', threshold: 0.5 },
    { type: 'metric_threshold', source: 'infra', metric_name: 'queue', operator: 'gte', value: 10 },
  );
  const past = pastOf((ago) => (ago < 15 ? BAD : GOOD), points([12]));
  const { points: found, firings } = await previewAlert(past, rule, UTC_SETTINGS, TEN);
  t.same(found[0], { at: NOW - 2 * HOUR, value: null, verdict: 'not_met', observed: [0, 12] });
  t.same(found[12], { at: NOW, value: null, verdict: 'met', observed: [1, 12] });
  t.same(firings, [{ firedAt: NOW - 10 * MINUTE, value: null, resolvedAt: null }]);
});
