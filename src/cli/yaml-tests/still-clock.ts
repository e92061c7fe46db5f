import type { Clock } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';

interface Timer {
  readonly at: Micros;
  readonly callback: () => void;
}

/** A clock that moves only when it is told to, so that a test always gives the same. */
export class StillClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now: Micros;

  constructor(now: Micros) {
    this.#now = now;
  }

  now(): Micros {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms * MICROS_PER_MS, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Whether somebody waits for time to pass. */
  get isAwaited(): boolean {
    return this.#timers.size > 0;
  }

  /** Lets time pass, and calls what falls due on the way in its order. @param settle lets what was called do its work */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const end = this.#now + ms * MICROS_PER_MS;
    for (;;) {
      const [due] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!due) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
      await settle();
    }
    this.#now = end;
  }
}
