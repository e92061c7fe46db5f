import type { Micros } from '../../signal/time.js';
import { bigintToInt64 } from '../wire/int64.js';
import type { Int64 } from '../wire/requests.js';

const TWO_32 = 4_294_967_296;

/**
 * Microseconds since the epoch as exact nanoseconds.
 *
 * @param nanos to be added, 0 to 999
 */
export function microsToNanos(micros: Micros, nanos = 0): Int64 {
  // In two halves, because a time multiplied by 1000 is not a safe integer.
  const high = Math.floor(micros / TWO_32);
  const low = (micros - high * TWO_32) * 1000 + nanos;
  const carry = Math.floor(low / TWO_32);
  return { low: (low - carry * TWO_32) >>> 0, high: (high * 1000 + carry) >>> 0, unsigned: true };
}

/** Parses a 64-bit integer written by `int64ToJson`; 0 for any other value. */
export function jsonToInt64(value: unknown): Int64 {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : 0;
  if (typeof value !== 'string' || !/^-?\d{1,20}$/.test(value)) return 0;
  return { ...bigintToInt64(BigInt(value)), unsigned: !value.startsWith('-') };
}
