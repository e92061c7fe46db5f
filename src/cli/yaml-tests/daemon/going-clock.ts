import { setTimeout as wait } from 'node:timers/promises';
import { StillClock } from '../../../telemetry/still-clock.js';

const STEP_MS = 5;

/** Goes on as the real time does, which begins when it is made, and may be put forward. */
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

  /** Puts it forward; what falls due on the way has a moment to begin its work. */
  async leap(ms: number): Promise<void> {
    this.#isLeaping = true;
    await this.advanceSlowly(ms, async () => wait(1));
    this.#isLeaping = false;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
