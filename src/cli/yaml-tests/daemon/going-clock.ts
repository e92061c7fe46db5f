import { setTimeout as wait } from 'node:timers/promises';
import { StillClock } from '../../../telemetry/still-clock.js';

const STEP_MS = 5;

/** A clock that follows real time from its creation and can be advanced. */
export class GoingClock extends StillClock {
  #isLeaping = false;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    super(Date.now() * 1000);
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const passed = now - last;
      last = now;
      if (!this.#isLeaping) this.advance(passed);
    }, STEP_MS);
  }

  /** Advances the clock; after each timer that fires, its work gets a moment to start. */
  async leap(ms: number): Promise<void> {
    this.#isLeaping = true;
    await this.advanceSlowly(ms, async () => wait(1));
    this.#isLeaping = false;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
