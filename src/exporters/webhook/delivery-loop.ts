import { setMaxListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Logger } from '../../component/telemetry.js';
import type { Claims, DeliveryClaim, DeliveryStore, FinishedAttempt } from '../../storage/delivery-store.js';
import { ResultLine } from './result-line.js';
import { StoreCalls } from './store-calls.js';

/** The system's clock may be turned, and machines sleep: nobody waits longer for a time without looking. */
const MAX_SLEEP_MS = 60_000;
/** A store that says that something is due and does not give it is not asked in one go. */
const MIN_SLEEP_MS = 1000;

export interface LoopOptions {
  readonly maxConcurrency: number;
  readonly perEndpoint: number;
  /** Failed attempts in a row that pause an endpoint. */
  readonly breakerThreshold: number;
}

export interface LoopTools {
  readonly store: Pick<DeliveryStore, 'claimDeliveries' | 'finishDeliveries' | 'watchDeliveries'>;
  /** Makes an attempt; null where the signal broke it off. Never rejects. */
  readonly attempt: (claim: DeliveryClaim, signal: AbortSignal) => Promise<FinishedAttempt | null>;
  readonly options: LoopOptions;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Told when the store begins to fail, and when all works again. */
  readonly onStore: (isFailing: boolean) => void;
  /** Told the ids of the endpoints that the breaker paused. */
  readonly onPaused: (endpoints: readonly string[]) => void;
}

/**
 * Claims what is due, has it attempted and records how that ended. It asks the store when somebody calls, when a place
 * becomes free, and when the next delivery is due; otherwise it sleeps. An attempt keeps its place until its result is
 * recorded, so that there are never more results than places.
 */
export class DeliveryLoop {
  readonly #tools: LoopTools;
  readonly #calls: StoreCalls;
  readonly #results: ResultLine;
  readonly #unwatch: () => void;
  /** Fires when nothing more is claimed. */
  readonly #stop = new AbortController();
  /** Fires when what is under way is broken off. */
  readonly #end = new AbortController();
  readonly #underWay = new Map<DeliveryClaim, Promise<void>>();
  #withoutResult = 0;
  #claiming: Promise<void> | null = null;
  /** Whether more may be due than the last claim found. */
  #isCalled = false;
  #cancelTimer: () => void = () => undefined;

  constructor(tools: LoopTools) {
    this.#tools = tools;
    const { store, clock, options, onPaused } = tools;
    setMaxListeners(0, this.#stop.signal, this.#end.signal);
    this.#calls = new StoreCalls(tools);
    this.#results = new ResultLine({
      store,
      calls: this.#calls,
      clock,
      breakerThreshold: options.breakerThreshold,
      expectsMore: () => this.#withoutResult > 0,
      onPaused,
      end: this.#end.signal,
    });
    this.#unwatch = store.watchDeliveries(() => {
      this.wake();
    });
    this.wake();
  }

  /** Attempts under way, and those whose result is not recorded yet. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Says that more may be due. */
  wake(): void {
    this.#isCalled = true;
    if (this.#stop.signal.aborted) return;
    this.#claiming ??= this.#claim();
  }

  /**
   * Claims no more and waits for what is under way. What is not done by the deadline is broken off; the next start makes
   * it anew.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#unwatch();
    this.#cancelTimer();
    this.#stop.abort();
    const giveUp = (): void => {
      this.#end.abort(new Error('the sender of webhooks stops'));
    };
    if (deadline.aborted) giveUp();
    else deadline.addEventListener('abort', giveUp);
    await this.#claiming;
    await Promise.all(this.#underWay.values());
    deadline.removeEventListener('abort', giveUp);
  }

  async #claim(): Promise<void> {
    try {
      while (this.#isCalled) {
        // What ends in this turn frees its places first: the next group is as large as it can be.
        await turn();
        const limit = this.#tools.options.maxConcurrency - this.#underWay.size;
        if (limit <= 0 || this.#stop.signal.aborted) return;
        this.#isCalled = false;
        this.#cancelTimer();
        const found = await this.#ask(limit);
        if (!found) return;
        for (const claim of found.claims) this.#begin(claim);
        this.#sleep(found);
      }
    } finally {
      // In the same step as the last look at the call: none is missed.
      this.#claiming = null;
    }
  }

  async #ask(limit: number): Promise<Claims | undefined> {
    const { store, clock, options } = this.#tools;
    return await this.#calls.ask('claim', this.#stop.signal, () => {
      const { perEndpoint, maxConcurrency } = options;
      const perOrganization = Math.ceil(maxConcurrency / 2);
      const held = [...this.#underWay.keys()].map(({ delivery, lease }) => ({ delivery, lease }));
      return store.claimDeliveries({ now: clock.now(), limit, perEndpoint, perOrganization, held });
    });
  }

  #begin(claim: DeliveryClaim): void {
    const attempt = this.#make(claim).finally(() => {
      this.#underWay.delete(claim);
      this.wake();
    });
    this.#underWay.set(claim, attempt);
  }

  async #make(claim: DeliveryClaim): Promise<void> {
    this.#withoutResult += 1;
    const finished = await this.#tools.attempt(claim, this.#end.signal);
    this.#withoutResult -= 1;
    if (finished) await this.#results.record(finished);
  }

  #sleep({ claims, nextDueAt }: Claims): void {
    if (nextDueAt === null || this.#stop.signal.aborted) return;
    const { clock } = this.#tools;
    const waitMs = Math.ceil((nextDueAt - clock.now()) / 1000);
    if (waitMs <= 0 && claims.length > 0) {
      this.#isCalled = true;
      return;
    }
    const sleepMs = waitMs <= 0 ? MIN_SLEEP_MS : Math.min(waitMs, MAX_SLEEP_MS);
    this.#cancelTimer = clock.after(sleepMs, () => {
      this.wake();
    });
  }
}
