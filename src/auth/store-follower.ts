import type { Clock, Logger } from '../component/telemetry.js';
import type { Topic, Watch } from '../storage/contracts/coordination.js';

/** A hint may be lost, so the store is also asked this often without one. */
const ASK_MS = 30_000;
/** How soon it is asked again after a failure. */
const RETRY_MS = 500;

/** What is followed. */
export interface Followed {
  /** Hints of changes come under it. */
  readonly topic: Topic;
  /**
   * Takes over what has changed since the last call. @returns whether there was already more
   *
   * @throws ConsumeError where the store cannot be read
   */
  readonly readOn: () => Promise<boolean>;
  /** Said in the log when it cannot be read: what holds meanwhile. */
  readonly failure: string;
}

/**
 * Keeps what is in memory like the store: asks for what has changed, on each hint and from time to time. While the store cannot
 * answer, what is known remains valid.
 */
export class StoreFollower {
  readonly #watch: Watch;
  readonly #followed: Followed;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Resolves with the last reading that was begun, and never fails. */
  #reading: Promise<void> = Promise.resolve();
  /** A reading that has not begun: whoever asks now shares it. */
  #waiting: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(watch: Watch, followed: Followed, tools: { readonly clock: Clock; readonly logger: Logger }) {
    this.#watch = watch;
    this.#followed = followed;
    this.#clock = tools.clock;
    this.#logger = tools.logger;
  }

  /** Reads everything, and follows it from then on. @throws ConsumeError where the store cannot be read */
  async start(): Promise<void> {
    this.#unwatch = this.#watch.watch(this.#followed.topic, () => {
      void this.settle();
    });
    try {
      await this.#upToDate();
    } catch (error) {
      this.close();
      throw error;
    }
    this.#askLater(ASK_MS);
  }

  /**
   * Resolves when memory holds everything that was committed before it was called; where the store cannot be read, at once: it is tried
   * again soon, and what is known holds meanwhile.
   */
  async settle(): Promise<void> {
    try {
      await this.#upToDate();
      this.#hasFailed = false;
      this.#askLater(ASK_MS);
    } catch (error) {
      if (!this.#hasFailed && !this.#isClosed) this.#logger.warn({ err: error }, this.#followed.failure);
      this.#hasFailed = true;
      this.#askLater(RETRY_MS);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch?.();
    this.#cancelTimer?.();
  }

  /** @throws ConsumeError where the store cannot be read */
  async #upToDate(): Promise<void> {
    // A reading in progress may have asked before the commit.
    if (this.#waiting === undefined) {
      const waiting = this.#reading.then(() => {
        this.#waiting = undefined;
        return this.#read();
      });
      this.#waiting = waiting;
      this.#reading = waiting.catch(() => undefined);
    }
    await this.#waiting;
  }

  async #read(): Promise<void> {
    for (let hasMore = true; hasMore && !this.#isClosed;) hasMore = await this.#followed.readOn();
  }

  #askLater(ms: number): void {
    this.#cancelTimer?.();
    if (this.#isClosed) return;
    this.#cancelTimer = this.#clock.after(ms, () => {
      void this.settle();
    });
  }
}
