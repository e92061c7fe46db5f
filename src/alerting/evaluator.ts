import { setImmediate as turn } from 'node:timers/promises';
import { SparseLog } from '../telemetry/sparse-log.js';
import { waitFor } from '../telemetry/wait-for.js';
import type { Micros } from '../signal/time.js';
import { evaluate, type EvaluationTools } from './evaluation.js';
import type { EvaluatorOptions } from './evaluator-options.js';
import { Heartbeat } from './heartbeat.js';
import { momentAt } from './moment.js';
import { RuleFollower } from './rule-follower.js';
import { RuleIndex } from './rule-index.js';
import { Touched, type TouchedData } from './touched.js';
import type { Clock } from '../component/telemetry.js';

/**
 * Batches stored by other processes cause no notification. To find them, all rules are evaluated again, using at most about a
 * tenth of the time, with a minimum rest in between.
 */
const REST_PER_MS = 10;
const SHORTEST_REST_MS = 1000;

/** Schedules the evaluation of all rules, to find data stored by other processes. */
class SteadyLook {
  readonly #clock: Clock;
  readonly #longestMs: number;
  readonly #look: () => void;
  #cancel: () => void = () => undefined;

  /** @param look called after each rest */
  constructor(clock: Clock, longestMs: number, look: () => void) {
    this.#clock = clock;
    this.#longestMs = longestMs;
    this.#look = look;
  }

  /** Begins a rest. @param tookMs duration of the last evaluation */
  rest(tookMs: number): void {
    this.#cancel();
    const restMs = Math.min(Math.max(SHORTEST_REST_MS, REST_PER_MS * tookMs), this.#longestMs);
    this.#cancel = this.#clock.after(restMs, this.#look);
  }

  end(): void {
    this.#cancel();
  }
}

/** Exponential backoff: each wait is twice as long as the previous one, up to a maximum. */
class GrowingWait {
  readonly #clock: Clock;
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #onOver: () => void;
  #nextMs: number;
  #cancel: (() => void) | null = null;

  /** @param onOver called at the end of each wait */
  constructor(
    clock: Clock,
    { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
    onOver: () => void,
  ) {
    this.#clock = clock;
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#onOver = onOver;
    this.#nextMs = firstMs;
  }

  /** Starts the next wait, unless one is in progress. */
  begin(): void {
    if (this.#cancel !== null) return;
    this.#cancel = this.#clock.after(Math.min(this.#nextMs, this.#longestMs), () => {
      this.#cancel = null;
      this.#onOver();
    });
    this.#nextMs = Math.min(2 * this.#nextMs, this.#longestMs);
  }

