import type { Clock } from '../../component/telemetry.js';
import { MS_PER_SECOND } from '../../signal/time-units.js';

/** How long a queue has to be full before that is told: a burst passes, and whoever asks for health should not see it flicker. */
const PATIENCE_MS = 5 * MS_PER_SECOND;
/** What has to be free before a queue counts as having room again: as much as was refused, within these limits. */
const LEAST_FREE = 0.1;
const MOST_FREE = 0.5;

/**
 * Watches whether a queue is full, for the health of its exporter: from five seconds after it first refused a batch until there is
 * room again for such a batch and for a tenth of the queue. Whoever is sent nothing more meanwhile sees that from what is delivered.
 * All amounts are shares of what the queue may hold: 1 is all of it.
 */
export class RoomWatch {
  readonly #clock: Clock;
  readonly #onChange: (isFull: boolean) => void;
  /** The share that has to be free; null where nothing is missing. */
  #missing: number | null = null;
  #isTold = false;
  #cancel: () => void = () => undefined;

  /** @param onChange is told when it has become full for longer, and when it has room again */
  constructor(clock: Clock, onChange: (isFull: boolean) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /**
   * A batch was not taken.
   *
   * @param used what is in the queue
   * @param wanted what would be in it with the batch: up to 1 there was room, but it is kept for other users
   */
  refused(used: number, wanted: number): void {
    if (wanted <= 1) return;
    const missing = Math.min(Math.max(wanted - used, LEAST_FREE), MOST_FREE);
    if (used <= 1 - missing) return;
    const isNew = this.#missing === null;
    this.#missing = missing;
    if (!isNew) return;
    this.#cancel = this.#clock.after(PATIENCE_MS, () => {
      this.#isTold = true;
      this.#onChange(true);
    });
  }

  /** Something has left the queue. @param used what is in it now */
  changed(used: number): void {
    if (this.#missing === null || used > 1 - this.#missing) return;
    this.end();
    if (this.#isTold) this.#onChange(false);
    this.#isTold = false;
  }

  /** Nothing more is told because of time that passes. */
  end(): void {
    this.#missing = null;
    this.#cancel();
  }
}
