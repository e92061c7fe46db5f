import type { Batch } from '../signal/batch.js';
import type { ConsumeContext, Consumer, Receipt, Refusal } from './consumer.js';

/** Items of a batch that a processor does not pass on, by their positions in `batch.items`. */
export interface LeftOut {
  /** At most one an item, in any order. */
  readonly refused: readonly Refusal[];
  /** Taken from the sender, and not passed on. None of them is refused, too. */
  readonly dropped: ReadonlySet<number>;
}

const NOTHING: ReadonlySet<number> = new Set();

/**
 * For processors that refuse or drop single items: passes on the others in a new list, and answers with a receipt in which the
 * refusals of all later steps point at the items as the caller passed them. What is dropped counts as accepted, because its sender
 * must not send it again. If nothing is left, `next` is not called.
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
  const items = batch.items.filter((_, index) => {
    const isKept = !isRefused.has(index) && !dropped.has(index);
    if (isKept) positions.push(index);
    return isKept;
  });
  const asCaller = (receipt: Receipt): Receipt => {
    const later = receipt.refused.map((refusal) => ({
      ...refusal,
      index: positions[refusal.index] ?? refusal.index,
    }));
    return {
      ...receipt,
      accepted: receipt.accepted + dropped.size,
      refused: [...refused, ...later].sort((a, b) => a.index - b.index),
    };
  };
  if (items.length === 0) return asCaller({ accepted: 0, refused: [] });
  // Not awaited here: this call would hold the batch until the answer.
  const { trail } = context;
  const later = trail === undefined ? context : { ...context, trail: trail.leaveOut(refused, positions) };
  return next.consume({ ...batch, items }, later).then(asCaller);
}

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
