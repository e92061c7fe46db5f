import type { Clock, Logger } from '../component/telemetry.js';
import type { KeysVersion } from '../storage/accounts.js';
import type { ControlPlane } from '../storage/control-plane.js';
import type { KeyRing } from './key-ring.js';

/** A hint may be lost, so the store is also asked this often without one. */
const ASK_MS = 30_000;
/** How soon it is asked again after a failure. */
const RETRY_MS = 500;

/**
 * Keeps a key ring like the store: asks for what has changed, on each hint and from time to time. While the store cannot answer,
 * the known keys remain valid.
 */
export class KeyFollower {
  readonly #control: Pick<ControlPlane, 'accounts' | 'watch'>;
  readonly #ring: KeyRing;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #version: KeysVersion | null = null;
  /** Resolves with the last reading that was begun, and never fails. */
  #reading: Promise<void> = Promise.resolve();
  /** A reading that has not begun: whoever asks now shares it. */
  #waiting: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(
    control: Pick<ControlPlane, 'accounts' | 'watch'>,
    ring: KeyRing,
    tools: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#control = control;
    this.#ring = ring;
    this.#clock = tools.clock;
    this.#logger = tools.logger;
  }

  /** Reads all keys, and follows them from then on. @throws ConsumeError where the store cannot be read */
  async start(): Promise<void> {
    this.#unwatch = this.#control.watch.watch('keys', () => {
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
   * Resolves when the ring holds everything that was committed before it was called; where the store cannot be read, at once: it is tried
   * again soon, and what is known holds meanwhile.
   */
  async settle(): Promise<void> {
    try {
      await this.#upToDate();
      this.#hasFailed = false;
      this.#askLater(ASK_MS);
    } catch (error) {
      if (!this.#hasFailed && !this.#isClosed)
        this.#logger.warn(
          { err: error },
          'Changes of API keys cannot be read; the known keys remain valid meanwhile',
        );
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
    for (let hasMore = true; hasMore && !this.#isClosed;) {
      const changes = await this.#control.accounts.followKeys(this.#version);
      this.#ring.put(changes.keys);
      this.#version = changes.version;
      ({ hasMore } = changes);
    }
  }

  #askLater(ms: number): void {
    this.#cancelTimer?.();
    if (this.#isClosed) return;
    this.#cancelTimer = this.#clock.after(ms, () => {
      void this.settle();
    });
  }
}
