import { ConsumeError } from '../../component/consume-error.js';
import { shorten } from '../../component/item-problems.js';
import { isRedirect, readRetryAfter, remedyFor } from '../../delivery/http-answer.js';
import type { Micros } from '../../signal/time.js';
import { encodingOf, readFailure } from '../../otlp/decode/answer.js';

/** The server's response. */
export interface Answer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

/** The only statuses after which OTLP/HTTP allows sending again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * The failure for a response other than 2xx.
 *
 * @param place URL without secrets @param hide removes secrets from the server's text
 */
export function failureOf(
  answer: Answer,
  place: string,
  now: Micros,
  hide: (text: string) => string = (text) => text,
): ConsumeError {
  const { status, retryAfter } = answer;
  const text = shorten(hide(readFailure(answer.body, encodingOf(answer.contentType)).trim()));
  const remedy = remedyFor(status);
  const advice = isRedirect(status) ? 'redirects are not followed: set the final URL' : remedy;
  const hint = advice === undefined ? '' : ` (${advice})`;
  const message = `${place} answered ${status}${hint}${text === '' ? '' : `: ${text}`}`;
  if (!RETRYABLE.has(status) && remedy === undefined)
    return new ConsumeError(message, { code: 'validation_failed', retryable: false });
  const retryAfterMs = readRetryAfter(retryAfter, now);
  return new ConsumeError(message, {
    code: status === 429 ? 'rate_limited' : 'overloaded',
    retryable: true,
    needsOperator: remedy !== undefined,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
