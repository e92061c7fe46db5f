import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { EvaluatorOptions } from '../../src/alerting/evaluator-options.js';
import { Evaluator } from '../../src/alerting/evaluator.js';
import { uuidV7 } from '../../src/signal/ids.js';
import type { Alert, AlertFiring, AlertRule } from '../../src/storage/contracts/alerts.js';
import type { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import type { AlertingSettings } from '../../src/storage/contracts/coordination.js';
import type { DuckDBStore } from '../../src/storage/duckdb/client/store.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { TestStore } from '../storage/duckdb/test-store.js';

const NEVER = new AbortController().signal;
const ALL = { offset: 0, limit: 100_000 };

/** A real store with one user and an evaluator with a manual clock. */
export class AlertScene {
  readonly clock: HandClock;
  readonly logger = new RecordingLogger();
  readonly opened: TestStore;
  readonly control: SqlControlStore;
  readonly #settings: AlertingSettings;
  readonly #intervalMs: number;
  #user = '';
  #evaluator: Evaluator | null = null;
  #evaluated: () => void = () => undefined;

  private constructor(opened: TestStore, clock: HandClock, settings: AlertingSettings, intervalMs: number) {
    this.opened = opened;
    this.control = opened.control;
    this.clock = clock;
    this.#settings = settings;
    this.#intervalMs = intervalMs;
  }

  static async open(
    t: Test,
    settings: Partial<AlertingSettings> = {},
    { intervalMs = 30_000, now }: { readonly intervalMs?: number; readonly now?: number } = {},
  ): Promise<AlertScene> {
    const opened = await TestStore.open(t);
    const all = { windowMs: 3_600_000, minSamples: 1, timezone: 'UTC', ...settings };
    const clock = new HandClock(now);
    const scene = new AlertScene(opened, clock, all, intervalMs);
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

  get settings(): AlertingSettings {
    return this.#settings;
  }

  /** Uses a new user from here on. */
  async newUser(): Promise<void> {
    this.#user = await this.opened.addUser();
  }

  /** @returns the alert, on a service or on an agent by name, unless it names an agent id */
  async addAlert(alert: Pick<Alert, 'type'> & Partial<Alert>): Promise<Alert> {
    const now = this.clock.now();
    const made: Alert = {
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
      score_config: null,
      name: null,
      window_minutes: null,
      min_samples: null,
      last_fired_at: null,
      created_at: now,
      ...alert,
    };
    const outcome = await this.control.alerts.create(this.user, made, 100_000);
    if (outcome !== 'created') throw new Error(outcome);
    return made;
  }

  /** A new rule as stored. */
  async addRule(alert: Pick<Alert, 'type'> & Partial<Alert>): Promise<AlertRule> {
    return { userId: this.user, alert: await this.addAlert(alert), incident: null, evidence: null };
  }

  /** The sources an evaluator needs. */
  async source(): Promise<Pick<EvaluatorOptions, 'stats' | 'source'>> {
    return { stats: this.store.stats, source: await this.store.identity() };
  }

  /** Starts an evaluator and waits for its first evaluation. It evaluates by its clock only, without notifications of batches. */
  async start(): Promise<void> {
    const evaluated = this.#nextEvaluation();
    this.#evaluator = new Evaluator({
      ...(await this.source()),
      control: this.control,
      settings: this.#settings,
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

  /** Advances the clock to the next tick and waits for its evaluation. */
  async tick(): Promise<void> {
    const evaluated = this.#nextEvaluation();
    this.clock.advance(this.#intervalMs);
    await evaluated;
  }

  /** The firings of an alert, oldest first. */
  async firings(alertId: string): Promise<readonly AlertFiring[]> {
    const found = await this.control.alerts.listFirings(this.user, alertId, ALL);
    return [...(found?.items ?? [])].reverse();
  }

  #nextEvaluation(): Promise<void> {
    return new Promise((resolve) => {
      this.#evaluated = resolve;
    });
  }
}

/** An id for a run sent in several messages. */
export function newTraceId(): string {
  return randomUUID();
}
