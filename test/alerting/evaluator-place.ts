import { setImmediate as turn } from 'node:timers/promises';
import type { Test } from 'tap';
import { Evaluator } from '../../src/alerting/evaluator.js';
import type { Micros } from '../../src/signal/time.js';
import type { AlertingTerms, AlertRule } from '../../src/storage/alert-store.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { AGENT, aRule, BAD, UTC_TERMS } from './alert-samples.js';
import { MemoryAlertStore } from './memory-alert-store.js';

const INTERVAL_MS = 30_000;

/** An evaluator over a store in memory, with a clock that a test turns. */
export class EvaluatorPlace {
  readonly store: MemoryAlertStore;
  readonly clock: HandClock;
  readonly logger = new RecordingLogger();
  /** Of each evaluation: how many rules it was about. */
  readonly evaluated: number[] = [];
  readonly told = { fired: 0, resolved: 0, failed: 0 };
  /** What was told of the store, one by one. */
  readonly isFailing: boolean[] = [];
  readonly #terms: AlertingTerms;
  readonly #intervalMs: number;
  #evaluator: Evaluator;

  constructor(terms: AlertingTerms = UTC_TERMS, now?: Micros, intervalMs = INTERVAL_MS) {
    this.store = new MemoryAlertStore();
    this.clock = new HandClock(now);
    this.#terms = terms;
    this.#intervalMs = intervalMs;
    this.#evaluator = this.#make();
  }

  async start(): Promise<void> {
    await this.#evaluator.start();
    await this.settle();
  }

  async stop(deadline: AbortSignal = new AbortController().signal): Promise<void> {
    await this.#evaluator.stop(deadline);
  }

  /** Another daemon over the same store. @param downMs how long there is none @param isOrderly false: it is killed */
  async restart(downMs = 0, isOrderly = true): Promise<void> {
    await this.stop(isOrderly ? undefined : AbortSignal.abort());
    this.clock.advance(downMs);
    this.#evaluator = this.#make();
    await this.start();
  }

  /** Lets time pass, and what falls due by its end be done. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settle();
  }

  /** Lets time pass tick by tick. */
  async passTicks(count: number): Promise<void> {
    for (let tick = 0; tick < count; tick++) await this.pass(INTERVAL_MS);
  }

  /** The store answers at once: a few turns of the event loop are all that an evaluation takes. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < 4; turns++) await turn();
  }

  #make(): Evaluator {
    const { store, clock, logger, told, evaluated, isFailing } = this;
    return new Evaluator({
      store,
      terms: this.#terms,
      intervalMs: this.#intervalMs,
      clock,
      logger,
      onEvaluated: ({ rules }) => evaluated.push(rules),
      onFired: (count) => (told.fired += count),
      onResolved: (count) => (told.resolved += count),
      onFailed: () => (told.failed += 1),
      onStore: (isOne) => isFailing.push(isOne),
    });
  }
}

/** One that has started and stops with the test. @param prepare says what is there at the start */
export async function startedPlace(
  t: Test,
  prepare: (place: EvaluatorPlace) => void = () => undefined,
  { terms, intervalMs }: { readonly terms?: AlertingTerms; readonly intervalMs?: number } = {},
): Promise<EvaluatorPlace> {
  const place = new EvaluatorPlace(terms, undefined, intervalMs);
  prepare(place);
  t.teardown(() => place.stop());
  await place.start();
  return place;
}

/** Adds a rule that fires at the start, by default one on failures without a cooldown. @returns it */
export function firing(
  { store }: EvaluatorPlace,
  rule: AlertRule = aRule({ cooldown_minutes: 0 }),
): AlertRule {
  store.rules.set(rule.alert.id, rule);
  store.figures.set(AGENT, BAD);
  return rule;
}
