import type { Clock } from '../component/telemetry.js';

/** The longest time a Node timer can wait; it fires at once for anything longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The time of the machine. */
export const systemClock: Clock = {
  now: () => Date.now() * 1000,
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      timer = setTimeout(
        () => {
          if (left > MAX_TIMER_MS) wait(left - MAX_TIMER_MS);
          else callback();
        },
        Math.min(left, MAX_TIMER_MS),
      ).unref();
    };
    wait(ms);
    return () => {
      clearTimeout(timer);
    };
  },
};
