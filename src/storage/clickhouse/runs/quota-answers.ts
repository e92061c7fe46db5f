import { ConsumeError } from '../../../component/consume-error.js';
import type { QuotaUsage } from '../../../component/consumer.js';
import { invariant } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import { monthOf, startOfMonth } from '../../contracts/telemetry-writer.js';
import { quotaExceeded } from '../../contracts/errors.js';
import type { Charged } from '../../contracts/coordination.js';

const WAIT_FOR_OTHERS_MS = 1000;

/** The limit that items are charged to. */
export interface ChargedLimits {
  readonly at: Micros;
  /** Items a month; Infinity for no limit. */
  readonly limit: number;
}

/** The usage of a quota; null without a limit. */
export function usageOf({ at, limit }: ChargedLimits, used: number): QuotaUsage | null {
  return limit === Infinity ? null : { limit, used, resets_at: startOfMonth(monthOf(at) + 1) };
}

/** The error for a refused charge; null if the charge was accepted or must be repeated with an exact number. */
export function refusalOf(
  limits: ChargedLimits,
  items: number,
  { as, used }: { readonly as: Charged; readonly used: number },
): ConsumeError | null {
  if (as === 'taken' || as === 'inexact') return null;
  if (as === 'exceeds')
    return quotaExceeded(invariant(usageOf(limits, used), 'limit of a quota'), items, limits.at);
  return new ConsumeError('Concurrent writes may reach the monthly limit; retry.', {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: WAIT_FOR_OTHERS_MS,
  });
}