  /** Cancels the current wait and resets the backoff. */
  end(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#nextMs = this.#firstMs;
  }
}

/** Changes within this time are evaluated together. */
const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 1000;
/**
 * Evaluations of touched rules use at most a fifth of the time while each takes up to 250 ms; after longer ones the wait has its
 * maximum value.
 */
const WAIT_PER_MS = 4;
/** Delay of the first retry after a failed evaluation; later delays grow up to the interval. */
const FIRST_RETRY_MS = 1000;

/**
 * Evaluates the active rules: all on a tick and at the start, rules concerned by a batch soon after it is stored, and a changed rule
 * at once. If other processes store batches, all rules are also evaluated periodically. Evaluations never overlap. A failed
 * evaluation leaves rule states unchanged and is retried soon.
 */
export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #tools: EvaluationTools;
  readonly #index: RuleIndex;
  readonly #follower: RuleFollower;
  readonly #touched = new Touched();
  readonly #heartbeat: Heartbeat;
  readonly #log: SparseLog;
  readonly #stop = new AbortController();
  #unwatch: () => void = () => undefined;
  #cancelTick: () => void = () => undefined;
  /** Cuts the wait for more changes short; null if no wait is in progress. */
  #cancelWait: (() => void) | null = null;
  /** Backoff after failed evaluations. An earlier wake-up also retries the due work. */
  readonly #retry: GrowingWait;
  /** Set if other processes also write to the store. */
  readonly #look: SteadyLook | null;
  #isStarted = false;
  #running: Promise<void> | null = null;
  #lastMs = 0;
  #isFailing = false;
  /** Due work: a beat, all rules, touched rules, and single rules by id. */
  #isBeatDue = false;
  #isAllDue = false;
  #isTouchedDue = false;
  #dueIds = new Set<string>();

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    const {
      stats,
      source,
      control,
      settings,
      intervalMs,
      isShared = false,
      onFired,
      onResolved,
      logger,
      clock,
    } = options;
    const { alerts } = control;
    this.#index = new RuleIndex(source);
    this.#follower = new RuleFollower(alerts, this.#index, (id) => {
      this.#dueIds.add(id);
      this.#wake();
    });
    const reread = async (): Promise<void> => {
      this.#follower.note();
      await this.#follower.follow();
    };
    this.#tools = { stats, source, alerts, index: this.#index, reread, onFired, onResolved };
    this.#heartbeat = new Heartbeat({ rules: alerts, source, timezone: settings.timezone, intervalMs });
    this.#log = new SparseLog(logger, clock);
    const lookAgain = (): void => {
      this.#isAllDue = true;
      this.#wake();
    };
    this.#look = isShared ? new SteadyLook(clock, intervalMs, lookAgain) : null;
    this.#retry = new GrowingWait(clock, { firstMs: FIRST_RETRY_MS, longestMs: intervalMs }, () => {
      this.#wake();
    });
  }

  /**
   * Reads the rules and schedules their evaluation, beginning with all of them at once.
   *
   * @throws ConsumeError `storage_unavailable`: the evaluator has not started
   */
  async start(): Promise<void> {
    const { control } = this.#options;
    this.#unwatch = control.watch.watch('rules', () => {
      this.#follower.note();
      void this.#followSoon();
    });
    try {
      await this.#follower.follow();
    } catch (error) {
      this.#unwatch();
      throw error;
    }
    if (this.#stop.signal.aborted) return;
    this.#isStarted = true;
    // The first beat runs before the first evaluation, not here: on a full disk a beat fails, which must not fail the start.
    this.#isBeatDue = true;
    this.#isAllDue = true;
    this.#wake();
    this.#awaitTick();
  }

  /** Records stored data and schedules the rules that it may affect. */
  touched(touched: TouchedData): void {
    this.#touched.add(touched);
    this.#noteTouched();
  }

  /** Stops evaluating and waits for the work in progress. Work not written by the deadline is repeated at the next start. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stop.abort();
    this.#cancelTick();
    this.#cancelWait?.();
    this.#retry.end();
    this.#look?.end();
    this.#unwatch();
    await waitFor(this.#running ?? Promise.resolve(), deadline);
    if (!this.#isStarted || deadline.aborted) return;
    const { clock, logger } = this.#options;
    const beat = this.#heartbeat.end(clock.now()).catch((error: unknown) => {
      logger.warn({ err: error }, 'Could not store the time until which alerts were evaluated');
    });
    await waitFor(beat, deadline);
  }

  /** Runs even during an evaluation, which skips changed rules. After a failure, the next evaluation reads the changes. */
  async #followSoon(): Promise<void> {
    try {
      await this.#follower.follow();
    } catch {
      // The read stays due.
      this.#wake();
    }
  }

  #noteTouched(): void {
    if (this.#cancelWait || this.#stop.signal.aborted) return;
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, WAIT_PER_MS * this.#lastMs));
    this.#cancelWait = this.#options.clock.after(waitMs, () => {
      this.#endWait();
      this.#wake();
    });
  }

  /** Ends the wait for more changes. */
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
      // A hint may have been lost.
      this.#follower.note();
      this.#endWait();
      this.#wake();
    });
  }

  #wake(): void {
    if (this.#isStarted && !this.#stop.signal.aborted) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      // Changes of the same event loop turn are evaluated together.
      await turn();
      while (this.#isDue() && !this.#stop.signal.aborted) {
        if (await this.#evaluate()) continue;
        // A failed evaluation is not repeated immediately.
        this.#awaitRetry();
        return;
      }
    } finally {
      // Runs in the same synchronous step as the last check for due work, so that no work is missed.
      this.#running = null;
    }
  }

  #isDue(): boolean {
    return (
      this.#follower.isDue || this.#isBeatDue || this.#isAllDue || this.#isTouchedDue || this.#dueIds.size > 0
    );
  }

  async #evaluate(): Promise<boolean> {
    const { clock, onEvaluated, onFailed } = this.#options;
    const begin = clock.now();
    try {
      await this.#follower.follow();
      await this.#beat(begin);
      const isAll = this.#isAllDue;
      const count = await this.#evaluateDue();
      // The clock may be set back meanwhile.
      this.#lastMs = Math.max(0, (clock.now() - begin) / 1000);
      if (isAll) this.#look?.rest(this.#lastMs);
      onEvaluated({ rules: count, ms: this.#lastMs });
      this.#retry.end();
      this.#noteStore(false);
      return true;
    } catch (error) {
      this.#log.warn(1, { err: error }, 'Could not evaluate alerts; retrying');
      onFailed();
      this.#noteStore(true);
      return false;
    }
  }

  /** Detects missed time before any evaluation, whether or not a tick is due. */
  async #beat(now: Micros): Promise<void> {
    if (!this.#isBeatDue && !this.#heartbeat.hasMissed(now)) return;
    await this.#heartbeat.beat(now);
    this.#isBeatDue = false;
    if (this.#heartbeat.isDayMissed) this.#isAllDue = true;
  }

  /** Evaluates the due rules, which stay due after a failure. @returns the number of rules */
  async #evaluateDue(): Promise<number> {
    const { settings, clock } = this.#options;
    this.#takeTouched();
    const isAll = this.#isAllDue;
    const ids = this.#dueIds;
    this.#isAllDue = false;
    this.#dueIds = new Set();
    const rules = isAll ? this.#index.all() : [...ids].flatMap((id) => this.#index.get(id) ?? []);
    const now = clock.now();
    const { isDayMissed } = this.#heartbeat;
    const moment = momentAt(now, settings, {
      knowsActivity: this.#heartbeat.knowsActivity(now),
      isDayMissed,
    });
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

  /** Marks the rules that touched data may affect as due. */
  #takeTouched(): void {
    if (!this.#isTouchedDue) return;
    this.#isTouchedDue = false;
    for (const { rule } of this.#index.concerned(this.#touched.take())) this.#dueIds.add(rule.alert.id);
  }

  #awaitRetry(): void {
    if (!this.#stop.signal.aborted) this.#retry.begin();
  }

  #noteStore(isFailing: boolean): void {
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    this.#options.onStore(isFailing);
  }
}
