import fc from 'fast-check';
import t from 'tap';
import type { Alert } from '../../src/storage/contracts/alerts.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader } from '../support/run-records.js';
import { AlertScene, newTraceId } from './alert-scene.js';
import {
  expectAt,
  newExpected,
  type Expected,
  type Known,
  type KnownPoint,
  type KnownRun,
} from './alert-oracle.js';

const MINUTE = 60_000_000;
const DAY = 24 * 60 * MINUTE;
const INTERVAL_MS = 600_000;
const AGENTS = ['planner', 'writer'] as const;
const METRIC = 'cpu.load';

t.setTimeout(0);

const agent = fc.constantFrom(...AGENTS);
const duration = fc.constantFrom(null, 0, 100, 100.5, 2000, 30_000);
const cost = fc.constantFrom(null, 0, 1, 400_000_000, 500_000_000, 1_500_000_000);
/** Minutes since the run began, and its duration. */
const runStep = fc.record({
  kind: fc.constant('run' as const),
  agent,
  status: fc.constantFrom('running', 'completed', 'completed', 'failed', 'timed_out'),
  success: fc.constantFrom(null, null, true, false),
  ago: fc.constantFrom(0, 1, 5, 30, 59, 60, 61, 200, 1500),
  took: fc.constantFrom(null, 0, 1, 5, 59, 2000),
  durationMs: duration,
  cost,
});
const completeStep = fc.record({
  kind: fc.constant('complete' as const),
  which: fc.nat(),
  status: fc.constantFrom('completed' as const, 'failed' as const),
  durationMs: duration,
  cost,
});
const outcomeStep = fc.record({
  kind: fc.constant('outcome' as const),
  which: fc.nat(),
  success: fc.boolean(),
});
const pointStep = fc.record({
  kind: fc.constant('point' as const),
  series: fc.constantFrom('a', 'b'),
  ago: fc.constantFrom(0, 1, 4, 5, 6, -1),
  value: fc.constantFrom(0, 0.5, 0.9, 0.95, 2),
});
const tickStep = fc.record({ kind: fc.constant('tick' as const) });
const pauseStep = fc.record({
  kind: fc.constant('pause' as const),
  minutes: fc.constantFrom(1, 30, 90, 700, 1500),
});
const step = fc.oneof(
  { weight: 6, arbitrary: runStep },
  { weight: 2, arbitrary: completeStep },
  { weight: 2, arbitrary: outcomeStep },
  { weight: 3, arbitrary: pointStep },
  { weight: 8, arbitrary: tickStep },
  { weight: 1, arbitrary: pauseStep },
);

const metricCondition = fc.record({
  type: fc.constant('metric_threshold' as const),
  source: fc.constant('infra' as const),
  metric_name: fc.constant(METRIC),
  operator: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const),
  value: fc.constantFrom(0.5, 0.9),
});
const thresholds = {
  failure_rate: [0, 0.25, 0.5, 1],
  inactivity: [0.5, 1, 24],
  cost_threshold: [0, 0.4, 0.5, 1.9],
  latency_threshold: [0, 100, 1500],
} as const;
type Simple = keyof typeof thresholds;
const simple = (types: readonly Simple[]) =>
  fc
    .constantFrom(...types)
    .chain((type) => fc.record({ type: fc.constant(type), threshold: fc.constantFrom(...thresholds[type]) }));
const composite = fc.record({
  type: fc.constant('composite' as const),
  threshold: fc.constant(0),
  composite_config: fc.record({
    operator: fc.constantFrom('and' as const, 'or' as const),
    conditions: fc
      .tuple(simple(['failure_rate', 'inactivity', 'cost_threshold']), metricCondition)
      .map(([ai, infra]) => [{ ...ai, source: 'ai' as const }, infra]),
  }),
});
const rule = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: simple(['failure_rate', 'inactivity', 'cost_threshold', 'latency_threshold']) },
      { weight: 2, arbitrary: composite },
    ),
    agent,
    fc.constantFrom(0, 10, 60),
  )
  .map(([definition, target_service, cooldown_minutes]) => ({
    ...definition,
    target_service,
    cooldown_minutes,
  }));

void t.test('alerts match an oracle over all stored data', async (t) => {
  // In the evening, so that midnight is crossed.
  const now = Date.UTC(2026, 0, 15, 22, 30) * 1000;
  const scene = await AlertScene.open(t, {}, { intervalMs: INTERVAL_MS, now });
  const rules = fc.array(rule, { minLength: 3, maxLength: 6 });
  const steps = fc.array(step, { minLength: 10, maxLength: 40 });
  const presence = { beat: now, graceUntil: 0 };
  await neverDiffers(t, { runs: 60, ms: 2500 }, [rules, steps], async (rules, steps) => {
    await scene.newUser();
    const play = new Play(scene, presence);
    for (const definition of rules) await play.add(definition);
    await play.start();
    for (const one of steps) await play.take(one);
    await play.end();
    for (const { alert, expected } of play.rules) {
      const events = await scene.firings(alert.id);
      same(events.map(shown), expected.events.map(shown));
      await scene.control.alerts.delete(scene.user, alert.id);
    }
  });
  t.same(scene.logger.lines, []);
});

/** Two interpolations may differ in the last digit. */
function shown({ fired_at, value, resolved_at }: Expected['events'][number]) {
  return { fired_at, value: value === null ? null : Number(value.toPrecision(12)), resolved_at };
}

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** The daemon's recorded absences, independent of users. */
interface Presence {
  /** The last beat before the daemon stopped; stops within the grace period leave it unchanged. */
  beat: number;
  graceUntil: number;
}

