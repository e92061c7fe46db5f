import { ConsumeError } from '../../../component/consume-error.js';
import type { QuotaUsage } from '../../../component/consumer.js';
import type { Micros } from '../../../signal/time.js';
import { invariant } from '../../../signal/checked.js';
import type { NamedBatch, OpenWrite, WriteIntentLog } from '../../contracts/coordination.js';
import { refusalOf, usageOf, type ChargedLimits } from './quota-answers.js';

export interface CountParts {
  readonly book: Pick<WriteIntentLog, 'begin' | 'finish'>;
  /** The identity of the store. */
  readonly store: string;
  readonly owner: string;
  readonly leaseMs: number;
}

/** Items that are to be written. */
export interface NewItems {
  readonly tenant: number;
  readonly at: Micros;
  /** How many are new: exactly, or at most. */
  readonly items: number;
  readonly isExact: boolean;
  /** Null where they count for no quota. */
  readonly terms: ChargedLimits | null;
  /** Null where their sender gave them no name. */
  readonly name: string | null;
}

/** Items that may be written, and are counted once they were. */
export interface AdmittedItems {
  readonly kind: 'admitted';
  /** Whether some of them may be stored already: a write of the same batch began, and did not end well. */
  readonly isBegun: boolean;
  /**
   * To be called after they were written.
   *
   * @param items how many
   * @param refused positions of the items of the batch that were not taken
   * @returns how the quota stands
   * @throws ConsumeError
   */
  written(items: number, refused: readonly number[]): Promise<QuotaUsage | null>;
  /** To be called where they could not be written. */
  failed(): Promise<void>;
}

/** A batch that was written before: the positions of the items that were refused then. */
export interface WrittenBatch {
  readonly kind: 'written';
  readonly refused: readonly number[];
}

/**
 * Notes that items are going to be written that are only ever added. Where their process dies before it says that they
 * were written they do not count, unless their batch has a name and comes again.
 *
 * @returns null where it depends on the exact number whether they may be: nothing is noted then
 * @throws ConsumeError `quota_exceeded`, or `overloaded` where what others write at this moment may reach the limit, or a repeat comes while
 *   the batch is being written
 */
export async function admitItems(
  { book, store, owner, leaseMs }: CountParts,
  { tenant, at, items: most, isExact, terms, name }: NewItems,
): Promise<AdmittedItems | WrittenBatch | null> {
  const limit = terms === null || terms.limit === Infinity ? null : terms.limit;
  const charges = terms === null ? [] : [{ tenant, at, items: most, isExact, limit }];
  const batch: NamedBatch | null = name === null ? null : { tenant, name };
  const begun = await book.begin({ store, owner, leaseMs, traces: [], charges, ...(batch && { batch }) });
  if (begun.batch?.as === 'written') return { kind: 'written', refused: begun.batch.refused };
  if (begun.batch?.as === 'under_way') throw underWay();
  const [charged] = begun.charged;
  if (charged?.as === 'inexact') return null;
  const refusal = terms === null ? null : refusalOf(terms, most, invariant(charged, 'answer to a charge'));
  if (refusal !== null) throw refusal;
  const write: OpenWrite = invariant(begun.write, 'a write that was begun');
  return {
    kind: 'admitted',
    isBegun: begun.batch?.as === 'begun',
    written: async (items, refused) => {
      const settled = terms === null ? [] : [{ tenant, at, items }];
      const used = await book.finish(write, settled, batch === null ? undefined : { ...batch, refused });
      // Another has ended it meanwhile. Only a named batch can come again without being stored twice.
      if (used === null && batch !== null) throw underWay();
      return used === null || terms === null ? null : usageOf(terms, invariant(used[0], 'what is settled'));
    },
    failed: async () => {
      await book.finish(write, []);
    },
  };
}

function underWay(): ConsumeError {
  const message = 'A batch of this name is being written.';
  return new ConsumeError(message, { code: 'overloaded', retryable: true, retryAfterMs: 1000 });
}
