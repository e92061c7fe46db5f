import type { Clock } from '../component/telemetry.js';

/** Of batches that others store nobody is told: they are found by looking again, a tenth of the time, and at most once in this one. */
const REST_PER_MS = 10;
const SHORTEST_REST_MS = 1000;

/** When all rules are judged again because of what other processes may have stored. */
export class SteadyLook {
  readonly #clock: Clock;
  readonly #longestMs: number;
  readonly #look: () => void;
  #cancel: () => void = () => undefined;

  /** @param look called after each rest */
  constructor(clock: Clock, longestMs: number, look: () => void) {
    this.#clock = clock;
    this.#longestMs = longestMs;
    this.#look = look;
  }

  /** Begins a rest. @param tookMs how long the last look took */
  rest(tookMs: number): void {
    this.#cancel();
    const restMs = Math.min(Math.max(SHORTEST_REST_MS, REST_PER_MS * tookMs), this.#longestMs);
    this.#cancel = this.#clock.after(restMs, this.#look);
  }

  end(): void {
    this.#cancel();
  }
}
