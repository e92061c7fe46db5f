import type { Clock } from '../component/telemetry.js';
import { MICROS_PER_MS } from '../signal/time-units.js';
import type { Micros } from '../signal/time.js';

interface Timer {
  readonly at: Micros;
  readonly callback: () => void;
}

/** A clock that stands still until somebody turns it, so that a test always gives the same. */
export class StillClock implements Clock {
  #now: Micros;
  readonly #timers = new Set<Timer>();

  /** @param now in microseconds; noon of 2026-01-15 in UTC where absent */
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
    for (const callback of this.#passing(ms)) callback();
  }

  /** As {@link advance}. @param settle lets what was called do its work before time goes on */
  async advanceSlowly(ms: number, settle: () => Promise<void>): Promise<void> {
    for (const callback of this.#passing(ms)) {
      callback();
      await settle();
    }
  }

  /** Lets time pass as while the machine sleeps: what fell due meanwhile is called once, at the end. */
  sleep(ms: number): void {
    this.#now += ms * MICROS_PER_MS;
    const due = this.#dueBy(this.#now);
    for (const timer of due) this.#timers.delete(timer);
    for (const { callback } of due) callback();
  }

  /** What falls due, one after the other: what is called may set timers that fall due, too. */
  *#passing(ms: number): Generator<() => void> {
    const end = this.#now + Math.round(ms * MICROS_PER_MS);
    for (let [due] = this.#dueBy(end); due !== undefined; [due] = this.#dueBy(end)) {
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      yield due.callback;
    }
    this.#now = end;
  }

  /** Timers up to a time, in their order. */
  #dueBy(end: Micros): readonly Timer[] {
    return [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
  }
}
