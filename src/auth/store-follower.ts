import type { Clock, Logger } from '../component/telemetry.js';
import type { Topic, Watch } from '../storage/contracts/coordination.js';

/** Polling interval, in case a hint is lost. */
const ASK_MS = 30_000;
/** Retry delay after a failure. */
const RETRY_MS = 500;

/** A cached part of the store. */
export interface Followed {
  /** The topic of the change hints. */
  readonly topic: Topic;
  /**
   * Applies changes since the last call.
   *
   * @returns whether more changes were already available
   * @throws ConsumeError if the store cannot be read
   */
  readonly readOn: () => Promise<boolean>;
  /** The log message if the store cannot be read. It says which state applies meanwhile. */
  readonly failure: string;
}

/**
 * Keeps memory in sync with the store: reads changes on each hint and at intervals. While the store cannot be read, the cached state
 * remains valid.
 */
export class StoreFollower {
  readonly #watch: Watch;
  readonly #followed: Followed;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** The last started read. It never rejects. */
  #reading: Promise<void> = Promise.resolve();
  /** A scheduled read that has not started; concurrent callers share it. */
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

  /**
   * Reads everything, then follows changes.
   *
   * @throws ConsumeError if the store cannot be read
   */
  async start(): Promise<void> {
    this.#unwatch = this.#watch.watch(this.#followed.topic, () => {
      void this.refresh();
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
   * Resolves when memory holds everything committed before the call. If the store cannot be read, it resolves immediately: the
   * read is retried soon, and the cached state remains valid meanwhile.
   */
  async refresh(): Promise<void> {
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

  /** @throws ConsumeError if the store cannot be read */
  async #upToDate(): Promise<void> {
    // A read in progress may have started before the commit.
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
      void this.refresh();
    });
  }
}
