import { ConsumeError } from '../../component/consume-error.js';
import { shorten } from '../../component/item-problems.js';
import { readRetryAfter } from '../../delivery/retry-after.js';
import type { Micros } from '../../signal/time.js';
import { encodingOf, readFailure } from '../../otlp/decode/answer.js';

/** What the other side answered. */
export interface Answer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

/** The only statuses after which OTLP/HTTP allows sending again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The fault of the configuration, or of whoever has changed the key: not of the data, which is kept until somebody has mended it. */
const KEY_REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** Whether the other side does not let us in. */
export function isKeyRefused({ status }: Answer): boolean {
  return KEY_REFUSED.has(status);
}

/**
 * The failure that an answer other than 2xx means.
 *
 * @param place where the request went, without secrets @param hide takes secrets out of what the other side says
 */
export function failureOf(
  answer: Answer,
  place: string,
  now: Micros,
  hide: (text: string) => string = (text) => text,
): ConsumeError {
  const { status, retryAfter } = answer;
  const said = shorten(hide(readFailure(answer.body, encodingOf(answer.contentType)).trim()));
  const hint = status >= 300 && status < 400 ? ' (redirects are not followed: write the final URL)' : '';
  const message = `${place} answered ${status}${hint}${said === '' ? '' : `: ${said}`}`;
  if (!RETRYABLE.has(status) && !KEY_REFUSED.has(status))
    return new ConsumeError(message, { code: 'validation_failed', retryable: false });
  const retryAfterMs = readRetryAfter(retryAfter, now);
  return new ConsumeError(message, {
    code: status === 429 ? 'rate_limited' : 'overloaded',
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
