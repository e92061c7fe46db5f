import type { Clock } from '../../component/telemetry.js';
import { MS_PER_SECOND } from '../../signal/time-units.js';

/** How long a queue has to be full before it is reported, so that health checks do not flicker with short bursts. */
const PATIENCE_MS = 5 * MS_PER_SECOND;
/** The part that has to be free before a queue has room again: the refused amount, within these limits. */
const LEAST_FREE = 0.1;
const MOST_FREE = 0.5;

/**
 * Watches whether a queue is full, for the health of its exporter: from five seconds after it first refused a batch until there is
 * room again for such a batch and for a tenth of the queue. If clients stop sending meanwhile, deliveries show the free room. All
 * amounts are shares of the queue's limit: 1 is full.
 */
export class RoomWatch {
  readonly #clock: Clock;
  readonly #onChange: (isFull: boolean) => void;
  /** The share that has to be free; null if nothing is missing. */
  #missing: number | null = null;
  #isReported = false;
  #cancel: () => void = () => undefined;

  /** @param onChange called when the queue has been full for some seconds, and when it has room again */
  constructor(clock: Clock, onChange: (isFull: boolean) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /**
   * A batch was refused.
   *
   * @param used fill level of the queue
   * @param wanted fill level including the batch: up to 1 there was room, but it is reserved for other users
   */
  refused(used: number, wanted: number): void {
    if (wanted <= 1) return;
    const missing = Math.min(Math.max(wanted - used, LEAST_FREE), MOST_FREE);
    if (used <= 1 - missing) return;
    const isNew = this.#missing === null;
    this.#missing = missing;
    if (!isNew) return;
    this.#cancel = this.#clock.after(PATIENCE_MS, () => {
      this.#isReported = true;
      this.#onChange(true);
    });
  }

  /** A batch has left the queue. @param used current fill level */
  changed(used: number): void {
    if (this.#missing === null || used > 1 - this.#missing) return;
    this.end();
    if (this.#isReported) this.#onChange(false);
    this.#isReported = false;
  }

  /** Cancels the pending report. */
  end(): void {
    this.#missing = null;
    this.#cancel();
  }
}
