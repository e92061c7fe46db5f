import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Logger } from '../component/telemetry.js';
import { SparseLog } from '../telemetry/sparse-log.js';
import { waitFor } from '../telemetry/wait-for.js';
import type { Micros } from '../signal/time.js';
import type { AlertingTerms, AlertStore, RuleChange } from '../storage/alert-store.js';
import { evaluate, type EvaluationTools, type JudgingStore } from './evaluation.js';
import { Heartbeat } from './heartbeat.js';
import { momentAt } from './moment.js';
import { RuleIndex } from './rule-index.js';

/** What comes shortly after each other is judged together. */
const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 1000;
/** Evaluations of what was touched take at most a fifth of the time, up to 250 ms each; after longer ones the wait is the longest. */
const WAIT_PER_MS = 4;
/** How long after an evaluation that failed it is tried again; the next waits are twice as long each, up to the interval. */
const FIRST_RETRY_MS = 1000;

export type EvaluatedStore = JudgingStore &
  Pick<AlertStore, 'listRules' | 'watchRules' | 'watchTelemetry' | 'takeTouched' | 'beatAlerts'>;

interface EvaluatorOptions {
  readonly store: EvaluatedStore;
  readonly terms: AlertingTerms;
  /** Milliseconds between two evaluations of all rules. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each evaluation: how many rules it was about, and the milliseconds that it took. */
  readonly onEvaluated: (evaluated: { readonly rules: number; readonly ms: number }) => void;
  /** Told how many firings were written. */
  readonly onFired: (count: number) => void;
  /** Told of how many incidents the end was written. */
  readonly onResolved: (count: number) => void;
  /** Told of each evaluation that failed. */
  readonly onFailed: () => void;
  /** Told when the store begins to fail, and when all works again. */
  readonly onStore: (isFailing: boolean) => void;
}

/**
 * Keeps the active rules and judges them: all on a tick and at the start, those that commits touch soon after these, and
 * a changed one at once. Evaluations never overlap. One that fails leaves the states of rules as they are, and is soon
 * tried again.
 */
