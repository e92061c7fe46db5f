import type { Batch } from '../signal/batch.js';
import type { ConsumeContext, Consumer, Receipt, Refusal } from './consumer.js';

/** What a processor does not pass on of a batch, by the items' positions in `batch.items`. */
export interface LeftOut {
  /** At most one an item, in any order. */
  readonly refused: readonly Refusal[];
  /** Taken from the sender, and not passed on. None of them is refused, too. */
  readonly dropped: ReadonlySet<number>;
}

/**
 * For processors that refuse or drop single items: passes on what is left of a batch, and answers with a receipt in which the
 * refusals of all later steps point at the items as the caller passed them. What is dropped counts as accepted, because its sender
 * must not send it again. The others are taken out of the batch's own list, so that what is emptied behind lives on nowhere; no
 * item is changed (`mutatesBatch: false`). When nothing is left, `next` is not called.
 *
 * @throws whatever `next` throws: then nothing of the batch was taken
 */
export async function consumeKept<B extends Batch<unknown>>(
  batch: B,
  { refused, dropped }: LeftOut,
  next: Consumer<B>,
  context: ConsumeContext,
): Promise<Receipt> {
  if (refused.length === 0 && dropped.size === 0) return next.consume(batch, context);
  const isRefused = new Set(refused.map(({ index }) => index));
  /** The positions, in the caller's batch, of the items passed on. */
  const positions: number[] = [];
  const { items } = batch;
  items.forEach((item, index) => {
    if (isRefused.has(index) || dropped.has(index)) return;
    items[positions.length] = item;
    positions.push(index);
  });
  items.length = positions.length;
  const receipt: Receipt =
    positions.length === 0 ? { accepted: 0, refused: [] } : await next.consume(batch, context);
  const later = receipt.refused.map((refusal) => ({
    ...refusal,
    index: positions[refusal.index] ?? refusal.index,
  }));
  return {
    ...receipt,
    accepted: receipt.accepted + dropped.size,
    refused: [...refused, ...later].sort((a, b) => a.index - b.index),
  };
}

/** Puts another in place of each item of a batch, in its own list. @param make is told the item and its position */
export function replaceItems<Item>({ items }: Batch<Item>, make: (item: Item, index: number) => Item): void {
  items.forEach((item, index) => {
    items[index] = make(item, index);
  });
}
