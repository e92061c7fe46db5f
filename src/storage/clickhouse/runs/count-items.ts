import type { QuotaUsage } from '../../../component/consumer.js';
import type { Micros } from '../../../signal/time.js';
import { must } from '../../../signal/checked.js';
import type { WriteBook } from '../../write-book.js';
import { refusalOf, usageOf, type CountedTerms } from './quota-answers.js';

export interface CountParts {
  readonly book: Pick<WriteBook, 'begin' | 'finish'>;
  /** The identity of the store. */
  readonly store: string;
  readonly owner: string;
  readonly leaseMs: number;
}

/** Items that may be written, and are counted once they were. */
export interface AdmittedItems {
  /** To be called after they were written. @returns how the quota stands */
  written(): Promise<QuotaUsage | null>;
}

/**
 * Notes that items are going to be written that are only ever added: all of them are new. Where their process dies before it says that they
 * were written they do not count.
 *
 * @throws ConsumeError `quota_exceeded`, or `overloaded` where what others write at this moment may reach the limit
 */
export async function admitItems(
  { book, store, owner, leaseMs }: CountParts,
  counted: CountedTerms & { readonly tenant: number; readonly at: Micros },
  items: number,
): Promise<AdmittedItems> {
  const { tenant, at, limit } = counted;
  const charge = { tenant, at, items, isExact: true, limit: limit === Infinity ? null : limit };
  const { write, charged } = await book.begin({ store, owner, leaseMs, traces: [], charges: [charge] });
  const refusal = refusalOf(counted, items, must(charged[0], 'answer to a charge'));
  if (refusal !== null) throw refusal;
  return {
    written: async () => {
      const used = await book.finish(must(write, 'a write that was begun'), [{ tenant, at, items }]);
      return used === null ? null : usageOf(counted, must(used[0], 'what is settled'));
    },
  };
}