export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #tools: EvaluationTools;
  readonly #index = new RuleIndex();
  readonly #heartbeat: Heartbeat;
  readonly #log: SparseLog;
  readonly #stop = new AbortController();
  readonly #unwatch: (() => void)[] = [];
  #cancelTick: () => void = () => undefined;
  /** Of the wait for more to be touched; null where nothing is known to be. */
  #cancelWait: (() => void) | null = null;
  /** Of the wait after an evaluation that failed; null where none did since the last that succeeded. */
  #cancelRetry: (() => void) | null = null;
  #retryMs = FIRST_RETRY_MS;
  #isStarted = false;
  #running: Promise<void> | null = null;
  #lastMs = 0;
  #isFailing = false;
  /** What is due: a beat, all rules, those that were touched, and some by their ids. */
  #isBeatDue = false;
  #isAllDue = false;
  #isTouchedDue = false;
  #dueIds = new Set<string>();

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    const { store, terms, intervalMs, onFired, onResolved, logger, clock } = options;
    this.#tools = { store, index: this.#index, onFired, onResolved };
    this.#heartbeat = new Heartbeat({ store, timezone: terms.timezone, intervalMs });
    this.#log = new SparseLog(logger, clock);
  }

  /**
   * Reads the rules; from then on they are evaluated, all of them at once to begin with.
   *
   * @throws ConsumeError `storage_unavailable`: it has not started
   */
  async start(): Promise<void> {
    const { store, clock } = this.#options;
    try {
      await this.#load();
      await this.#heartbeat.beat(clock.now());
    } catch (error) {
      this.#endWatching();
      throw error;
    }
    if (this.#stop.signal.aborted) return;
    this.#unwatch.push(
      store.watchTelemetry(() => {
        this.#noteTouched();
      }),
    );
    this.#isStarted = true;
    // What came before somebody watched is covered, and the store is to call again.
    this.#isTouchedDue = true;
    this.#isAllDue = true;
    this.#wake();
    this.#awaitTick();
  }

  /** Judges no more, and waits for what is under way; what is not written by the deadline is found again at the next start. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stop.abort();
    this.#cancelTick();
    this.#cancelWait?.();
    this.#cancelRetry?.();
    this.#endWatching();
    await waitFor(this.#running ?? Promise.resolve(), deadline);
    if (!this.#isStarted || deadline.aborted) return;
    const { clock, logger } = this.#options;
    const beat = this.#heartbeat.end(clock.now()).catch((error: unknown) => {
      logger.warn({ err: error }, 'the store could not note until when alerts were evaluated');
    });
    await waitFor(beat, deadline);
  }

  async #load(): Promise<void> {
    const { store } = this.#options;
    const heardOf = new Set<string>();
    let isLoaded = false;
    this.#unwatch.push(
      store.watchRules((change) => {
        if (!isLoaded) heardOf.add(idOf(change));
        this.#noteRule(change);
      }),
    );
    const rules = await store.listRules();
    isLoaded = true;
    // What was heard of meanwhile is at least as new as the list.
    for (const rule of rules) if (!heardOf.has(rule.alert.id)) this.#index.put(rule);
  }

  #noteRule(change: RuleChange): void {
    if (change.kind === 'removed') {
      this.#index.remove(change.alertId);
      return;
    }
    this.#index.put(change.rule);
    this.#dueIds.add(change.rule.alert.id);
    this.#wake();
  }

  #noteTouched(): void {
    if (this.#cancelWait) return;
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, WAIT_PER_MS * this.#lastMs));
    this.#cancelWait = this.#options.clock.after(waitMs, () => {
      this.#endWait();
      this.#wake();
    });
  }

  /** What is known to be touched waits no longer. */
  #endWait(): void {
    if (!this.#cancelWait) return;
    this.#cancelWait();
    this.#cancelWait = null;
    this.#isTouchedDue = true;
  }

  #awaitTick(): void {
    const { clock, intervalMs } = this.#options;
    this.#cancelTick = clock.after(intervalMs, () => {
      this.#awaitTick();
      this.#isBeatDue = true;
      this.#isAllDue = true;
      this.#endWait();
      this.#wake();
    });
  }

  #wake(): void {
    if (this.#isStarted && !this.#stop.signal.aborted) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      // What changes in this turn is judged together.
      await turn();
      while (this.#isDue() && !this.#stop.signal.aborted) {
        if (await this.#evaluate()) continue;
        // A failed one is not tried in one go.
        this.#awaitRetry();
        return;
      }
    } finally {
      // In the same step as the last look at what is due: nothing is missed.
      this.#running = null;
    }
  }

  #isDue(): boolean {
    return this.#isBeatDue || this.#isAllDue || this.#isTouchedDue || this.#dueIds.size > 0;
  }

  async #evaluate(): Promise<boolean> {
    const { clock, onEvaluated, onFailed } = this.#options;
    const begin = clock.now();
    try {
      await this.#beat(begin);
      const count = await this.#evaluateDue();
      // The clock may be put back meanwhile.
      this.#lastMs = Math.max(0, (clock.now() - begin) / 1000);
      onEvaluated({ rules: count, ms: this.#lastMs });
      this.#endRetries();
      this.#noteStore(false);
      return true;
    } catch (error) {
      this.#log.warn(
        1,
        { err: error },
        'alerts could not be evaluated: they stay as they are, and it is tried again',
      );
      onFailed();
      this.#noteStore(true);
      return false;
    }
  }

  /** What was missed is found before anything is judged, be it due by a tick or not. */
  async #beat(now: Micros): Promise<void> {
    if (!this.#isBeatDue && !this.#heartbeat.hasMissed(now)) return;
    await this.#heartbeat.beat(now);
    this.#isBeatDue = false;
    if (this.#heartbeat.isDayMissed) this.#isAllDue = true;
  }

  /** Judges what is due, which stays due where that fails. @returns how many rules that were */
  async #evaluateDue(): Promise<number> {
    const { terms, clock } = this.#options;
    await this.#takeTouched();
    const isAll = this.#isAllDue;
    const ids = this.#dueIds;
    this.#isAllDue = false;
    this.#dueIds = new Set();
    const rules = isAll ? this.#index.all() : [...ids].flatMap((id) => this.#index.get(id) ?? []);
    const now = clock.now();
    const { isDayMissed } = this.#heartbeat;
    const moment = momentAt(now, terms, { knowsActivity: this.#heartbeat.knowsActivity(now), isDayMissed });
    try {
      await evaluate(rules, moment, this.#tools, this.#stop.signal);
    } catch (error) {
      this.#isAllDue ||= isAll;
      for (const id of ids) this.#dueIds.add(id);
      throw error;
    }
    if (isAll && !this.#stop.signal.aborted) this.#heartbeat.makeUp();
    return rules.length;
  }

  /** The store tells what was touched only once: the rules concerned are noted until they are judged. */
  async #takeTouched(): Promise<void> {
    if (!this.#isTouchedDue) return;
    const touched = await this.#options.store.takeTouched();
    this.#isTouchedDue = false;
    for (const { rule } of this.#index.concerned(touched)) this.#dueIds.add(rule.alert.id);
  }

  /** Others may wake it sooner; what is due is tried then as well. */
  #awaitRetry(): void {
    if (this.#cancelRetry || this.#stop.signal.aborted) return;
    const { clock, intervalMs } = this.#options;
    this.#cancelRetry = clock.after(Math.min(this.#retryMs, intervalMs), () => {
      this.#cancelRetry = null;
      this.#wake();
    });
    this.#retryMs = Math.min(2 * this.#retryMs, intervalMs);
  }

  #endRetries(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    this.#retryMs = FIRST_RETRY_MS;
  }

  #noteStore(isFailing: boolean): void {
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    this.#options.onStore(isFailing);
  }

  #endWatching(): void {
    for (const unwatch of this.#unwatch.splice(0)) unwatch();
  }
}

function idOf(change: RuleChange): string {
  return change.kind === 'put' ? change.rule.alert.id : change.alertId;
}
