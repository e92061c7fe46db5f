import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { Evaluator, type EvaluatedStore } from '../../src/alerting/evaluator.js';
import { uuidV7 } from '../../src/signal/ids.js';
import type { Alert, AlertEvent, AlertingTerms } from '../../src/storage/alert-store.js';
import type { DuckDBStore } from '../../src/storage/duckdb/store.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { TestStore } from '../storage/test-store.js';

const NEVER = new AbortController().signal;
const ALL = { offset: 0, limit: 100_000 };

/** A real store with one user, and an evaluator that works by a clock of the test's. */
export class AlertScene {
  readonly clock: HandClock;
  readonly logger = new RecordingLogger();
  readonly opened: TestStore;
  readonly #terms: AlertingTerms;
  readonly #intervalMs: number;
  #user = '';
  #evaluator: Evaluator | null = null;
  #evaluated: () => void = () => undefined;

  private constructor(opened: TestStore, clock: HandClock, terms: AlertingTerms, intervalMs: number) {
    this.opened = opened;
    this.clock = clock;
    this.#terms = terms;
    this.#intervalMs = intervalMs;
  }

  static async open(
    t: Test,
    terms: Partial<AlertingTerms> = {},
    { intervalMs = 30_000, now }: { readonly intervalMs?: number; readonly now?: number } = {},
  ): Promise<AlertScene> {
    const opened = await TestStore.open(t);
    const all = { windowMs: 3_600_000, minSamples: 1, timezone: 'UTC', ...terms };
    const scene = new AlertScene(opened, new HandClock(now), all, intervalMs);
    await scene.newUser();
    t.teardown(() => scene.stop());
    return scene;
  }

  get store(): DuckDBStore {
    return this.opened.store;
  }

  get user(): string {
    return this.#user;
  }

  get terms(): AlertingTerms {
    return this.#terms;
  }

  /** From here on all is that of a new user. */
  async newUser(): Promise<void> {
    this.#user = await this.opened.addUser();
  }

  /** @returns the alert, which is about a service, or an agent by its name, unless it names an agent's id */
  async addAlert(alert: Pick<Alert, 'type'> & Partial<Alert>): Promise<Alert> {
    const now = this.clock.now();
    const made = await this.store.createAlert(
      this.user,
      {
        id: uuidV7(now / 1000),
        agent_id: null,
        agent_name: null,
        target_service: alert.agent_id === undefined ? 'researcher' : null,
        threshold: 0,
        cooldown_minutes: 60,
        is_active: true,
        channel: 'email',
        webhook_url: null,
        composite_config: null,
        last_fired_at: null,
        created_at: now,
        ...alert,
      },
      100_000,
    );
    if (made.outcome !== 'created') throw new Error(made.outcome);
    return made.alert;
  }

  /** Starts an evaluator, and waits until it has judged all rules. Commits do not wake it: it judges by its clock. */
  async start(): Promise<void> {
    const { store } = this;
    const deaf = new Proxy<EvaluatedStore>(store, {
      get(target, name) {
        if (name === 'watchTelemetry') return () => () => undefined;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const evaluated = this.#nextEvaluation();
    this.#evaluator = new Evaluator({
      store: deaf,
      terms: this.#terms,
      intervalMs: this.#intervalMs,
      clock: this.clock,
      logger: this.logger,
      onEvaluated: () => {
        this.#evaluated();
      },
      onFired: () => undefined,
      onResolved: () => undefined,
      onFailed: () => undefined,
      onStore: () => undefined,
    });
    await this.#evaluator.start();
    await evaluated;
  }

  async stop(): Promise<void> {
    const evaluator = this.#evaluator;
    this.#evaluator = null;
    await evaluator?.stop(NEVER);
  }

  /** Lets the time to the next tick pass, and waits until all rules are judged. */
  async tick(): Promise<void> {
    const evaluated = this.#nextEvaluation();
    this.clock.advance(this.#intervalMs);
    await evaluated;
  }

  /** Those of an alert, the oldest first. */
  async events(alertId: string): Promise<readonly AlertEvent[]> {
    const found = await this.store.listAlertEvents(this.user, alertId, ALL);
    return [...(found?.items ?? [])].reverse();
  }

  #nextEvaluation(): Promise<void> {
    return new Promise((resolve) => {
      this.#evaluated = resolve;
    });
  }
}

/** An id for a run that is sent in several messages. */
export function newTraceId(): string {
  return randomUUID();
}