/** Plays a scenario on the store and the oracle. */
class Play {
  readonly rules: { readonly alert: Alert; readonly agent: string; readonly expected: Expected }[] = [];
  readonly #scene: AlertScene;
  readonly #runs: (KnownRun & { readonly id: string })[] = [];
  readonly #points: KnownPoint[] = [];
  #changes = 0;
  readonly #presence: Presence;
  #lastLook: number;

  constructor(scene: AlertScene, presence: Presence) {
    this.#scene = scene;
    this.#presence = presence;
    this.#lastLook = presence.beat;
  }

  async add(definition: Pick<Alert, 'type'> & Partial<Alert>): Promise<void> {
    const alert = await this.#scene.addAlert(definition);
    this.rules.push({ alert, agent: alert.target_service ?? '', expected: newExpected() });
  }

  async start(): Promise<void> {
    await this.#scene.start();
    this.#judge();
  }

  async end(): Promise<void> {
    await this.#scene.stop();
    const stopped = this.#scene.clock.now();
    if (stopped >= this.#presence.graceUntil) this.#presence.beat = stopped;
  }

  async take(step: Step): Promise<void> {
    const { clock } = this.#scene;
    switch (step.kind) {
      case 'tick':
        await this.#scene.tick();
        this.#judge();
        return;
      case 'pause': {
        await this.end();
        const presence = this.#presence;
        this.#lastLook = presence.beat;
        clock.advance(step.minutes * 60_000);
        // Twice the interval.
        if (clock.now() - presence.beat > 20 * MINUTE) presence.graceUntil = clock.now() + 5 * MINUTE;
        for (const { expected } of this.rules) {
          // The start of the unmet period is not stored.
          expected.falseSince = null;
          expected.falses = 0;
        }
        await this.#scene.start();
        this.#judge();
        return;
      }
      case 'run': {
        const started = clock.now() - step.ago * MINUTE;
        const ended = step.took === null || step.status === 'running' ? null : started + step.took * MINUTE;
        const status = step.status;
        const { agent, success, durationMs, cost } = step;
        const known = { id: newTraceId(), agent, status, success, started, ended, durationMs, cost };
        this.#runs.push({ ...known, lastSeen: clock.now(), change: ++this.#changes });
        await this.#write(known);
        return;
      }
      case 'complete': {
        const running = this.#runs.filter(({ status }) => status === 'running');
        const run = running[step.which % Math.max(1, running.length)];
        if (run === undefined) return;
        // A terminal message fills missing fields.
        const changed = {
          ...run,
          status: step.status,
          ended: clock.now(),
          durationMs: run.durationMs ?? step.durationMs,
          cost: run.cost ?? step.cost,
          lastSeen: clock.now(),
          change: ++this.#changes,
        };
        this.#replace(changed);
        await this.#write({ ...changed, durationMs: step.durationMs, cost: step.cost });
        return;
      }
      case 'outcome': {
        const run = this.#runs[step.which % Math.max(1, this.#runs.length)];
        if (run === undefined) return;
        this.#replace({ ...run, success: step.success, change: ++this.#changes });
        await this.#scene.store.runs.setOutcome(this.#scene.user, run.id, { success: step.success });
        return;
      }
      case 'point': {
        const at = clock.now() - step.ago * MINUTE;
        this.#points.push({
          metric: METRIC,
          series: step.series,
          at,
          value: step.value,
          change: ++this.#changes,
        });
        const point = aPoint({
          stream: aMetric({ name: METRIC }),
          labels: { series: step.series },
          timestamp: at,
          value: step.value,
        });
        await this.#scene.store.writer.metrics(
          { tenant: this.#scene.user, items: [point] },
          { receivedAt: clock.now() },
        );
        return;
      }
    }
  }

  #judge(): void {
    const now = this.#scene.clock.now();
    const known: Known = {
      runs: this.#runs.map((run) => ({ ...run, durationMs: durationOf(run) })),
      points: this.#points,
    };
    const isDayMissed = Math.floor(this.#lastLook / DAY) < Math.floor(now / DAY);
    this.#lastLook = now;
    const gap = { inGrace: now < this.#presence.graceUntil, isDayMissed };
    for (const { alert, agent, expected } of this.rules) expectAt(now, alert, agent, known, expected, gap);
  }

  #replace(changed: KnownRun & { readonly id: string }): void {
    const at = this.#runs.findIndex(({ id }) => id === changed.id);
    this.#runs[at] = changed;
  }

  async #write(run: Omit<KnownRun, 'lastSeen' | 'change'> & { readonly id: string }): Promise<void> {
    const { clock, store, user } = this.#scene;
    const trace = aHeader({
      trace_id: run.id,
      agent: run.agent,
      status: run.status,
      success: run.success,
      started_at: run.started,
      ended_at: run.ended,
      duration_ms: run.durationMs,
      total_cost_usd: run.cost,
    });
    await store.writer.traces({ tenant: user, items: [{ trace, spans: [] }] }, { receivedAt: clock.now() });
  }
}

/** As declared, otherwise derived from both times. */
function durationOf({ durationMs, started, ended }: KnownRun): number | null {
  return durationMs ?? (ended === null ? null : (ended - started) / 1000);
}
