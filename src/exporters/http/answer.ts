import { ConsumeError } from '../../component/consume-error.js';
import { shorten } from '../../component/item-problems.js';
import type { AttemptResult } from '../../delivery/senders/webhook/sender.js';

/** 4xx that say something of the moment and not of the request. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** The fault of the configuration, or of whoever has changed the key: not of the data, which is kept until somebody has mended it. */
const KEY_REFUSED: ReadonlySet<number | null> = new Set([401, 403]);

/** Whether the other side does not let us in. */
export function isKeyRefused({ kind, statusCode }: AttemptResult): boolean {
  return kind === 'refused' && KEY_REFUSED.has(statusCode);
}

/**
 * The failure that an attempt ended with.
 *
 * @param place where it went: without path and query, which may hold a key
 * @param hide takes secrets out of what the other side says
 * @returns null for a success
 */
export function failureOf(
  result: AttemptResult,
  place: string,
  hide: (text: string) => string,
): ConsumeError | null {
  const { kind, succeeded, statusCode, error, retryAfterMs, responseBody } = result;
  if (succeeded) return null;
  const isPermanent =
    kind === 'refused' &&
    statusCode !== null &&
    statusCode < 500 &&
    !PASSING.has(statusCode) &&
    !isKeyRefused(result);
  if (isPermanent) {
    const said = shorten(hide(responseBody).replace(/\s+/g, ' ').trim());
    const message = `${place} answered ${statusCode}${said === '' ? '' : `: ${said}`}`;
    return new ConsumeError(error === null ? message : `${place}: ${error}`, {
      code: 'validation_failed',
      retryable: false,
    });
  }
  const cure = kind === 'blocked' ? ': list its network in targets.allow_cidrs where that is meant' : '';
  return new ConsumeError(`${place}: ${error ?? `the answer was ${statusCode ?? 'none'}`}${cure}`, {
    code: statusCode === 429 ? 'rate_limited' : 'overloaded',
    retryable: true,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}
