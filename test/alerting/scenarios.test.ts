import t from 'tap';
import { tryAlert, type AlertTrial } from '../../src/alerting/try-alert.js';
import type { Alert } from '../../src/storage/contracts/alerts.js';
import type { AlertingSettings } from '../../src/storage/contracts/coordination.js';
import type { MetricPoint } from '../../src/signal/metric.js';
import { NO_NODE } from '../../src/signal/service-map.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { AlertScene } from './alert-scene.js';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const MIDNIGHT = NOON + 12 * HOUR;

/** A run of the alert's agent and its receive time, by default when it ended. */
type Run = Partial<TraceHeader> & { readonly receivedAt?: number };

interface Scenario {
  readonly what: string;
  readonly alert: Pick<Alert, 'type'> & Partial<Alert>;
  readonly runs?: readonly Run[];
  readonly points?: readonly Partial<MetricPoint>[];
  /** Noon by default. */
  readonly now?: number;
  readonly settings?: Partial<AlertingSettings>;
  readonly verdict: AlertTrial['verdict'];
  readonly value: number | null;
}

/** A run that ended this many minutes before noon. */
function ended(minutesAgo: number, changes: Run = {}): Run {
  const at = NOON - minutesAgo * MINUTE;
  return { started_at: at, ended_at: at, ...changes };
}

/** A run that began at this time with a cost in nano-USD. */
function spent(started_at: number, total_cost_usd: number, changes: Run = {}): Run {
  return { started_at, ended_at: started_at, total_cost_usd, ...changes };
}

const failed = { status: 'failed' } as const;
const failures = (threshold: number) => ({ type: 'failure_rate', threshold }) as const;
const silence = (threshold: number) => ({ type: 'inactivity', threshold }) as const;
const costs = (threshold: number) => ({ type: 'cost_threshold', threshold }) as const;
const slowness = (threshold: number) => ({ type: 'latency_threshold', threshold }) as const;
const cpu = (series: string, value: number, minutesAgo = 1): Partial<MetricPoint> => ({
  stream: aMetric({ name: 'cpu.load' }),
  labels: { host: series },
  timestamp: NOON - minutesAgo * MINUTE,
  value,
});
const both = (value: number, threshold = 0.5, operator: 'and' | 'or' = 'and') =>
  ({
    type: 'composite',
    composite_config: {
      operator,
      conditions: [
        { type: 'failure_rate', source: 'ai', threshold },
        { type: 'metric_threshold', source: 'infra', metric_name: 'cpu.load', operator: 'gt', value },
      ],
    },
  }) as const;
const metric = (operator: 'gt' | 'lt' | 'gte' | 'lte', value: number) =>
  ({
    type: 'composite',
    composite_config: {
      operator: 'or',
      conditions: [
        { type: 'failure_rate', source: 'ai', threshold: 1 },
        { type: 'metric_threshold', source: 'infra', metric_name: 'cpu.load', operator, value },
      ],
    },
  }) as const;

