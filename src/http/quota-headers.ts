import type { QuotaUsage } from '../component/consumer.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';

/** The response headers about a user's quota. Browsers may read them (`cors.ts`). */
export const QUOTA_HEADERS = {
  'X-Quota-Limit': 'Events per month. Absent without a limit, like the others.',
  'X-Quota-Remaining': 'Events left this month.',
  'X-Quota-Reset': 'Start of the next month, in seconds since 1970.',
};

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
