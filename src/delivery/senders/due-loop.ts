import { setMaxListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Logger } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { ResultGroups } from './result-groups.js';
import { StoreCalls } from './store-calls.js';

/** The system clock may change, and machines sleep: the clock is read at least this often. */
const MAX_SLEEP_MS = 60_000;
/** Minimum delay before the next claim from a store that reports due items but does not return them. */
const MIN_SLEEP_MS = 1000;

/** Due items, as returned by a store. */
export interface Found<Item> {
  readonly items: readonly Item[];
  /** When more is due; null if the store has nothing scheduled. */
  readonly nextDueAt: Micros | null;
}

export interface DueLoopTools<Item, Result> {
  /** Name of the items, for the log: `webhooks`. */
  readonly sent: string;
  /** How many attempts may run at once. */
  readonly maxConcurrency: number;
  /** Claims at most this many items from the store. */
  readonly find: (limit: number) => Promise<Found<Item>>;
  /** Makes an attempt; null if the signal broke it off. Never rejects. */
  readonly attempt: (item: Item, signal: AbortSignal) => Promise<Result | null>;
  /** Records the results of attempts in the store. */
  readonly finish: (results: readonly Result[]) => Promise<void>;
  /** Calls back when more may be due; absent where `wake` is called instead. @returns a function that stops watching */
  readonly watch?: (listener: () => void) => () => void;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called when the store begins to fail, and when everything works again. */
  readonly onStore: (isFailing: boolean) => void;
  /** Called with the number of attempts that are running or not recorded yet, whenever it changes. */
  readonly onUnderWay?: (count: number) => void;
}

/**
 * Claims due items from a store, attempts each and records the result. It polls the store on a call, when a slot becomes free, and
 * when the next item is due; otherwise it sleeps. An attempt keeps its slot until its result is recorded, so that results do not pile
 * up.
 */
export class DueLoop<Item, Result> {
  readonly #tools: DueLoopTools<Item, Result>;
  readonly #calls: StoreCalls;
  readonly #results: ResultGroups<Result>;
  readonly #unwatch: (() => void) | undefined;
  /** Aborted when nothing more is to be taken. */
  readonly #stop = new AbortController();
  /** Aborted to break off running attempts. */
  readonly #end = new AbortController();
  readonly #underWay = new Map<Item, Promise<void>>();
  #withoutResult = 0;
  #asking: Promise<void> | null = null;
  /** Whether more may be due than the last question found. */
  #isCalled = false;
  #cancelTimer: () => void = () => undefined;

  constructor(tools: DueLoopTools<Item, Result>) {
    this.#tools = tools;
    setMaxListeners(0, this.#stop.signal, this.#end.signal);
    this.#calls = new StoreCalls(tools);
    this.#results = new ResultGroups({
      write: (results) => this.#finish(results),
      clock: tools.clock,
      expectsMore: () => this.#withoutResult > 0,
      end: this.#end.signal,
    });
    this.#unwatch = tools.watch?.(() => {
      this.wake();
    });
    this.wake();
  }

  /** How many attempts are running, or have a result that is not recorded yet. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Says that more may be due. */
  wake(): void {
    this.#isCalled = true;
    if (this.#stop.signal.aborted) return;
    this.#asking ??= this.#ask();
  }

  /** Stops claiming and waits for running attempts. Attempts still running at the deadline are aborted; the next start repeats them. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#unwatch?.();
    this.#cancelTimer();
    this.#stop.abort();
    const giveUp = (): void => {
      this.#end.abort(new Error(`the sender of ${this.#tools.sent} stops`));
    };
    if (deadline.aborted) giveUp();
    else deadline.addEventListener('abort', giveUp);
    await this.#asking;
    await Promise.all(this.#underWay.values());
    deadline.removeEventListener('abort', giveUp);
  }

  async #ask(): Promise<void> {
    const { find, maxConcurrency } = this.#tools;
    try {
      while (this.#isCalled) {
        // First let all attempts that end in this turn free their slots, so that the next group is as large as possible.
        await turn();
        const limit = maxConcurrency - this.#underWay.size;
        if (limit <= 0 || this.#stop.signal.aborted) return;
        this.#isCalled = false;
        this.#cancelTimer();
        const found = await this.#calls.ask('claim', this.#stop.signal, () => find(limit));
        if (!found) return;
        for (const item of found.items) this.#begin(item);
        this.#sleep(found);
      }
    } finally {
      // In the same step as the last check for calls, so that none is missed.
      this.#asking = null;
    }
  }

  #begin(item: Item): void {
    const attempt = this.#make(item).finally(() => {
      this.#underWay.delete(item);
      this.#tools.onUnderWay?.(this.#underWay.size);
      this.wake();
    });
    this.#underWay.set(item, attempt);
    this.#tools.onUnderWay?.(this.#underWay.size);
  }

  async #make(item: Item): Promise<void> {
    this.#withoutResult += 1;
    const result = await this.#tools.attempt(item, this.#end.signal);
    this.#withoutResult -= 1;
    if (result !== null) await this.#results.record(result);
  }

  async #finish(results: readonly Result[]): Promise<void> {
    await this.#calls.ask('finish', this.#end.signal, () => this.#tools.finish(results));
  }

  #sleep({ items, nextDueAt }: Found<Item>): void {
    if (nextDueAt === null || this.#stop.signal.aborted) return;
    const { clock } = this.#tools;
    const waitMs = Math.ceil((nextDueAt - clock.now()) / 1000);
    if (waitMs <= 0 && items.length > 0) {
      this.#isCalled = true;
      return;
    }
    const sleepMs = waitMs <= 0 ? MIN_SLEEP_MS : Math.min(waitMs, MAX_SLEEP_MS);
    this.#cancelTimer = clock.after(sleepMs, () => {
      this.wake();
    });
  }
}
