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
 * The delay before the next attempt: exponential, with jitter so that many senders do not retry at the same time, and never shorter
 * than the retry delay of the other side.
 *
 * @param failures number of failed attempts, at least 1
 * @param retryAfterMs retry delay requested by the other side
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
