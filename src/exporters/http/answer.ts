import { ConsumeError } from '../../component/consume-error.js';
import { shorten } from '../../component/item-problems.js';
import { remedyFor } from '../../delivery/http-answer.js';
import type { AttemptResult } from '../../delivery/senders/webhook/sender.js';

/** 4xx that say something of the moment and not of the request. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** With a path that is made of an item, these may be about that item. */
const OF_PATH: ReadonlySet<number | null> = new Set([404, 405]);

/**
 * The failure that an attempt ended with.
 *
 * @param place where it went: without path and query, which may hold a key
 * @param hasFixedPath whether the path is the same for all items
 * @param hide takes secrets out of what the other side says
 * @returns null for a success
 */
export function failureOf(
  result: AttemptResult,
  { place, hasFixedPath }: { readonly place: string; readonly hasFixedPath: boolean },
  hide: (text: string) => string,
): ConsumeError | null {
  const { kind, succeeded, statusCode, error, retryAfterMs, responseBody } = result;
  if (succeeded) return null;
  const isOfItem = !hasFixedPath && OF_PATH.has(statusCode);
  const remedy = kind === 'refused' && !isOfItem ? remedyFor(statusCode) : undefined;
  const isPermanent =
    kind === 'refused' &&
    statusCode !== null &&
    statusCode < 500 &&
    !PASSING.has(statusCode) &&
    remedy === undefined;
  if (isPermanent) {
    const said = shorten(hide(responseBody).replace(/\s+/g, ' ').trim());
    const message = `${place} answered ${statusCode}${said === '' ? '' : `: ${said}`}`;
    return new ConsumeError(error === null ? message : `${place}: ${error}`, {
      code: 'validation_failed',
      retryable: false,
    });
  }
  const cure = kind === 'blocked' ? 'list its network in targets.allow_cidrs where that is meant' : remedy;
  return new ConsumeError(
    `${place}: ${error ?? `the answer was ${statusCode ?? 'none'}`}${cure === undefined ? '' : `: ${cure}`}`,
    {
      code: statusCode === 429 ? 'rate_limited' : 'overloaded',
      retryable: true,
      needsOperator: remedy !== undefined || kind === 'blocked',
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    },
  );
}
