import fc from 'fast-check';
import t from 'tap';
import { withFiring } from '../../src/alerting/evidence.js';
import { tryAlert, type AlertTrial } from '../../src/alerting/try-alert.js';
import { formatTime, parseTime, type Micros } from '../../src/signal/time.js';
import type {
  Alert,
  AlertRule,
  CostStats,
  MetricOperator,
  TargetStats,
} from '../../src/storage/contracts/alerts.js';
import type { AlertingSettings } from '../../src/storage/contracts/coordination.js';
import { neverDiffers, same } from '../support/property.js';
import { AGENT, aComposite, aRule, NOTHING, points, runs, UTC_SETTINGS } from './alert-samples.js';
import { FixedStats, SOURCE } from './fixed-stats.js';

const NOON = at('2026-01-15T12:00:00Z');
const HOUR = 3_600_000_000;

function at(text: string): Micros {
  return parseTime(text) ?? NaN;
}

/** Evaluates a rule over stats and metric series by name. */
async function found(
  rule: AlertRule,
  stats: Partial<TargetStats> | FixedStats,
  {
    now = NOON,
    settings = UTC_SETTINGS,
  }: { readonly now?: Micros; readonly settings?: AlertingSettings } = {},
): Promise<AlertTrial> {
  const isStore = stats instanceof FixedStats;
  const store = isStore ? stats : new FixedStats();
  if (!isStore) store.stats.set(AGENT, { ...NOTHING, ...stats });
  return await tryAlert({ stats: store, source: SOURCE }, rule, settings, now);
}

async function verdictAndValue(...found_: Parameters<typeof found>): Promise<[string, number | null]> {
  const { verdict, value } = await found(...found_);
  return [verdict, value];
}

/** Costs by the start of the day; other days have none. */
function spent(costs: Readonly<Record<string, CostStats>>): FixedStats {
  const store = new FixedStats();
  store.stats.set(AGENT, ({ days }) => ({
    ...NOTHING,
    costs: days.map(({ from }) => costs[formatTime(from)] ?? { cost: 0, priced: 0 }),
  }));
  return store;
}

void t.test('failure_rate', async (t) => {
  const cases: readonly [Partial<Alert>, TargetStats['window'], string, number | null, number?][] = [
    [{ threshold: 0.5 }, runs(4, 3), 'met', 0.75],
    [{ threshold: 0.5 }, runs(4, 2), 'not_met', 0.5],
    [{ threshold: 0.3 }, runs(10, 3), 'not_met', 0.3],
    [{ threshold: 0.07 }, runs(100, 7), 'not_met', 0.07],
    [{ threshold: 0.29 }, runs(100, 30), 'met', 0.3],
    [{ threshold: 0 }, runs(1, 1), 'met', 1],
    [{ threshold: 0 }, runs(1, 0), 'not_met', 0],
    [{ threshold: 1 }, runs(3, 3), 'not_met', 1],
    [{ threshold: 0.5 }, runs(0, 0), 'no_data', null],
    [{ threshold: 0.5 }, null, 'no_data', null],
    [{ threshold: 0.5 }, runs(19, 19), 'no_data', null, 20],
    [{ threshold: 0.5 }, runs(20, 20), 'met', 1, 20],
  ];
  for (const [alert, window, verdict, value, minSamples = 1] of cases) {
    const settings = { ...UTC_SETTINGS, minSamples };
    const result = await verdictAndValue(aRule({ type: 'failure_rate', ...alert }), { window }, { settings });
    t.strictSame(result, [verdict, value], JSON.stringify([alert, window, minSamples]));
  }
});

void t.test('latency_threshold', async (t) => {
  const cases: readonly [TargetStats['window'], string, number | null, number?][] = [
    [runs(2, 0, { p95_ms: 1000.5 }), 'met', 1000.5],
    [runs(2, 0, { p95_ms: 1000 }), 'not_met', 1000],
    [runs(2, 0, { timed: 0, p95_ms: null }), 'no_data', null],
    [null, 'no_data', null],
    [runs(30, 0, { timed: 19, p95_ms: 5000 }), 'no_data', null, 20],
    [runs(30, 0, { timed: 20, p95_ms: 5000 }), 'met', 5000, 20],
  ];
  for (const [window, verdict, value, minSamples = 1] of cases) {
    const rule = aRule({ type: 'latency_threshold', threshold: 1000 });
    const result = await verdictAndValue(rule, { window }, { settings: { ...UTC_SETTINGS, minSamples } });
    t.strictSame(result, [verdict, value], JSON.stringify([window, minSamples]));
  }
});

