import type { QuotaUsage } from '../component/consumer.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';

/** Response headers for users with a quota: the remaining quota. Browsers may read them (`cors.ts`). */
export const QUOTA_HEADERS: readonly string[] = ['X-Quota-Limit', 'X-Quota-Remaining', 'X-Quota-Reset'];

/** For the descriptions of operations whose answers have them. */
export const QUOTA_HEADERS_NOTE =
  'With a monthly limit, responses have the headers `X-Quota-Limit`, `X-Quota-Remaining` (events) and ' +
  '`X-Quota-Reset` (when the count begins again, in seconds since 1970).';

/**
 * The headers of an answer: items a month, how many are left, and when the count begins again, in whole seconds since
 * 1970-01-01T00:00Z.
 *
 * @param usage undefined if no limit applies: then there are none
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
