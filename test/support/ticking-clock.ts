import { HandClock } from './hand-clock.js';

/** A clock that advances by itself and can also be advanced by a test. */
export class TickingClock extends HandClock {
  constructor(t: { teardown(end: () => void): void }) {
    super(Date.now() * 1000);
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      const passed = Math.floor(now - last);
      last += passed;
      this.advance(passed);
    }, 1);
    t.teardown(() => {
      clearInterval(timer);
    });
  }
}