const SCENARIOS: readonly Scenario[] = [
  { what: 'no runs', alert: failures(0), verdict: 'no_data', value: null },
  { what: 'one failed run', alert: failures(0.99), runs: [ended(1, failed)], verdict: 'met', value: 1 },
  {
    what: 'one run with min_samples of two',
    alert: failures(0),
    runs: [ended(1, failed)],
    settings: { minSamples: 2 },
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'exactly the threshold',
    alert: failures(0.5),
    runs: [ended(1, failed), ended(2)],
    verdict: 'not_met',
    value: 0.5,
  },
  {
    what: 'just above the threshold',
    alert: failures(0.49),
    runs: [ended(1, failed), ended(2)],
    verdict: 'met',
    value: 0.5,
  },
  {
    what: 'a threshold of 1 is never exceeded',
    alert: failures(1),
    runs: [ended(1, failed)],
    verdict: 'not_met',
    value: 1,
  },
  {
    what: 'a time-out is a failure',
    alert: failures(0),
    runs: [ended(1, { status: 'timed_out' })],
    verdict: 'met',
    value: 1,
  },
  {
    what: 'success takes precedence over the status',
    alert: failures(0.4),
    runs: [ended(1, { ...failed, success: true }), ended(1, { success: false })],
    verdict: 'met',
    value: 0.5,
  },
  {
    what: 'running runs do not count',
    alert: failures(0),
    runs: [ended(1, failed), { started_at: NOON - MINUTE, status: 'running' }],
    verdict: 'met',
    value: 1,
  },
  {
    what: 'only running runs',
    alert: failures(0),
    runs: [{ started_at: NOON - MINUTE, status: 'running' }],
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'exactly an hour ago is outside the window',
    alert: failures(0),
    runs: [ended(60, failed)],
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'just under an hour ago is inside the window',
    alert: failures(0),
    runs: [ended(60, { ...failed, ended_at: NOON - HOUR + 1 })],
    verdict: 'met',
    value: 1,
  },
  {
    what: 'a long run counts when it ends',
    alert: failures(0),
    runs: [{ ...failed, started_at: NOON - 30 * HOUR, ended_at: NOON - MINUTE }],
    verdict: 'met',
    value: 1,
  },
  {
    what: 'late data within the window',
    alert: failures(0),
    runs: [ended(59, { ...failed, receivedAt: NOON })],
    verdict: 'met',
    value: 1,
  },
  {
    what: 'late data from before the window',
    alert: failures(0),
    runs: [ended(61, { ...failed, receivedAt: NOON })],
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'a sender whose clock is ahead',
    alert: failures(0),
    runs: [ended(-30, { ...failed, receivedAt: NOON - MINUTE })],
    verdict: 'met',
    value: 1,
  },
  {
    what: 'a custom window',
    alert: failures(0),
    runs: [ended(6, failed)],
    settings: { windowMs: 300_000 },
    verdict: 'no_data',
    value: null,
  },

  { what: 'no agent with this name', alert: silence(1), verdict: 'no_data', value: null },
  {
    what: 'exactly the threshold of inactivity',
    alert: silence(2),
    runs: [ended(120)],
    verdict: 'not_met',
    value: 2,
  },
  {
    what: 'a microsecond longer',
    alert: silence(2),
    runs: [ended(120, { started_at: NOON - 2 * HOUR - 1, ended_at: null })],
    verdict: 'met',
    value: 2 + 1 / HOUR,
  },
  {
    what: 'the end of a long run counts',
    alert: silence(1),
    runs: [{ started_at: NOON - 9 * HOUR, ended_at: NOON - HOUR / 2 }],
    verdict: 'not_met',
    value: 0.5,
  },
  {
    what: 'the last of many runs counts',
    alert: silence(1),
    runs: [ended(300), ended(90), ended(600)],
    verdict: 'met',
    value: 1.5,
  },

  { what: 'no costs', alert: costs(0), runs: [ended(1)], verdict: 'no_data', value: null },
  {
    what: 'exactly the budget',
    alert: costs(1.005),
    runs: [spent(NOON - HOUR, 1_004_999_000), spent(NOON, 1_000)],
    verdict: 'not_met',
    value: 1.005,
  },
  {
    what: 'a millionth above the budget',
    alert: costs(1.005),
    runs: [spent(NOON, 1_005_000_000), spent(NOON, 1_000)],
    verdict: 'met',
    value: 1.005001,
  },
  {
    what: 'just before midnight counts today',
    alert: costs(1),
    runs: [spent(MIDNIGHT - 2, 2_000_000_000)],
    now: MIDNIGHT - 1,
    verdict: 'met',
    value: 2,
  },
  {
    what: 'just after midnight counts yesterday, for an hour',
    alert: costs(1),
    runs: [spent(MIDNIGHT - 2, 2_000_000_000)],
    now: MIDNIGHT + HOUR - 1,
    verdict: 'met',
    value: 2,
  },
  {
    what: 'after one o’clock yesterday no longer counts',
    alert: costs(1),
    runs: [spent(MIDNIGHT - 2, 2_000_000_000)],
    now: MIDNIGHT + HOUR,
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'the first moment of a day belongs to it',
    alert: costs(1),
    runs: [spent(MIDNIGHT, 2_000_000_000)],
    now: MIDNIGHT + 2 * HOUR,
    verdict: 'met',
    value: 2,
  },
  {
    what: 'a day of 23 hours in Berlin, at 23:30 the day before',
    alert: costs(1),
    // 2026-03-29 starts at 23:00Z and ends at 22:00Z.
    runs: [
      spent(Date.UTC(2026, 2, 28, 22, 59) * 1000, 5_000_000_000),
      spent(Date.UTC(2026, 2, 28, 23) * 1000, 2_000_000_000),
    ],
    now: Date.UTC(2026, 2, 29, 21, 59) * 1000,
    settings: { timezone: 'Europe/Berlin' },
    verdict: 'met',
    value: 2,
  },
  {
    what: 'the last hour of a day of 25 hours in Berlin',
    alert: costs(1),
    // 2026-10-25 starts at 22:00Z and ends at 23:00Z.
    runs: [
      spent(Date.UTC(2026, 9, 24, 22) * 1000, 2_000_000_000),
      spent(Date.UTC(2026, 9, 24, 21, 59) * 1000, 5_000_000_000),
    ],
    now: Date.UTC(2026, 9, 25, 22, 59) * 1000,
    settings: { timezone: 'Europe/Berlin' },
    verdict: 'met',
    value: 2,
  },

  {
    what: 'no durations',
    alert: slowness(1),
    runs: [{ started_at: NOON - MINUTE }],
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'one run',
    alert: slowness(99),
    runs: [ended(1, { duration_ms: 100 })],
    verdict: 'met',
    value: 100,
  },
  {
    what: 'exactly the latency threshold',
    alert: slowness(100),
    runs: [ended(1, { duration_ms: 100 })],
    verdict: 'not_met',
    value: 100,
  },
  {
    what: 'between two runs',
    alert: slowness(1),
    runs: Array.from({ length: 11 }, (_, i) => ended(1, { duration_ms: i * 10 })),
    verdict: 'met',
    value: 95,
  },

  {
    what: 'one series is enough',
    alert: both(0.9),
    runs: [ended(1, failed)],
    points: [cpu('a', 0.1), cpu('b', 0.95)],
    verdict: 'met',
    value: null,
  },
  {
    what: 'the newest point of a series counts',
    alert: both(0.9),
    runs: [ended(1, failed)],
    points: [cpu('a', 0.95, 2), cpu('a', 0.5, 1)],
    verdict: 'not_met',
    value: null,
  },
  {
    what: 'a metric without points for five minutes is unknown',
    alert: both(0.9),
    runs: [ended(1, failed)],
    points: [cpu('a', 0.95, 5)],
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'a metric with a more recent point is known',
    alert: both(0.9),
    runs: [ended(1, failed)],
    points: [cpu('a', 0.95, 4.99)],
    verdict: 'met',
    value: null,
  },
  {
    what: 'and: both must be met',
    alert: both(0.9, 1),
    runs: [ended(1, failed)],
    points: [cpu('a', 0.95)],
    verdict: 'not_met',
    value: null,
  },
  {
    what: 'or: one is enough',
    alert: both(0.9, 1, 'or'),
    runs: [ended(1, failed)],
    points: [cpu('a', 0.95)],
    verdict: 'met',
    value: null,
  },
  {
    what: 'or: one is enough while the other is unknown',
    alert: both(0.9, 0.5, 'or'),
    points: [cpu('a', 0.95)],
    verdict: 'met',
    value: null,
  },
  {
    what: 'greater',
    alert: metric('gt', 0.5),
    runs: [ended(1)],
    points: [cpu('a', 0.5)],
    verdict: 'not_met',
    value: null,
  },
  {
    what: 'greater or equal',
    alert: metric('gte', 0.5),
    runs: [ended(1)],
    points: [cpu('a', 0.5)],
    verdict: 'met',
    value: null,
  },
  {
    what: 'less',
    alert: metric('lt', 0.5),
    runs: [ended(1)],
    points: [cpu('a', 0.5), cpu('b', 0.4)],
    verdict: 'met',
    value: null,
  },
  {
    what: 'a longer window of its own',
    alert: { ...failures(0), window_minutes: 180 },
    runs: [ended(120, failed)],
    verdict: 'met',
    value: 1,
  },
  {
    what: 'before its own window',
    alert: { ...failures(0), window_minutes: 5 },
    runs: [ended(10, failed)],
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'fewer runs than its own minimum',
    alert: { ...slowness(1), min_samples: 2 },
    runs: [ended(1, { duration_ms: 5 })],
    verdict: 'no_data',
    value: null,
  },
  {
    what: 'all agents, without traces of services',
    alert: { ...failures(0.4), target_service: null },
    runs: [ended(1, failed), ended(2, { agent: 'writer' }), ended(3, { ...failed, kind: 'other' })],
    verdict: 'met',
    value: 0.5,
  },
  {
    what: 'all agents',
    alert: { ...costs(0.02), target_service: null },
    runs: [spent(NOON, 10_000_000), spent(NOON, 20_000_000, { agent: 'writer' })],
    verdict: 'met',
    value: 0.03,
  },
  {
    what: 'the last of all agents',
    alert: { ...silence(0.1), target_service: null },
    runs: [ended(60), ended(15, { agent: 'writer' }), ended(1, { kind: 'other' })],
    verdict: 'met',
    value: 0.25,
  },
  {
    what: 'less or equal',
    alert: metric('lte', 0.5),
    runs: [ended(1)],
    points: [cpu('a', 0.6), cpu('b', 0.5)],
    verdict: 'met',
    value: null,
  },
];

