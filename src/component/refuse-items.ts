import type { Batch } from '../signal/batch.js';
import type { ConsumeContext, Consumer, Receipt, Refusal } from './consumer.js';
import { consumeKept } from './keep-items.js';

const NOTHING: ReadonlySet<number> = new Set();

/**
 * For processors that only refuse: as {@link consumeKept}.
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
  return consumeKept(batch, { refused, dropped: NOTHING }, next, context);
}
