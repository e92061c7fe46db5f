import type { Micros } from '../../signal/time.js';
import type { Int64 } from './requests.js';

const TWO_32 = 4_294_967_296;

/** The nearest double. */
export function int64ToNumber(value: Int64): number {
  if (typeof value !== 'object') return Number(value);
  return (value.unsigned ? value.high >>> 0 : value.high | 0) * TWO_32 + (value.low >>> 0);
}

/** A JSON value without loss: a number if it is a safe integer, otherwise its decimal digits. */
export function int64ToJson(value: Int64): number | string {
  const near = int64ToNumber(value);
  return Number.isSafeInteger(near) ? near : int64ToBigInt(value).toString();
}

/**
 * Nanoseconds since the epoch, truncated to whole microseconds exactly.
 *
 * @returns undefined for invalid integers, and for times outside {@link Micros}
 */
export function nanosToMicros(value: Int64): Micros | undefined {
  if (typeof value === 'object') {
    const high = value.high >>> 0;
    const low = value.low >>> 0;
    // 2^32 = 4 294 967 · 1000 + 296: dividing the halves keeps every intermediate below 2^53.
    const rest = (high % 1000) * 296 + (low % 1000) + Math.floor(high / 1000) * 1000 * 296;
    const micros = high * 4_294_967 + Math.floor(low / 1000) + Math.floor(rest / 1000);
    return safe(micros);
  }
  // Times in JSON as usual: without its last three digits such a number is exact.
  if (typeof value === 'string' && /^\d{4,19}$/.test(value)) return safe(Number(value.slice(0, -3)));
  if (typeof value === 'number' && !Number.isInteger(value)) return undefined;
  try {
    return safe(Number(BigInt(value) / 1000n));
  } catch {
    return undefined;
  }
}

/** The nanoseconds that {@link nanosToMicros} truncates: 0 to 999. */
export function nanosBelowMicro(value: Int64): number {
  if (typeof value === 'object') return ((value.high >>> 0) * 296 + ((value.low >>> 0) % 1000)) % 1000;
  return Number(BigInt(value) % 1000n);
}

function safe(micros: number): Micros | undefined {
  return Number.isSafeInteger(micros) ? micros : undefined;
}

export function int64ToBigInt(value: Int64): bigint {
  if (typeof value !== 'object') return BigInt(value);
  const bits = (BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0);
  return value.unsigned ? bits : BigInt.asIntN(64, bits);
}

/** The lowest 64 bits. */
export function bigintToInt64(value: bigint): Exclude<Int64, number | string> {
  const bits = BigInt.asUintN(64, value);
  return { low: Number(bits & 0xffff_ffffn), high: Number(bits >> 32n), unsigned: false };
}
