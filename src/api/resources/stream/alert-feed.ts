import type { Clock } from '../../../component/telemetry.js';
import type { AlertRule, AlertRules, RulesVersion } from '../../../storage/contracts/alerts.js';
import type { Watch } from '../../../storage/contracts/coordination.js';

/** Polling interval in case a hint is lost. */
const ASK_MS = 30_000;
/** Changes within this time are read together. */
const WAIT_MS = 250;

type AlertListener = (rule: AlertRule) => void;

export interface FollowedAlerts {
  readonly alerts: Pick<AlertRules, 'follow'>;
  readonly watch: Watch;
}

/** Active alerts that fire, are over or are changed. Rules are read once for all streams, and only while one listens. */
export class AlertFeed {
  readonly #control: FollowedAlerts;
  readonly #clock: Clock;
  readonly #listeners = new Map<string, Set<AlertListener>>();
  #version: RulesVersion | null = null;
  #isReading = false;
  /** Whether a hint arrived after the current read began. */
  #isHinted = false;
  #cancel: () => void = () => undefined;
  #unwatch: () => void = () => undefined;

  constructor(control: FollowedAlerts, clock: Clock) {
    this.#control = control;
    this.#clock = clock;
  }

  /** @returns a function that ends it */
  enter(userId: string, notify: AlertListener): () => void {
    const isFirst = this.#listeners.size === 0;
    const ofUser = this.#listeners.get(userId) ?? new Set<AlertListener>();
    this.#listeners.set(userId, ofUser.add(notify));
    if (isFirst) this.#begin();
    return () => {
      ofUser.delete(notify);
      if (ofUser.size === 0 && this.#listeners.get(userId) === ofUser) this.#listeners.delete(userId);
      if (this.#listeners.size === 0) this.#end();
    };
  }

  #begin(): void {
    this.#version = null;
    this.#isHinted = false;
    this.#unwatch = this.#control.watch.watch('rules', () => {
      this.#scheduleRead();
    });
    this.#readIn(0);
  }

  #end(): void {
    this.#unwatch();
    this.#cancel();
  }

  /** Further hints do not postpone the read. */
  #scheduleRead(): void {
    if (this.#isHinted) return;
    this.#isHinted = true;
    if (!this.#isReading) this.#readIn(WAIT_MS);
  }

  #readIn(ms: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(ms, () => void this.#read());
  }

  #nextMs(): number {
    return this.#isHinted ? WAIT_MS : ASK_MS;
  }

  async #read(): Promise<void> {
    // A read started for an earlier listener is still running.
    if (this.#isReading) return;
    this.#isReading = true;
    this.#isHinted = false;
    try {
      const since = this.#version;
      const { put, version } = await this.#control.alerts.follow(since);
      this.#version = version;
      // The first read only determines the current position.
      if (since === null) return;
      for (const rule of put) for (const notify of this.#listeners.get(rule.userId) ?? []) notify(rule);
    } catch {
      // The store cannot be read; retry later.
    } finally {
      this.#isReading = false;
      if (this.#listeners.size > 0) this.#readIn(this.#nextMs());
    }
  }
}
