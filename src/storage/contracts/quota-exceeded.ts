import { ConsumeError } from '../../component/consume-error.js';
import type { QuotaUsage } from '../../component/consumer.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';

/**
 * Of a request that would pass its sender's monthly limit.
 *
 * @param usage how the quota stands without it
 * @param items what the request would add, at least
 * @param at when the request came
 */
export function quotaExceeded(usage: QuotaUsage, items: number, at: Micros): ConsumeError {
  const { limit, used, resets_at } = usage;
  return new ConsumeError(
    `The monthly limit of ${limit} events would be exceeded: ${used} are used and this request adds ${items}. None of it was stored. The next month begins at ${new Date(resets_at / MICROS_PER_MS).toISOString()}.`,
    { code: 'quota_exceeded', retryable: true, retryAfterMs: (resets_at - at) / MICROS_PER_MS, usage },
  );
}
