import type { Micros } from './time.js';
import { MICROS_PER_HOUR } from './time-units.js';

/** Maximum clock skew. A later time is an error, such as an overflowed counter, and is replaced by the time of arrival. */
const FARTHEST: Micros = 24 * MICROS_PER_HOUR;

/** Whether a time is too far after the arrival of its item. */
export function isInFuture(time: Micros, receivedAt: Micros): boolean {
  return time > receivedAt + FARTHEST;
}
