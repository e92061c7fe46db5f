import type { Batch } from '../signal/batch.js';
import type { ConsumeContext, Consumer, Receipt, Refusal } from './consumer.js';

/**
 * For processors that refuse single items: passes on what is left of a batch, and answers with a receipt in which the refusals of
 * all later steps point at the items as the caller passed them. The smaller batch is a new object around the same items, so the
 * batch itself is not changed (`mutatesBatch: false`). When nothing is left, `next` is not called.
 *
 * @param refused at most one refusal an item, by the item's position in `batch.items`, in any order
 * @throws whatever `next` throws: then nothing of the batch was taken
 */
export async function consumeUnrefused<B extends Batch<unknown>>(
  batch: B,
  refused: readonly Refusal[],
  next: Consumer<B>,
  context: ConsumeContext,
): Promise<Receipt> {
  if (refused.length === 0) return next.consume(batch, context);
  const isRefused = new Set(refused.map(({ index }) => index));
  /** The positions, in the caller's batch, of the items passed on. */
  const positions: number[] = [];
  const items = batch.items.filter((_, index) => {
    if (isRefused.has(index)) return false;
    positions.push(index);
    return true;
  });
  const receipt: Receipt =
    items.length === 0 ? { accepted: 0, refused: [] } : await next.consume({ ...batch, items }, context);
  const later = receipt.refused.map((refusal) => ({
    ...refusal,
    index: positions[refusal.index] ?? refusal.index,
  }));
  return {
    ...receipt,
    refused: [...refused, ...later].sort((a, b) => a.index - b.index),
  };
}