void t.test('inactivity', async (t) => {
  const rule = aRule({ type: 'inactivity', threshold: 2 });
  t.strictSame(await verdictAndValue(rule, { activeAt: NOON - 2 * HOUR }), ['not_met', 2]);
  t.strictSame(await verdictAndValue(rule, { activeAt: NOON - 2 * HOUR - 1 }), ['met', 2 + 1 / HOUR]);
  t.strictSame(await verdictAndValue(rule, { activeAt: NOON + HOUR }), ['not_met', 0]);
  t.strictSame(await verdictAndValue(rule, { activeAt: null }), ['no_data', null]);
  const short = aRule({ type: 'inactivity', threshold: 0.1 });
  t.strictSame(await verdictAndValue(short, { activeAt: NOON - HOUR / 10 }), ['not_met', 0.1]);
  const { window, sample_count, unit } = await found(rule, { activeAt: NOON - 3 * HOUR });
  t.strictSame([window, sample_count, unit], [{ from: NOON - 3 * HOUR, to: NOON }, 1, 'hours']);
});

void t.test('cost_threshold', async (t) => {
  const rule = aRule({ type: 'cost_threshold', threshold: 1.005 });
  const today = (cost: number, priced = 1): Partial<TargetStats> => ({ costs: [{ cost, priced }] });
  t.strictSame(await verdictAndValue(rule, today(1.005)), ['not_met', 1.005]);
  t.strictSame(await verdictAndValue(rule, today(1.005001)), ['met', 1.005001]);
  t.strictSame(await verdictAndValue(rule, today(0, 0)), ['no_data', null]);
  t.strictSame(await verdictAndValue(rule, today(0, 1)), ['not_met', 0]);
  t.strictSame(await verdictAndValue(rule, {}), ['no_data', null]);
  const { window, unit } = await found(rule, today(1.005001, 7));
  t.strictSame([window, unit], [{ from: at('2026-01-15T00:00:00Z'), to: NOON }, 'usd']);
});

void t.test('a cost never exceeds a threshold written as the same amount', async (t) => {
  const amounts = fc.integer({ min: 1, max: 1e14 });
  await neverDiffers(
    t,
    { runs: 200, ms: 1000 },
    [amounts, fc.integer({ min: -1, max: 1 })],
    async (cost, difference) => {
      const text = `${Math.floor(cost / 1e9)}.${String(cost % 1e9).padStart(9, '0')}`;
      const rule = aRule({ type: 'cost_threshold', threshold: Number(text) });
      const { verdict } = await found(rule, { costs: [{ cost: (cost + difference) / 1e9, priced: 1 }] });
      same(verdict === 'met', difference > 0);
    },
  );
});

