import { Type } from 'typebox';
import { durationMs } from '../../../config/duration.js';
import { duration } from '../../../config/schema.js';

/** Default time limit of connecting. */
const CONNECT_MS = 5000;

/** The keys `timeout` and `connect_timeout`. */
interface AttemptTimes {
  readonly timeout: string;
  readonly connect_timeout?: string | undefined;
}

/** The key `connect_timeout` of every exporter that posts webhooks. */
export const connectTimeoutKey = Type.Optional(
  duration({
    description: 'Time limit for DNS, connection and TLS within timeout. Default: 5s, or timeout if shorter.',
  }),
);

/** In milliseconds. */
export function attemptTimes({ timeout, connect_timeout }: AttemptTimes): {
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
} {
  const timeoutMs = durationMs(timeout);
  const connectTimeoutMs =
    connect_timeout === undefined ? Math.min(CONNECT_MS, timeoutMs) : durationMs(connect_timeout);
  return { timeoutMs, connectTimeoutMs };
}

/** Checks what the schema cannot express about them. */
export function checkAttemptTimes(
  times: AttemptTimes,
): readonly { readonly path: string; readonly message: string }[] {
  const { timeoutMs, connectTimeoutMs } = attemptTimes(times);
  if (timeoutMs === 0) return [{ path: '/timeout', message: 'must be greater than 0s' }];
  if (connectTimeoutMs === 0) return [{ path: '/connect_timeout', message: 'must be greater than 0s' }];
  return connectTimeoutMs <= timeoutMs
    ? []
    : [
        {
          path: '/connect_timeout',
          message: `is part of timeout and must not be longer (${times.timeout})`,
        },
      ];
}
