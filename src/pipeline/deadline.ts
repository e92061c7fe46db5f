import type { Clock } from '../component/telemetry.js';

/** After the deadline a component that reacts to it still needs a moment to let go of what it holds. */
const GRACE_MS = 2000;

/** The time that a stop may take, shared by everything that stops. */
export class Deadline {
  readonly #expiry = new AbortController();
  readonly #abandoned = new AbortController();
  readonly #cancel: () => void;

  constructor(ms: number, clock: Clock) {
    let cancelGrace = (): void => undefined;
    const cancelExpiry = clock.after(ms, () => {
      this.#expiry.abort();
      cancelGrace = clock.after(GRACE_MS, () => {
        this.#abandoned.abort();
      });
    });
    this.#cancel = () => {
      cancelExpiry();
      cancelGrace();
    };
  }

  /** What components are given: aborted when they should stop waiting. */
  get abort(): AbortSignal {
    return this.#expiry.signal;
  }

  /**
   * Waits for work, but not longer than the deadline and a short grace.
   *
   * @throws Error when the work was abandoned; whatever the work throws
   */
  async wait(work: () => Promise<unknown>, what: string): Promise<void> {
    const { signal } = this.#abandoned;
    let onAbandoned = (): void => undefined;
    const abandoned = new Promise<never>((_, reject) => {
      onAbandoned = () => {
        reject(new Error(`${what} did not stop in time and was abandoned`));
      };
      if (signal.aborted) onAbandoned();
      else signal.addEventListener('abort', onAbandoned);
    });
    try {
      // Called even when everything is late: what must be let go of can still be let go of at once.
      await Promise.race([(async () => work())(), abandoned]);
    } finally {
      signal.removeEventListener('abort', onAbandoned);
    }
  }

  /** Ends the timers. */
  cancel(): void {
    this.#cancel();
  }
}
