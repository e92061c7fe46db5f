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
import { Touched, type Brought } from './touched.js';
import type { Clock } from '../component/telemetry.js';

/** Of batches that others store nobody is told: they are found by looking again, a tenth of the time, and at most once in this one. */
const REST_PER_MS = 10;
const SHORTEST_REST_MS = 1000;

/** When all rules are judged again because of what other processes may have stored. */
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

  /** Begins a rest. @param tookMs how long the last look took */
  rest(tookMs: number): void {
    this.#cancel();
    const restMs = Math.min(Math.max(SHORTEST_REST_MS, REST_PER_MS * tookMs), this.#longestMs);
    this.#cancel = this.#clock.after(restMs, this.#look);
  }

  end(): void {
    this.#cancel();
  }
}

/** The waits of one who fails again and again: each is twice as long as the one before, up to the longest. */
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

  /** Begins the next wait, unless one is under way. */
  begin(): void {
    if (this.#cancel !== null) return;
    this.#cancel = this.#clock.after(Math.min(this.#nextMs, this.#longestMs), () => {
      this.#cancel = null;
      this.#onOver();
    });
    this.#nextMs = Math.min(2 * this.#nextMs, this.#longestMs);
  }

  /** Ends a wait that is under way; the next one is the first again. */
  end(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#nextMs = this.#firstMs;
  }
}

/** Changes that come shortly after each other are judged together. */
const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 1000;
/**
 * Evaluations of what was touched take at most a fifth of the time, as long as each takes up to 250 ms; after longer ones the
 * wait has its longest value.
 */
const WAIT_PER_MS = 4;
/** How long after a failed evaluation the next try comes; the longest wait is the interval. */
const FIRST_RETRY_MS = 1000;

/**
 * Keeps the active rules and judges them: all on a tick and at the start, those that batches concern soon after these are stored,
 * and a changed one at once; where others store batches, too, all of them again and again. Evaluations never overlap. One that fails leaves the states of rules as they are, and is soon tried
 * again.
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
  /** Ends the wait for more changes; null where none is known. */
  #cancelWait: (() => void) | null = null;
  /** The waits after failed evaluations. Something else may wake it sooner; what is due is then tried as well. */
  readonly #retry: GrowingWait;
  /** Of a store that others write to, too. */
  readonly #look: SteadyLook | null;
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
    const {
      stats,
      source,
      control,
      terms,
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
    this.#heartbeat = new Heartbeat({ rules: alerts, source, timezone: terms.timezone, intervalMs });
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
   * Reads the rules; from then on they are evaluated, beginning with all of them at once.
   *
   * @throws ConsumeError `storage_unavailable`: then it has not started
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
    // Before the first judgement, but not here: a full disk, which takes no beat, must not fail the start.
    this.#isBeatDue = true;
    this.#isAllDue = true;
    this.#wake();
    this.#awaitTick();
  }

  /** Takes what was stored: the rules that it may concern are judged soon. */
  touched(brought: Brought): void {
    this.#touched.add(brought);
    this.#noteTouched();
  }

  /** Stops judging, and waits for the work in progress; what is not written by the deadline is found again at the next start. */
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

  /** Even while an evaluation is running, which leaves out what has changed. If it fails, the next evaluation asks again. */
  async #followSoon(): Promise<void> {
    try {
      await this.#follower.follow();
    } catch {
      // It is still due.
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

  /** Changes that are known wait no longer. */
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
      // Everything that changes in this turn is judged together.
      await turn();
      while (this.#isDue() && !this.#stop.signal.aborted) {
        if (await this.#evaluate()) continue;
        // A failed evaluation is not repeated immediately.
        this.#awaitRetry();
        return;
      }
    } finally {
      // In the same step as the last look at what is due, so that nothing is missed.
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
      // The clock may be put back meanwhile.
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

  /** What was missed is found before anything is judged, whether a tick is due or not. */
  async #beat(now: Micros): Promise<void> {
    if (!this.#isBeatDue && !this.#heartbeat.hasMissed(now)) return;
    await this.#heartbeat.beat(now);
    this.#isBeatDue = false;
    if (this.#heartbeat.isDayMissed) this.#isAllDue = true;
  }

  /** Judges what is due, which stays due if that fails. @returns how many rules that were */
  async #evaluateDue(): Promise<number> {
    const { terms, clock } = this.#options;
    this.#takeTouched();
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

  /** The rules concerned are kept until they are judged. */
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