void t.test('evaluates ingested data as expected', async (t) => {
  const scene = await AlertScene.open(t);
  for (const { what, alert, runs = [], points = [], now = NOON, settings, verdict, value } of SCENARIOS) {
    await scene.newUser();
    const tenant = scene.user;
    for (const { receivedAt, ...run } of runs) {
      const trace = aHeader(run);
      const came = receivedAt ?? Math.min(now, trace.ended_at ?? trace.started_at);
      await scene.store.writer.traces({ tenant, items: [{ trace, spans: [] }] }, { receivedAt: came });
    }
    if (points.length > 0)
      await scene.store.writer.metrics({ tenant, items: points.map(aPoint) }, { receivedAt: now });
    const rule = await scene.addRule(alert);
    const found = await tryAlert(await scene.source(), rule, { ...scene.settings, ...settings }, now);
    t.strictSame(
      { verdict: found.verdict, value: found.value },
      { verdict, value },
      `${alert.type}: ${what}`,
    );
  }
});

void t.test('the 95th percentile equals that of the API', async (t) => {
  const scene = await AlertScene.open(t);
  const tenant = scene.user;
  const items = Array.from({ length: 237 }, (_, i) => ({
    trace: aHeader({ started_at: NOON - MINUTE, ended_at: NOON, duration_ms: ((i * 7919) % 10_007) + 0.25 }),
    spans: [],
  }));
  await scene.store.writer.traces({ tenant, items }, { receivedAt: NOON });
  const [agent] = await scene.store.agents.list(tenant);
  const [compared] = (await scene.store.agents.compare(tenant, [agent?.id ?? ''])) ?? [];
  const range = { from: NOON - 12 * HOUR, to: MIDNIGHT - 1 };
  const days = await scene.store.agents.days(tenant, agent?.id ?? '', range);
  const agent_id = agent?.id ?? '';
  const rule = await scene.addRule({ type: 'latency_threshold', agent_id, threshold: 1 });
  const found = await tryAlert(await scene.source(), rule, scene.settings, NOON);
  t.equal(found.value, days?.days[0]?.p95_latency_ms);
  // The days interpolate separately, which may change the last digit.
  t.equal(found.value?.toPrecision(14), compared?.p95_latency_ms?.toPrecision(14));
  t.equal(found.sample_count, 237);
});

