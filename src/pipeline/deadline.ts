import { setMaxListeners } from 'node:events';
import type { Clock } from '../component/telemetry.js';

/** After the deadline each component still gets this long to release its resources. */
const GRACE_MS = 1000;

/** The time that a stop may take, shared by everything that stops. */
export class Deadline {
  readonly #clock: Clock;
  readonly #expiry = new AbortController();
  readonly #cancel: () => void;

  constructor(ms: number, clock: Clock) {
    this.#clock = clock;
    // Every component listens to it, and Node takes more than ten listeners for a leak.
    setMaxListeners(0, this.#expiry.signal);
    this.#cancel = clock.after(ms, () => {
      this.#expiry.abort();
    });
  }

  /** Passed to components: aborted when they should stop waiting. */
  get abort(): AbortSignal {
    return this.#expiry.signal;
  }

  /**
   * Waits for work, but only until the deadline and a short grace. Work that begins after the deadline gets the grace, too: one
   * component that hangs must not keep the store from closing its files.
   *
   * @throws Error when the work was abandoned; whatever the work throws
   */
  async wait(work: () => Promise<unknown>, what: string): Promise<void> {
    const { signal } = this.#expiry;
    let cancelGrace = (): void => undefined;
    let onExpiry = (): void => undefined;
    const abandoned = new Promise<never>((_, reject) => {
      onExpiry = () => {
        cancelGrace = this.#clock.after(GRACE_MS, () => {
          reject(new Error(`${what} did not stop in time and was abandoned`));
        });
      };
      if (signal.aborted) onExpiry();
      else signal.addEventListener('abort', onExpiry);
    });
    try {
      await Promise.race([(async () => work())(), abandoned]);
    } finally {
      signal.removeEventListener('abort', onExpiry);
      cancelGrace();
    }
  }

  /** Ends the timer. */
  cancel(): void {
    this.#cancel();
  }
}
