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

/** The failure that an answer other than 2xx means. @param place where the request went, without secrets */
export function failureOf(answer: Answer, place: string, now: Micros): ConsumeError {
  const { status, retryAfter } = answer;
  const said = shorten(readFailure(answer.body, encodingOf(answer.contentType)).trim());
  const hint = status >= 300 && status < 400 ? ' (redirects are not followed: write the final URL)' : '';
  const message = `${place} answered ${status}${hint}${said === '' ? '' : `: ${said}`}`;
  if (!RETRYABLE.has(status))
    return new ConsumeError(message, { code: 'validation_failed', retryable: false });
  const retryAfterMs = readRetryAfter(retryAfter, now);
  return new ConsumeError(message, {
    code: status === 429 ? 'rate_limited' : 'overloaded',
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
