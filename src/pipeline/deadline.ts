import { setMaxListeners } from 'node:events';
import type { Clock } from '../component/telemetry.js';

/** After the deadline, each component still gets this long to release its resources. */
const GRACE_MS = 1000;

/** The time limit of a stop, shared by everything that stops. */
export class Deadline {
  readonly #clock: Clock;
  readonly #expiry = new AbortController();
  readonly #cancel: () => void;

  constructor(ms: number, clock: Clock) {
    this.#clock = clock;
    // Every component listens to it, and Node reports more than ten listeners as a leak.
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
   * Waits for work until the deadline and a short grace period. Work that starts after the deadline also gets the grace period: a
   * component that hangs must not keep the store from closing its files.
   *
   * @throws Error if the work was abandoned; errors of the work
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

  /** Cancels the timer. */
  cancel(): void {
    this.#cancel();
  }
}
