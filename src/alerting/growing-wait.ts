import type { Clock } from '../component/telemetry.js';

/** The waits of one who fails again and again: each is twice as long as the one before, up to the longest. */
export class GrowingWait {
  readonly #clock: Clock;
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #onOver: () => void;
  #nextMs: number;
  #cancel: (() => void) | null = null;

  /** @param onOver called at the end of each wait */
  constructor(
    clock: Clock,
    { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
    onOver: () => void,
  ) {
    this.#clock = clock;
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#onOver = onOver;
    this.#nextMs = firstMs;
  }

  /** Begins the next wait, unless one is under way. */
  begin(): void {
    if (this.#cancel !== null) return;
    this.#cancel = this.#clock.after(Math.min(this.#nextMs, this.#longestMs), () => {
      this.#cancel = null;
      this.#onOver();
    });
    this.#nextMs = Math.min(2 * this.#nextMs, this.#longestMs);
  }

  /** Ends a wait that is under way; the next one is the first again. */
  end(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#nextMs = this.#firstMs;
  }
}