void t.test('yesterday counts until one o’clock unless the alert fired on its final cost', async (t) => {
  const costs = {
    '2026-01-14T00:00:00Z': { cost: 9, priced: 3 },
    '2026-01-15T00:00:00Z': { cost: 2, priced: 2 },
  };
  const cases: readonly [string, number, string | null, string, number | null, string, string][] = [
    ['00:00:00', 5, null, 'met', 9, '2026-01-14T00:00:00Z', '2026-01-15T00:00:00Z'],
    ['00:59:59', 5, null, 'met', 9, '2026-01-14T00:00:00Z', '2026-01-15T00:00:00Z'],
    ['01:00:00', 5, null, 'not_met', 2, '2026-01-15T00:00:00Z', '2026-01-15T01:00:00Z'],
    ['00:30:00', 1, null, 'met', 2, '2026-01-15T00:00:00Z', '2026-01-15T00:30:00Z'],
    ['00:30:00', 9, null, 'not_met', 2, '2026-01-15T00:00:00Z', '2026-01-15T00:30:00Z'],
    ['00:30:00', 5, '2026-01-15T00:00:00Z', 'not_met', 2, '2026-01-15T00:00:00Z', '2026-01-15T00:30:00Z'],
    ['00:30:00', 5, '2026-01-14T00:00:00Z', 'not_met', 2, '2026-01-15T00:00:00Z', '2026-01-15T00:30:00Z'],
    ['00:30:00', 5, '2026-01-13T00:00:00Z', 'met', 9, '2026-01-14T00:00:00Z', '2026-01-15T00:00:00Z'],
  ];
  for (const [time, threshold, knownDay, verdict, value, from, to] of cases) {
    const rule: AlertRule = {
      // The firing time does not matter: it may have been about the day before.
      ...aRule({ type: 'cost_threshold', threshold, last_fired_at: at('2026-01-15T00:10:00Z') }),
      evidence: knownDay === null ? null : withFiring(null, SOURCE, [{ day: at(knownDay), cost: 5 }]),
    };
    const result = await found(rule, spent(costs), { now: at(`2026-01-15T${time}Z`) });
    const window = { from: formatTime(result.window.from), to: formatTime(result.window.to) };
    t.strictSame(
      [result.verdict, result.value, window],
      [verdict, value, { from, to }],
      `${time} ${threshold}`,
    );
  }
});

void t.test('time zone days: 23 hours, 25 hours and the first hour of a day', async (t) => {
  const settings = { ...UTC_SETTINGS, timezone: 'Europe/Berlin' };
  const rule = aRule({ type: 'cost_threshold', threshold: 5 });
  const bounds = async (now: string): Promise<string[]> => {
    const store = new FixedStats();
    await found(rule, store, { now: at(now), settings });
    return (store.observed[0]?.days ?? []).map(({ from, to }) => `${formatTime(from)} ${formatTime(to)}`);
  };
  const spring = '2026-03-28T23:00:00Z 2026-03-29T22:00:00Z';
  t.strictSame(await bounds('2026-03-29T21:59:59Z'), [spring]);
  t.strictSame(await bounds('2026-03-29T22:00:00Z'), ['2026-03-29T22:00:00Z 2026-03-30T22:00:00Z', spring]);
  const autumn = '2026-10-24T22:00:00Z 2026-10-25T23:00:00Z';
  t.strictSame(await bounds('2026-10-25T22:59:59Z'), [autumn]);
  t.strictSame(await bounds('2026-10-25T23:59:59Z'), ['2026-10-25T23:00:00Z 2026-10-26T23:00:00Z', autumn]);
  t.strictSame(await bounds('2026-10-26T00:00:00Z'), ['2026-10-25T23:00:00Z 2026-10-26T23:00:00Z']);
});

const CPU = { type: 'metric_threshold', source: 'infra', metric_name: 'cpu' } as const;

void t.test('metric_threshold: any series matches, and the most extreme value is reported', async (t) => {
  const cases: readonly [MetricOperator, number, readonly number[], boolean, number | null][] = [
    ['gt', 80, [10, 81, 20], true, 81],
    ['gt', 80, [80, 10], false, 80],
    ['gte', 80, [80, 10], true, 80],
    ['lt', 5, [9, 4, 4.5], true, 4],
    ['lt', 5, [5, 9], false, 5],
    ['lte', 5, [5, 9], true, 5],
    ['lte', -1, [0], false, 0],
    ['gt', 0, [], false, null],
    ['lt', 0, [], false, null],
  ];
  for (const [operator, value, values, met, observed] of cases) {
    const store = new FixedStats();
    store.metrics.set('cpu', points(values));
    const rule = aComposite('or', { ...CPU, operator, value });
    const result = await found(rule, store);
    const condition = { ...CPU, operator, value, observed, met };
    t.strictSame(result.conditions, [condition], `${operator} ${value} of ${values.join()}`);
    t.equal(result.sample_count, values.length);
    t.equal(result.verdict, met ? 'met' : values.length > 0 ? 'not_met' : 'no_data');
  }
});

