import type { QuotaUsage } from '../component/consumer.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';

/** Names of the response headers about a user's quota. Browsers may read them (`cors.ts`). */
export const QUOTA_HEADERS: readonly string[] = ['X-Quota-Limit', 'X-Quota-Remaining', 'X-Quota-Reset'];

/** For the descriptions of operations with these response headers. */
export const QUOTA_HEADERS_NOTE =
  'With a monthly limit, responses have the headers `X-Quota-Limit`, `X-Quota-Remaining` (events) and ' +
  '`X-Quota-Reset` (start of the next month, in seconds since 1970).';

/**
 * The response headers: monthly limit, remaining items, and when the count restarts, in whole seconds since 1970-01-01T00:00Z.
 *
 * @param usage undefined if no limit applies: the result is then empty
 */
export function quotaHeaders(usage: QuotaUsage | undefined): Readonly<Record<string, string>> {
  if (usage === undefined) return {};
  const { limit, used, resets_at } = usage;
  return {
    'x-quota-limit': String(limit),
    // The limit may have been lowered since.
    'x-quota-remaining': String(Math.max(0, limit - used)),
    'x-quota-reset': String(Math.ceil(resets_at / MICROS_PER_SECOND)),
  };
}
