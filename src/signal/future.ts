import type { Micros } from './time.js';
import { MICROS_PER_HOUR } from './time-units.js';

/** Clocks differ by less. A later time is a mistake, such as a counter that overflowed, and is replaced by the time of arrival. */
const FARTHEST: Micros = 24 * MICROS_PER_HOUR;

/** Whether a time is too far after the arrival of its item to be right. */
export function isInFuture(time: Micros, receivedAt: Micros): boolean {
  return time > receivedAt + FARTHEST;
}
