import { setImmediate as turn } from 'node:timers/promises';
import type { Test } from 'tap';
import { Evaluator } from '../../src/alerting/evaluator.js';
import type { Micros } from '../../src/signal/time.js';
import type { AlertRule } from '../../src/storage/contracts/alerts.js';
import type { AlertingSettings } from '../../src/storage/contracts/coordination.js';
import { openControlStore } from '../support/control-store.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { AGENT, AGENT_NAME, aRule, BAD, USER, UTC_SETTINGS } from './alert-samples.js';
import { PlacedStore } from './placed-store.js';

export { SOURCE } from './fixed-stats.js';

const INTERVAL_MS = 30_000;

interface PlaceOptions {
  readonly settings?: AlertingSettings;
  readonly intervalMs?: number;
  /** Whether other processes also write to the store. */
  readonly isShared?: boolean;
}

/** The contents of a batch. */
interface Bringing {
  readonly agents?: readonly string[];
  readonly hasSpans?: boolean;
  readonly hasPoints?: boolean;
}

/** An evaluator over a control store, with a manual clock. */
export class EvaluatorPlace {
  readonly store: PlacedStore;
  readonly clock: HandClock;
  readonly logger = new RecordingLogger();
  /** Number of rules of each evaluation. */
  readonly evaluated: number[] = [];
  readonly notified = { fired: 0, resolved: 0, failed: 0 };
  /** The reported store failures, one by one. */
  readonly isFailing: boolean[] = [];
  readonly #settings: AlertingSettings;
  readonly #intervalMs: number;
  readonly #isShared: boolean;
  #evaluator: Evaluator;

  constructor(
    store: PlacedStore,
    clock: HandClock,
    { settings = UTC_SETTINGS, intervalMs = INTERVAL_MS, isShared = false }: PlaceOptions = {},
  ) {
    this.store = store;
    this.clock = clock;
    this.#settings = settings;
    this.#intervalMs = intervalMs;
    this.#isShared = isShared;
    this.#evaluator = this.#make();
  }

  /** A place with its own control store. */
  static async open(t: Test, options?: PlaceOptions, now?: Micros): Promise<EvaluatorPlace> {
    const clock = new HandClock(now);
    const place = new EvaluatorPlace(
      await PlacedStore.of(await openControlStore(t, { clock })),
      clock,
      options,
    );
    t.teardown(() => place.stop());
    return place;
  }

  async start(): Promise<void> {
    await this.#evaluator.start();
    await this.settle();
  }

  async stop(deadline: AbortSignal = new AbortController().signal): Promise<void> {
    await this.#evaluator.stop(deadline);
  }

  /** Restarts the daemon over the same store. @param downMs downtime @param isOrderly false: it is killed */
  async restart(downMs = 0, isOrderly = true): Promise<void> {
    await this.stop(isOrderly ? undefined : AbortSignal.abort());
    this.clock.advance(downMs);
    this.#evaluator = this.#make();
    await this.start();
  }

  /** Advances the clock and completes due work. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settle();
  }

  /** Advances the clock tick by tick. */
  async passTicks(count: number): Promise<void> {
    for (let tick = 0; tick < count; tick++) await this.pass(INTERVAL_MS);
  }

  /** Reports that the data of a batch is stored. */
  touch({ agents = [AGENT_NAME], hasSpans = false, hasPoints = false }: Bringing = {}): void {
    this.#evaluator.touched({ userId: USER, agents: new Set(agents), hasSpans, hasPoints });
  }

  /** Evaluations need only a few turns of the event loop because nothing external is involved. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < 8; turns++) await turn();
  }

  #make(): Evaluator {
    const { store, clock, logger, notified, evaluated, isFailing } = this;
    return new Evaluator({
      stats: store,
      source: store.source,
      control: store.evaluated,
      settings: this.#settings,
      intervalMs: this.#intervalMs,
      isShared: this.#isShared,
      clock,
      logger,
      onEvaluated: ({ rules }) => evaluated.push(rules),
      onFired: (count) => (notified.fired += count),
      onResolved: (count) => (notified.resolved += count),
      onFailed: () => (notified.failed += 1),
      onStore: (isOne) => isFailing.push(isOne),
    });
  }
}

/** A started place that stops with the test. @param prepare sets up the initial state */
export async function startedPlace(
  t: Test,
  prepare: (place: EvaluatorPlace) => unknown = () => undefined,
  options?: PlaceOptions,
): Promise<EvaluatorPlace> {
  const place = await EvaluatorPlace.open(t, options);
  await prepare(place);
  await place.start();
  return place;
}

/** Adds a rule that fires at the start, by default on failures and without a cooldown. @returns it */
export async function firing(
  { store }: EvaluatorPlace,
  rule: AlertRule = aRule({ cooldown_minutes: 0 }),
): Promise<AlertRule> {
  await store.add(rule);
  store.stats.set(AGENT, BAD);
  return rule;
}