void t.test('evaluates a service by its spans and its own metrics', async (t) => {
  const scene = await AlertScene.open(t);
  const tenant = scene.user;
  const trace = aHeader({ started_at: NOON - 2 * MINUTE, ended_at: NOON - MINUTE });
  const call = (status: 'completed' | 'failed', host: string) =>
    aSpanRecord(trace.trace_id, {
      type: 'http',
      status,
      started_at: NOON - 2 * MINUTE,
      ended_at: NOON - MINUTE,
      duration_ms: 250,
      cost_usd: 10_000_000,
      input_data: { url: `https://${host}/v1` },
    });
  const spans = [
    call('failed', 'api.example'),
    call('completed', 'api.example'),
    call('completed', 'other.example'),
  ];
  const nodes = [1, 1, 2];
  const service_map = {
    spanIds: [spans.map(({ span_id }) => span_id)],
    derived: {
      names: ['researcher', 'api.example', 'other.example'],
      nodes: Int32Array.from(nodes),
      callers: Int32Array.from(spans, () => NO_NODE),
    },
  };
  await scene.store.writer.traces({ tenant, items: [{ trace, spans }], service_map }, { receivedAt: NOON });
  const points = [
    { ...cpu('a', 0.95), labels: { service_name: 'other.example' } },
    { ...cpu('b', 0.5), labels: { service_name: 'api.example' } },
  ].map(aPoint);
  await scene.store.writer.metrics({ tenant, items: points }, { receivedAt: NOON });
  for (const [alert, expected] of [
    [failures(0.4), { verdict: 'met', value: 0.5 }],
    [slowness(200), { verdict: 'met', value: 250 }],
    [costs(0.02), { verdict: 'not_met', value: 0.02 }],
    [silence(0.01), { verdict: 'met', value: 1 / 60 }],
    [both(0.9, 0.4), { verdict: 'not_met', value: null }],
    [both(0.4, 0.4), { verdict: 'met', value: null }],
  ] as const) {
    const rule = await scene.addRule({ ...alert, target_service: 'api.example' });
    const { verdict, value } = await tryAlert(await scene.source(), rule, scene.settings, NOON);
    t.strictSame({ verdict, value }, expected, alert.type);
  }
});
