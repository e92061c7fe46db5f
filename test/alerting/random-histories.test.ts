import fc from 'fast-check';
import t from 'tap';
import { parseTime } from '../../src/signal/time.js';
import type { AlertChange, AlertCondition, AlertRule } from '../../src/storage/contracts/alerts.js';
import { openControlStore } from '../support/control-store.js';
import { HandClock } from '../support/hand-clock.js';
import { neverDiffers, same } from '../support/property.js';
import { AlertModel, type World } from './alert-model.js';
import { AGENT, AGENT_NAME, aComposite, aRule, points, runs } from './alert-samples.js';
import { EvaluatorPlace } from './evaluator-place.js';
import { PlacedStore } from './placed-store.js';

const EVENING = parseTime('2026-01-15T21:00:00Z') ?? 0;
const DAY = 86_400_000_000;
const TICK_MS = 30_000;
/** Delay of the evaluation of changed rules. */
const WAIT_MS = 250;
/** Delay of the first retry of an evaluation; it doubles with each failure. */
const RETRY_MS = 1000;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 90_000 }), fc.constantFrom(WAIT_MS, 3_600_000, 25_200_000)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('ticks' as const), count: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('runs' as const),
      finished: fc.nat({ max: 4 }),
      failed: fc.nat({ max: 4 }),
      p95: fc.constantFrom(500, 1000, 1001),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave window' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('spend' as const),
      cost: fc.constantFrom(0.25, 1, 4),
      daysAgo: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('cpu' as const),
      value: fc.constantFrom(null, 10, 50, 51, 90),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      which: fc.nat({ max: 5 }),
      change: fc.oneof(
        fc.record({ threshold: fc.constantFrom(0, 0.25, 0.5, 1, 2, 5, 1000) }),
        fc.record({ cooldown_minutes: fc.constantFrom(0, 1, 5, 60) }),
        fc.record({ is_active: fc.boolean() }),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      downMs: fc.constantFrom(0, 60_000, 120_000, 120_001, 3_600_000),
      isOrderly: fc.boolean(),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;

function rules(): readonly AlertRule[] {
  const cpu = {
    type: 'metric_threshold',
    source: 'infra',
    metric_name: 'cpu',
    operator: 'gt',
    value: 50,
  } as const;
  const ai = (type: 'failure_rate' | 'cost_threshold' | 'inactivity', threshold: number): AlertCondition => ({
    type,
    source: 'ai',
    threshold,
  });
  return [
    aRule({ type: 'failure_rate', threshold: 0.5, cooldown_minutes: 0 }),
    aRule({ type: 'inactivity', threshold: 2, cooldown_minutes: 5 }),
    aRule({ type: 'latency_threshold', threshold: 1000, cooldown_minutes: 1 }),
    aRule({ type: 'cost_threshold', threshold: 5, cooldown_minutes: 0 }),
    aComposite('and', ai('failure_rate', 0.5), cpu),
    aComposite('or', ai('cost_threshold', 4), cpu, ai('inactivity', 5)),
  ];
}

/** Plays a scenario on the evaluator and the model. It knows when evaluations are due, but not their results. */
class Play {
  readonly place: EvaluatorPlace;
  readonly #model = new AlertModel();
  /** Current rules by id. */
  readonly #rules = new Map<string, AlertRule>();
  readonly #ids: readonly string[];
  #world: World = {
    finished: 0,
    failed: 0,
    p95: 0,
    runsSeq: 0,
    activeAt: null,
    spent: new Map(),
    cpu: null,
  };
  #rows = 0;
  #nextTick = 0;
  #touched: { readonly until: number; readonly agent: boolean } | null = null;
  #faults = 0;
  /** Rules due when the evaluation failed. */
  #due = new Set<string>();
  #retry: { readonly at: number | null; readonly ms: number } = { at: null, ms: RETRY_MS };

  constructor(store: PlacedStore, clock: HandClock) {
    this.place = new EvaluatorPlace(store, clock);
    for (const rule of rules()) this.#rules.set(rule.alert.id, rule);
    this.#ids = [...this.#rules.keys()];
    store.stats.set(AGENT, ({ days }) => ({
      window: runs(this.#world.finished, this.#world.failed, {
        p95_ms: this.#world.finished > 0 ? this.#world.p95 : null,
        seq: this.#world.finished > 0 ? this.#world.runsSeq : 0,
      }),
      costs: days.map(({ from }) => {
        const cost = this.#world.spent.get(from / DAY);
        return { cost: cost ?? 0, priced: cost === undefined ? 0 : 1 };
      }),
      activeAt: this.#world.activeAt,
    }));
  }

  async start(): Promise<void> {
    for (const rule of this.#rules.values()) await this.place.store.add(rule);
    await this.place.start();
    this.#begin();
  }

  async end(): Promise<void> {
    await this.place.stop();
    for (const rule of this.#rules.values()) await this.place.store.delete(rule);
  }

  async take(step: Step): Promise<void> {
    const { place } = this;
    switch (step.kind) {
      case 'pass':
        await this.#pass(step.ms);
        break;
      case 'ticks':
        for (let tick = 0; tick < step.count; tick++) await this.#pass(TICK_MS);
        break;
      case 'runs': {
        const { finished, p95 } = step;
        const failed = Math.min(step.failed, finished);
        this.#rows += 1;
        const news = { finished, failed, p95, runsSeq: this.#rows, activeAt: place.clock.now() };
        this.#world = { ...this.#world, ...news };
        this.#touch(true);
        break;
      }
      case 'leave window':
        this.#world = { ...this.#world, finished: 0, failed: 0 };
        break;
      case 'spend': {
        const day = Math.floor(place.clock.now() / DAY) - step.daysAgo;
        const spent = new Map(this.#world.spent).set(day, (this.#world.spent.get(day) ?? 0) + step.cost);
        this.#world = { ...this.#world, spent };
        this.#touch(true);
        break;
      }
      case 'cpu':
        this.#rows += 1;
        this.#world = {
          ...this.#world,
          cpu: step.value === null ? null : { value: step.value, seq: this.#rows },
        };
        place.store.metrics.set('cpu', points(step.value === null ? [] : [step.value], this.#rows));
        this.#touch(false);
        break;
      case 'change':
        await this.#change(this.#ids[step.which] ?? '', step.change);
        break;
      case 'fail':
        place.store.fail('observe');
        this.#faults += 1;
        break;
      case 'restart':
        if (step.isOrderly) this.#model.end(place.clock.now());
        await place.restart(step.downMs, step.isOrderly);
        this.#begin();
    }
  }

  #begin(): void {
    const now = this.place.clock.now();
    this.#nextTick = now + TICK_MS * 1000;
    this.#touched = null;
    this.#due.clear();
    this.#retry = { at: null, ms: RETRY_MS };
    this.#model.begin(now);
    this.#judge(this.#ids);
  }

  async #pass(ms: number): Promise<void> {
    await this.place.pass(ms);
    const now = this.place.clock.now();
    const isTick = now >= this.#nextTick;
    while (this.#nextTick <= now) this.#nextTick += TICK_MS * 1000;
    const touched = this.#touched;
    const isRetry = this.#retry.at !== null && this.#retry.at <= now;
    if (isRetry) this.#retry = { ...this.#retry, at: null };
    if (isTick) {
      this.#touched = null;
      this.#model.beat(now);
      this.#judge(this.#ids);
    } else if (touched && touched.until <= now) {
      this.#touched = null;
      this.#judge(touched.agent ? this.#ids : this.#ids.slice(4));
    } else if (isRetry) this.#judge([]);
    this.#compare();
  }

  #touch(agent: boolean): void {
    this.place.touch(agent ? { agents: [AGENT_NAME] } : { agents: [], hasPoints: true });
    const until = this.#touched?.until ?? this.place.clock.now() + WAIT_MS * 1000;
    this.#touched = { until, agent: agent || this.#touched?.agent === true };
  }

  async #change(id: string, change: AlertChange): Promise<void> {
    const rule = this.#rules.get(id);
    if (!rule) return;
    const alert = { ...rule.alert, ...change };
    this.#rules.set(id, { ...rule, alert });
    await this.place.store.change(rule, change);
    await this.place.settle();
    if (alert.is_active) {
      // An unchanged rule is not evaluated.
      const { threshold, cooldown_minutes, is_active } = rule.alert;
      const isSame =
        alert.threshold === threshold && alert.cooldown_minutes === cooldown_minutes && is_active;
      if (!isSame) this.#judge([id]);
    } else this.#model.pause(id);
    this.#compare();
  }

  #judge(ids: readonly string[]): void {
    const { clock } = this.place;
    for (const id of ids) this.#due.add(id);
    const active = [...this.#due]
      .flatMap((id) => this.#rules.get(id) ?? [])
      .filter(({ alert }) => alert.is_active);
    const now = clock.now();
    if (active.length > 0 && this.#faults > 0) {
      this.#faults -= 1;
      const { at, ms } = this.#retry;
      if (at === null) this.#retry = { at: now + ms * 1000, ms: Math.min(2 * ms, TICK_MS) };
      return;
    }
    for (const rule of active) this.#model.judge(rule, this.#world, now);
    if (this.#due.size === this.#ids.length) this.#model.judgedAll();
    this.#due.clear();
    this.#retry = { at: null, ms: RETRY_MS };
    this.#compare();
  }

  #compare(): void {
    const { firings, resolutions } = this.place.store;
    const found = [
      ...firings.splice(0).map(({ alertId, incident }) => `${alertId} fired ${incident.firings}`),
      ...resolutions.splice(0).map(({ alertId }) => `${alertId} resolved`),
    ];
    same(found.sort(), this.#model.happened.splice(0).sort());
  }
}

void t.test('random histories fire and resolve as specified', async (t) => {
  const counted = new Map<string, number>();
  // All use one file, each with its own rules and telemetry.
  let plays = 0;
  const control = await openControlStore(t);
  const newPlay = async (): Promise<Play> =>
    new Play(await PlacedStore.of(control, `play ${plays++}`), new HandClock(EVENING));
  await neverDiffers(
    t,
    { runs: 400, ms: 2000 },
    [fc.array(step, { minLength: 10, maxLength: 60 })],
    async (steps) => {
      const play = await newPlay();
      await play.start();
      try {
        for (const one of steps) await play.take(one);
      } finally {
        await play.end();
      }
      for (const [what, count] of Object.entries(play.place.notified))
        counted.set(what, (counted.get(what) ?? 0) + count);
    },
  );
  t.comment([...counted].join(' '));
});
