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

/** Items to write. */
export interface NewItems {
  readonly tenant: number;
  readonly at: Micros;
  /** The number of new items: exact, or an upper bound. */
  readonly items: number;
  readonly isExact: boolean;
  /** Null if the items count for no quota. */
  readonly limits: ChargedLimits | null;
  /** Null if the batch has no name. */
  readonly name: string | null;
}

/** Admitted items, which are counted after the write. */
export interface AdmittedItems {
  readonly kind: 'admitted';
  /** Whether some may be stored already, because an earlier write of the same batch did not finish. */
  readonly isBegun: boolean;
  /**
   * Call it after the write.
   *
   * @param items how many
   * @param refused positions of the refused items of the batch
   * @returns the usage of the quota
   * @throws ConsumeError
   */
  written(items: number, refused: readonly number[]): Promise<QuotaUsage | null>;
  /** Call it if the write failed. */
  failed(): Promise<void>;
}

/** A batch that was written before, with the positions of the items refused then. */
export interface WrittenBatch {
  readonly kind: 'written';
  readonly refused: readonly number[];
}

/**
 * Registers append-only items before they are written. If the process dies before the write is reported, they do not count, unless the
 * batch has a name and is sent again.
 *
 * @returns null if the decision needs the exact number; nothing is registered then
 * @throws ConsumeError `quota_exceeded`; `overloaded` if concurrent writes may reach the limit, or the same batch is being written
 */
export async function admitItems(
  { book, store, owner, leaseMs }: CountParts,
  { tenant, at, items: most, isExact, limits, name }: NewItems,
): Promise<AdmittedItems | WrittenBatch | null> {
  const limit = limits === null || limits.limit === Infinity ? null : limits.limit;
  const charges = limits === null ? [] : [{ tenant, at, items: most, isExact, limit }];
  const batch: NamedBatch | null = name === null ? null : { tenant, name };
  const begun = await book.begin({ store, owner, leaseMs, traces: [], charges, ...(batch && { batch }) });
  if (begun.batch?.as === 'written') return { kind: 'written', refused: begun.batch.refused };
  if (begun.batch?.as === 'under_way') throw underWay();
  const [charged] = begun.charged;
  if (charged?.as === 'inexact') return null;
  const refusal = limits === null ? null : refusalOf(limits, most, invariant(charged, 'answer to a charge'));
  if (refusal !== null) throw refusal;
  const write: OpenWrite = invariant(begun.write, 'a write that was begun');
  return {
    kind: 'admitted',
    isBegun: begun.batch?.as === 'begun',
    written: async (items, refused) => {
      const applied = limits === null ? [] : [{ tenant, at, items }];
      const used = await book.finish(write, applied, batch === null ? undefined : { ...batch, refused });
      // Another process ended the write. Only a named batch can be retried without duplicates.
      if (used === null && batch !== null) throw underWay();
      return used === null || limits === null ? null : usageOf(limits, invariant(used[0], 'what is settled'));
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
