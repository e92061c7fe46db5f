import type { Clock } from '../component/telemetry.js';
import { MICROS_PER_MS } from '../signal/time-units.js';
import type { Micros } from '../signal/time.js';

interface Timer {
  readonly at: Micros;
  readonly callback: () => void;
}

/** A clock that stands still until a test turns it. */
export class TestClock implements Clock {
  #now: Micros;
  readonly #timers = new Set<Timer>();

  /** @param now in microseconds; noon of 2026-01-15 where absent */
  constructor(now: Micros = Date.UTC(2026, 0, 15, 12) * MICROS_PER_MS) {
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

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Lets time pass, and calls what falls due on the way, in its order. */
  advance(ms: number): void {
    const end = this.#now + Math.round(ms * MICROS_PER_MS);
    for (;;) {
      const [due] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }
}
