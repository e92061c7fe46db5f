import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { NOTHING, points, runs } from '../alerting/alert-samples.js';
import { FixedStats } from '../alerting/fixed-stats.js';
import type { RunKind } from '../../src/signal/span.js';
import type { AlertStats, Observing, Target } from '../../src/storage/contracts/alerts.js';
import { AT_NOON } from '../storage/duckdb/observing.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { aTrace, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const METRIC = 'cpu';

/** Alert stats under test, with one user and one agent. */
interface OpenedStats {
  readonly stats: AlertStats;
  readonly userId: string;
  /** The agent, after its first run. */
  readonly target: () => Promise<Target>;
  /** Adds a run at noon, by default of the agent. */
  readonly run: (failed: boolean, agent?: string, kind?: RunKind) => Promise<void>;
  /** Adds a point of a series at noon. */
  readonly point: (series: string, value: number) => Promise<void>;
}

type OpenStats = (t: Test) => Promise<OpenedStats>;

function onStore(open: OpenTelemetry): OpenStats {
  return async (t) => {
    const { store, addUser } = await open(t);
    const userId = await addUser();
    const received = { receivedAt: NOON };
    return {
      stats: store.stats,
      userId,
      target: async () => ({ userId, agentId: (await store.agents.list(userId))[0]?.id ?? '' }),
      run: async (failed, agent = 'planner', kind = 'agent') => {
        const status = failed ? 'failed' : 'completed';
        const item = aTrace(0, { agent, kind, status, started_at: NOON, ended_at: NOON });
        await store.writer.traces({ tenant: userId, items: [item] }, received);
      },
      point: async (host, value) => {
        const point = aPoint({ stream: aMetric({ name: METRIC }), labels: { host }, timestamp: NOON, value });
        await store.writer.metrics({ tenant: userId, items: [point] }, received);
      },
    };
  };
}

/** The fixed stats of the `alerting` tests, set to what the runs and points amount to. */
async function onFixedStats(): Promise<OpenedStats> {
  const stats = new FixedStats();
  const userId = randomUUID();
  const agentId = randomUUID();
  let [finished, failures, seq] = [0, 0, 0];
  const all = { finished: 0, failures: 0 };
  stats.stats.set(userId, { costs: [], activeAt: null, window: runs(0, 0) });
  const series = new Map<string, number>();
  return {
    stats,
    userId,
    target: async () => ({ userId, agentId }),
    run: async (failed, agent = 'planner', kind = 'agent') => {
      if (kind !== 'agent') return;
      all.finished++;
      if (failed) all.failures++;
      seq++;
      const activeAt = NOON;
      stats.stats.set(userId, { costs: [], activeAt, window: runs(all.finished, all.failures, { seq }) });
      if (agent !== 'planner') return;
      finished++;
      if (failed) failures++;
      stats.examples = failures > 0 ? [randomUUID()] : [];
      stats.stats.set(agentId, { ...NOTHING, window: runs(finished, failures, { seq }) });
    },
    point: async (host, value) => {
      seq++;
      series.set(host, value);
      stats.metrics.set(METRIC, points([...series.values()], seq));
    },
  };
}

function asking(request: Partial<Observing>): Observing {
  return { ...AT_NOON, now: NOON, ...request };
}

function checkStats(t: Test, open: OpenStats): void {
  void t.test('runs: evidence is new relative to each caller', async (t) => {
    const { stats, target, run } = await open(t);
    await run(true);
    const asked = { target: await target(), runs: true, cost: false, activity: false };
    const windowSince = async (...since: string[]) => {
      const { targets } = await stats.observe(asking({ targets: [{ ...asked, since }] }));
      const window = targets[0]?.window;
      if (!window) throw new Error('the window is not known');
      return window;
    };
    const first = await windowSince();
    t.match(first, { finished: 1, failed: 1, isNew: [] });
    t.same((await windowSince(first.evidence)).isNew, [false]);
    await run(false);
    const second = await windowSince(first.evidence, 'none of ours', first.evidence);
    t.match(second, { finished: 2, failed: 1 });
    t.same(second.isNew, [true, true, true]);
    t.same((await windowSince(first.evidence, second.evidence)).isNew, [true, false]);
  });

  void t.test('metrics: a newer point of any series is new', async (t) => {
    const { stats, userId, point } = await open(t);
    const seriesSince = async (...since: string[]) => {
      const metrics = [{ userId, name: METRIC, service: null, since }];
      const [found] = (await stats.observe(asking({ metrics }))).metrics;
      if (!found) throw new Error('nothing is said of the metric');
      return found;
    };
    const none = await seriesSince();
    t.match(none, { series: 0, min: null, max: null });
    t.same((await seriesSince(none.evidence)).isNew, [false]);
    let known = none.evidence;
    for (const [host, value, series] of [
      ['a', 1, 1],
      ['b', 2, 2],
      ['a', 3, 2],
    ] as const) {
      await point(host, value);
      const found = await seriesSince(known, 'none of ours');
      t.match(found, { series });
      t.same(found.isNew, [true, true]);
      known = found.evidence;
      t.same((await seriesSince(known)).isNew, [false]);
    }
  });

  void t.test('all agents count together', async (t) => {
    const { stats, userId, run } = await open(t);
    const asked = { target: { userId, isAllAgents: true as const }, runs: true, cost: false, activity: true };
    const request = asking({ targets: [asked] });
    t.match((await stats.observe(request)).targets, [{ window: { finished: 0 }, activeAt: null }]);
    await run(true);
    await run(false, 'writer');
    await run(true, 'gateway', 'other');
    const [found] = (await stats.observe(request)).targets;
    t.match(found, { window: { finished: 2, failed: 1 }, activeAt: NOON });
    const [examples] = await stats.exampleTraces([
      { target: asked.target, type: 'failure_rate', from: request.windowStart, to: NOON },
    ]);
    t.equal(examples?.length, 1);
  });

  void t.test('unknown targets have no stats', async (t) => {
    const { stats, userId } = await open(t);
    const nobody = { target: { userId, agentId: randomUUID() }, runs: true, cost: true, activity: true };
    const { targets, metrics } = await stats.observe(
      asking({ targets: [nobody], metrics: [{ userId, name: 'nothing', service: null }] }),
    );
    t.same(targets, [{ window: null, costs: [], activeAt: null }]);
    t.match(metrics, [{ series: 0 }]);
    t.same(await stats.exampleTraces([]), []);
  });
}

await onEveryTelemetry(t, (t, open) => {
  checkStats(t, onStore(open));
});
void t.test('on fixed stats', async (t) => {
  checkStats(t, onFixedStats);
});
