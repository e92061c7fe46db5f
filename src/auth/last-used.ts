import type { Clock, Logger } from '../component/telemetry.js';
import type { Micros } from '../signal/time.js';
import { MS_PER_HOUR } from '../signal/time-units.js';
import { SparseLog } from '../telemetry/sparse-log.js';

/** Minimum interval between writes. */
const INTERVAL_MS = 60_000;

/** Minimum interval between logs of a failure. */
const SAVE_MS = MS_PER_HOUR;

/** One use of a key or login, by id. */
export interface Use {
  readonly id: string;
  readonly at: Micros;
}

/**
 * Records last-used times in the store. The first use after a quiet minute is written immediately, so that a new key shows as
 * used; later uses are written together after a minute.
 */
export class LastUsed {
  readonly #store: (uses: readonly Use[]) => Promise<void>;
  readonly #failure: string;
  readonly #clock: Clock;
  readonly #log: SparseLog;
  #uses = new Map<string, Micros>();
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** @param failure the log message if the store fails; the write is then retried */
  constructor(
    store: (uses: readonly Use[]) => Promise<void>,
    failure: string,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#store = store;
    this.#failure = failure;
    this.#clock = clock;
    this.#log = new SparseLog(logger, clock, SAVE_MS);
  }

  note(id: string, at: Micros): void {
    this.#uses.set(id, at);
    if (this.#cancelTimer === undefined && !this.#isClosed) this.#flush();
  }

  /** Writes pending times. Later uses are not written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    if (this.#uses.size > 0) this.#write();
    await this.#writing;
  }

  #flush(): void {
    this.#cancelTimer = this.#clock.after(INTERVAL_MS, () => {
      this.#cancelTimer = undefined;
      if (this.#uses.size > 0) this.#flush();
    });
    this.#write();
  }

  #write(): void {
    const uses = this.#uses;
    this.#uses = new Map();
    this.#writing = this.#writing.then(async () => {
      try {
        await this.#store([...uses].map(([id, at]) => ({ id, at })));
      } catch (error) {
        // Retried in the next minute: a slightly old time is harmless, a failed request is not.
        for (const [id, at] of uses) if (!this.#uses.has(id)) this.#uses.set(id, at);
        this.#log.warn(0, { err: error, count: uses.size }, this.#failure);
      }
    });
  }
}
