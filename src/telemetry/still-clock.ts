import type { Clock } from '../component/telemetry.js';
import { MICROS_PER_MS } from '../signal/time-units.js';
import type { Micros } from '../signal/time.js';

interface Timer {
  readonly at: Micros;
  readonly callback: () => void;
}

/** A clock that advances only on request, for deterministic tests. */
export class StillClock implements Clock {
  #now: Micros;
  readonly #timers = new Set<Timer>();

  /** @param now in microseconds; by default noon of 2026-01-15 in UTC */
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

  /** Like {@link advance}. @param settle lets callbacks finish their work before time advances further */
  async advanceSlowly(ms: number, settle: () => Promise<void>): Promise<void> {
    for (const callback of this.#passing(ms)) {
      callback();
      await settle();
    }
  }

  /** Simulates a sleeping machine: timers that expired meanwhile fire once, at the end. */
  sleep(ms: number): void {
    this.#now += ms * MICROS_PER_MS;
    const due = this.#dueBy(this.#now);
    for (const timer of due) this.#timers.delete(timer);
    for (const { callback } of due) callback();
  }

  /** Timers that expire, one after the other; a callback may set further timers that expire too. */
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
