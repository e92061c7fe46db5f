import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Logger } from '../component/telemetry.js';
import { SparseLog } from '../delivery/sparse-log.js';
import type { Micros } from '../signal/time.js';
import type { AlertingTerms, AlertStore, RuleChange } from '../storage/alert-store.js';
import { evaluate, type EvaluationTools, type JudgingStore } from './evaluation.js';
import { momentAt } from './moment.js';
import { RuleIndex, type WatchedRule } from './rule-index.js';

/** What comes shortly after each other is judged together. */
const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 1000;
/** Evaluations of what was touched take at most a fifth of the time. */
const WAIT_PER_MS = 4;
/** A daemon that was down for longer than this counts as having been away. */
const LONGEST_SILENCE = 2 * 60 * 1_000_000;
/** How long agents have, after that, to send what they did meanwhile. */
const GRACE = 5 * 60 * 1_000_000;

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
 * a changed one at once. Evaluations never overlap. One that fails leaves the states of rules as they are; the next tick
 * judges all of them again.
 */
export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #tools: EvaluationTools;
  readonly #index = new RuleIndex();
  readonly #log: SparseLog;
  readonly #stop = new AbortController();
  readonly #unwatch: (() => void)[] = [];
  #cancelTick: () => void = () => undefined;
  /** Of the wait for more to be touched; null where nothing is known to be. */
  #cancelWait: (() => void) | null = null;
  #isStarted = false;
  #startedAway: Micros | null = null;
  #running: Promise<void> | null = null;
  #lastMs = 0;
  #isFailing = false;
  /** What is due: a beat, all rules, those that were touched, and those that were changed. */
  #isBeatDue = false;
  #isAllDue = false;
  #isTouchedDue = false;
  #changed = new Set<string>();

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    const { store, onFired, onResolved, logger, clock } = options;
    this.#tools = { store, index: this.#index, onFired, onResolved };
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
      const now = clock.now();
      const lastBeat = await store.beatAlerts(now);
      if (lastBeat !== null && now - lastBeat > LONGEST_SILENCE) this.#startedAway = now;
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
    this.#endWatching();
    await orAborted(this.#running ?? Promise.resolve(), deadline);
    if (!this.#isStarted || deadline.aborted) return;
    const { store, clock, logger } = this.#options;
    const beat = store.beatAlerts(clock.now()).catch((error: unknown) => {
      logger.warn({ err: error }, 'the store could not note until when alerts were evaluated');
    });
    await orAborted(beat, deadline);
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
    this.#changed.add(change.rule.alert.id);
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
        // A failed one is not tried in one go: what is due then waits for the next tick.
        if (!(await this.#evaluate())) return;
      }
    } finally {
      // In the same step as the last look at what is due: nothing is missed.
      this.#running = null;
    }
  }

  #isDue(): boolean {
    return this.#isBeatDue || this.#isAllDue || this.#isTouchedDue || this.#changed.size > 0;
  }

  async #evaluate(): Promise<boolean> {
    const { terms, clock, onEvaluated, onFailed } = this.#options;
    const begin = clock.now();
    try {
      await this.#beat(begin);
      const rules = await this.#takeDue();
      const now = clock.now();
      await evaluate(rules, momentAt(now, terms, this.#knowsActivity(now)), this.#tools, this.#stop.signal);
      // The clock may be put back meanwhile.
      this.#lastMs = Math.max(0, (clock.now() - begin) / 1000);
      onEvaluated({ rules: rules.length, ms: this.#lastMs });
      this.#noteStore(false);
      return true;
    } catch (error) {
      this.#log.warn(
        1,
        { err: error },
        'alerts could not be evaluated: they stay as they are until the next tick',
      );
      onFailed();
      this.#noteStore(true);
      return false;
    }
  }

  async #beat(now: Micros): Promise<void> {
    if (!this.#isBeatDue) return;
    await this.#options.store.beatAlerts(now);
    this.#isBeatDue = false;
  }

  /** The rules that are to be judged. Afterwards nothing is due but what comes meanwhile. */
  async #takeDue(): Promise<readonly WatchedRule[]> {
    let touched: ReadonlySet<WatchedRule> = new Set();
    if (this.#isTouchedDue) {
      const taken = await this.#options.store.takeTouched();
      this.#isTouchedDue = false;
      touched = this.#index.concerned(taken);
    }
    const changed = [...this.#changed].flatMap((id) => this.#index.get(id) ?? []);
    this.#changed.clear();
    if (!this.#isAllDue) return [...new Set([...touched, ...changed])];
    this.#isAllDue = false;
    return this.#index.all();
  }

  /** After the daemon was away, silence tells nothing for a while. */
  #knowsActivity(now: Micros): boolean {
    const since = this.#startedAway;
    return since === null || now < since || now >= since + GRACE;
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

/** Waits for work, but not beyond the deadline. */
async function orAborted(work: Promise<unknown>, deadline: AbortSignal): Promise<void> {
  await new Promise<unknown>((resolve, reject) => {
    const giveUp = (): void => {
      resolve(null);
    };
    if (deadline.aborted) giveUp();
    else deadline.addEventListener('abort', giveUp);
    void work.then(resolve, reject).finally(() => {
      deadline.removeEventListener('abort', giveUp);
    });
  });
}