void t.test('metric_threshold uses the points of five minutes', async (t) => {
  const store = new FixedStats();
  const result = await found(aComposite('or', { ...CPU, operator: 'gt', value: 1 }), store);
  t.strictSame(result.window, { from: NOON - 300_000_000, to: NOON });
  t.equal(store.observed[0]?.pointsStart, NOON - 300_000_000);
});

void t.test('metric_threshold uses the series of a service, or all series for an agent', async (t) => {
  const store = new FixedStats();
  store.metrics.set('cpu', (service) => points(service === 'billing' ? [10] : [10, 90]));
  const { alert, ...rule } = aComposite('or', { ...CPU, operator: 'gt', value: 50 });
  const target = { agent_id: null, agent_name: null, target_service: 'billing' };
  const ofService = await found({ ...rule, alert: { ...alert, ...target } }, store);
  t.match(ofService, { verdict: 'not_met', sample_count: 1, conditions: [{ observed: 10 }] });
  const ofAgent = await found({ ...rule, alert }, store);
  t.match(ofAgent, { verdict: 'met', sample_count: 2, conditions: [{ observed: 90 }] });
  const asked = store.observed.flatMap(({ metrics }) => metrics.map(({ service }) => service));
  t.strictSame(asked, ['billing', null]);
});

void t.test('composite: unknown conditions are not met, and known ones decide', async (t) => {
  const metric = (value: number | null): FixedStats => {
    const store = new FixedStats();
    store.metrics.set('cpu', points(value === null ? [] : [value]));
    return store;
  };
  const rate = (operator: 'and' | 'or'): AlertRule =>
    aComposite(
      operator,
      { type: 'failure_rate', source: 'ai', threshold: 0.5 },
      { ...CPU, operator: 'gt', value: 50 },
    );
  const [bad, good, none] = [runs(4, 4), runs(4, 0), null];
  const cases: readonly [typeof bad | null, number | null, string, string][] = [
    [bad, 90, 'met', 'met'],
    [bad, 10, 'not_met', 'met'],
    [good, 90, 'not_met', 'met'],
    [good, 10, 'not_met', 'not_met'],
    [none, 90, 'no_data', 'met'],
    [none, 10, 'not_met', 'no_data'],
    [bad, null, 'no_data', 'met'],
    [good, null, 'not_met', 'no_data'],
    [none, null, 'no_data', 'no_data'],
  ];
  for (const [window, cpu, all, any] of cases)
    for (const [operator, verdict] of [
      ['and', all],
      ['or', any],
    ] as const) {
      const store = metric(cpu);
      store.stats.set(AGENT, { ...NOTHING, window });
      const result = await found(rate(operator), store);
      t.strictSame([result.verdict, result.value], [verdict, null], `${operator} ${window?.failed} ${cpu}`);
    }
});

void t.test('a test evaluates active and inactive alerts', async (t) => {
  const result = await found(aRule({ threshold: 0.25, is_active: false }), { window: runs(8, 4) });
  t.strictSame(result, {
    value: 0.5,
    threshold: 0.25,
    unit: 'ratio',
    sample_count: 8,
    verdict: 'met',
    window: { from: NOON - HOUR, to: NOON },
    conditions: [{ type: 'failure_rate', source: 'ai', threshold: 0.25, observed: 0.5, met: true }],
  });
});

void t.test('requests only the stats that conditions need, each target and metric once', async (t) => {
  const store = new FixedStats();
  const threshold = 1;
  const rule = aComposite(
    'and',
    { type: 'cost_threshold', source: 'ai', threshold },
    { type: 'inactivity', source: 'ai', threshold },
    { ...CPU, operator: 'gt', value: 1 },
    { ...CPU, operator: 'lt', value: 9 },
  );
  await found(rule, store);
  const { userId } = rule;
  t.strictSame(store.observed[0]?.targets, [
    { target: { userId, agentId: AGENT }, runs: false, cost: true, activity: true, since: [] },
  ]);
  t.strictSame(store.observed[0]?.metrics, [{ userId, name: 'cpu', service: null, since: [] }]);
});
