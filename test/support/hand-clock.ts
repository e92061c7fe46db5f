import type { Clock } from '../../src/component/telemetry.js';
import type { Micros } from '../../src/signal/time.js';

/** A clock that stands still until a test turns it. */
export class HandClock implements Clock {
  #now: Micros;
  #timers: { readonly at: Micros; readonly callback: () => void }[] = [];

  constructor(now: Micros = Date.UTC(2026, 0, 15, 12) * 1000) {
    this.#now = now;
  }

  now(): Micros {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms * 1000, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Lets time pass, and calls what falls due on the way in its order. */
  advance(ms: number): void {
    const end = this.#now + ms * 1000;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }

  /** Lets time pass as while the machine sleeps: what fell due meanwhile is called once, at the end. */
  sleep(ms: number): void {
    this.#now += ms * 1000;
    const due = this.#timers.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { callback } of due) callback();
  }
}
