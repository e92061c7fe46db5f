import type { Clock, Logger } from '../component/telemetry.js';
import type { Micros } from '../signal/time.js';
import { MS_PER_HOUR } from '../signal/time-units.js';
import { SparseLog } from '../telemetry/sparse-log.js';

/** Uses are written at most once a minute. */
const INTERVAL_MS = 60_000;

/** How often it is said that this fails. */
const SAY_MS = MS_PER_HOUR;

/** The use of something, by its id. */
export interface Use {
  readonly id: string;
  readonly at: Micros;
}

/**
 * Notes when things are used and has it written to the store: the first use after a quiet minute at once, so that a new key shows
 * as used; everything after it together, a minute later.
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

  /** @param failure said in the log when the store fails; it is then tried again */
  constructor(
    store: (uses: readonly Use[]) => Promise<void>,
    failure: string,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#store = store;
    this.#failure = failure;
    this.#clock = clock;
    this.#log = new SparseLog(logger, clock, SAY_MS);
  }

  note(id: string, at: Micros): void {
    this.#uses.set(id, at);
    if (this.#cancelTimer === undefined && !this.#isClosed) this.#flush();
  }

  /** Writes what is noted and waits for it. Later uses are not written any more. */
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
        // The next minute tries again: a time that is a little old harms nobody, while failing a request would.
        for (const [id, at] of uses) if (!this.#uses.has(id)) this.#uses.set(id, at);
        this.#log.warn(0, { err: error, count: uses.size }, this.#failure);
      }
    });
  }
}
