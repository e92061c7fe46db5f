import type { Batch } from '../../../signal/batch.js';
import type { Micros } from '../../../signal/time.js';
import type { Counted } from '../../incoming/counted.js';
import type { UserTerms } from '../../user-terms.js';

/**
 * For a message of a batch; empty where the batch is not counted. The user's own limit goes before that of the batch; 0 is none.
 *
 * @param at when the batch came, which decides its month
 */
export function countedMessage(
  { quota }: Pick<Batch<unknown>, 'quota'>,
  { tenant, monthlyLimit }: UserTerms,
  at: Micros,
): { readonly counted?: Counted } {
  if (quota === undefined) return {};
  const limit = monthlyLimit ?? quota.monthly_items;
  return { counted: { tenant, at, limit: limit === 0 ? Infinity : limit } };
}
