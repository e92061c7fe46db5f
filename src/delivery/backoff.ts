export interface RetryOptions {
  readonly isEnabled: boolean;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly multiplier: number;
  /** 0 to 1. */
  readonly jitter: number;
  /** 0 for no end. */
  readonly maxElapsedMs: number;
  /** 0 or absent for no end. */
  readonly maxAttempts?: number;
}

/**
 * The wait before the next attempt: exponential, varied so that many senders do not come back together, and never
 * shorter than the other side asks for.
 *
 * @param failures how many attempts have failed, at least 1
 * @param retryAfterMs what the other side asks for
 * @param random from 0 (inclusive) to 1
 * @returns whole milliseconds
 */
export function backoffMs(
  { initialMs, maxMs, multiplier, jitter }: RetryOptions,
  failures: number,
  retryAfterMs: number,
  random: number,
): number {
  const plain = Math.min(initialMs * multiplier ** (failures - 1), maxMs);
  const varied = plain * (1 - jitter + 2 * jitter * random);
  return Math.round(Math.max(varied, retryAfterMs));
}
