import { formatTime, parseTime } from '../../signal/time.js';
import { nanosBelowMicro, nanosToMicros } from './int64.js';
import type { Int64 } from './requests.js';

/**
 * Nanoseconds since the epoch as ISO 8601 UTC, with nine decimals if six would lose precision.
 *
 * @returns undefined for 0, OTLP's value for unknown times, and for values that {@link nanosToMicros} rejects
 */
export function formatNanos(value: Int64 | null | undefined): string | undefined {
  const micros = nanosToMicros(value ?? 0);
  if (micros === undefined) return undefined;
  const nanos = nanosBelowMicro(value ?? 0);
  if (micros === 0 && nanos === 0) return undefined;
  const text = formatTime(micros);
  if (nanos === 0) return text;
  const [seconds, fraction = ''] = text.slice(0, -1).split('.');
  return `${seconds ?? ''}.${fraction.padEnd(6, '0')}${String(nanos).padStart(3, '0')}Z`;
}

/** Parses a time written by {@link formatNanos} to nanoseconds since the epoch; undefined if it is invalid. */
export function parseNanos(text: string): bigint | undefined {
  const micros = parseTime(text);
  if (micros === undefined) return undefined;
  const digits = /\.\d{6}(\d{1,3})/.exec(text)?.[1] ?? '';
  return BigInt(micros) * 1000n + BigInt(digits.padEnd(3, '0'));
}
