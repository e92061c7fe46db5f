import type { Clock } from '../../src/component/telemetry.js';
import type { Micros } from '../../src/signal/time.js';

/** A clock that only a test advances, shared by every thread with its memory. It has no timers. */
export class SharedClock implements Clock {
  readonly memory: SharedArrayBuffer;
  readonly #now: BigInt64Array;

  /** @param memory of a clock in another thread */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
    this.#now = new BigInt64Array(this.memory);
    if (memory === undefined) Atomics.store(this.#now, 0, BigInt(Date.UTC(2026, 0, 15, 12)) * 1000n);
  }

  now(): Micros {
    return Number(Atomics.load(this.#now, 0));
  }

  after(): () => void {
    throw new Error('a shared clock calls nobody back');
  }

  advance(ms: number): void {
    Atomics.add(this.#now, 0, BigInt(ms * 1000));
  }
}
