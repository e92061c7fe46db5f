import type { Clock } from '../component/telemetry.js';

/** Bytes that a client must send or receive. */
export interface Transfer {
  /** Number of bytes transferred so far. Never decreases. */
  readonly moved: () => number;
  /** Called once, if there were too few. */
  readonly tooSlow: () => void;
}

interface Watched extends Transfer {
  readonly windowMs: number;
  /** Length of the current window so far, and the bytes moved before it. */
  elapsedMs: number;
  before: number;
}

const TICK_MS = 1000;

/** Ends transfers below a minimum rate, so that no client keeps a request open by sending or reading a byte now and then. */
export class MinRateMonitor {
  readonly #bytesPerSecond: number;
  readonly #clock: Clock;
  readonly #watched = new Set<Watched>();
  #cancelTick: (() => void) | undefined;

  /** @param bytesPerSecond 0: any progress is enough */
  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
  }

  /**
   * Watches a transfer in consecutive windows of this length. It always gets the whole first window.
   *
   * @returns a function that stops watching
   */
  watch(windowMs: number, transfer: Transfer): () => void {
    const { moved, tooSlow } = transfer;
    // The first tick may come immediately.
    const watched: Watched = { moved, tooSlow, windowMs, elapsedMs: -TICK_MS, before: moved() };
    this.#watched.add(watched);
    this.#cancelTick ??= this.#clock.after(TICK_MS, this.#tick);
    return () => {
      this.#watched.delete(watched);
    };
  }

  close(): void {
    this.#cancelTick?.();
    this.#watched.clear();
  }

  // One timer for all transfers, active only while there are any: most bodies finish long before it fires.
  readonly #tick = (): void => {
    this.#cancelTick = this.#watched.size === 0 ? undefined : this.#clock.after(TICK_MS, this.#tick);
    for (const watched of this.#watched) {
      watched.elapsedMs += TICK_MS;
      if (watched.elapsedMs < watched.windowMs) continue;
      const moved = watched.moved();
      if (moved - watched.before < this.#leastOf(watched.elapsedMs)) {
        this.#watched.delete(watched);
        watched.tooSlow();
      } else {
        watched.before = moved;
        watched.elapsedMs = 0;
      }
    }
  };

  #leastOf(elapsedMs: number): number {
    return Math.max(1, (this.#bytesPerSecond * elapsedMs) / 1000);
  }
}
