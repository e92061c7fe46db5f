import { ConsumeError } from '../component/consume-error.js';
import type { ConsumeContext, Consumer, QuotaUsage, Receipt, Refusal } from '../component/consumer.js';
import type { Outcome } from '../component/intake.js';
import type { Batch } from '../signal/batch.js';
import { copyBatch } from './copy-batch.js';

/** One of several consumers. */
export interface Branch<B> {
  readonly consumer: Consumer<B>;
  /** Whether any component downstream changes the batch. */
  readonly mutatesBatch: boolean;
}

/**
 * Sends a batch to several consumers concurrently and responds when all have responded; each consumer can wait for that, too.
 *
 * An item is accepted if every branch accepts it; of several quotas, the one with the least left is reported. If a branch fails,
 * the batch fails: a permanent failure takes precedence, then the one with the longest retry delay. Branches that change items
 * get copies; the last of them gets the batch itself if no other branch reads it. All others share the batch.
 */
export function fanOut<B extends Batch<unknown>>(branches: readonly Branch<B>[]): Consumer<B> {
  const [only] = branches;
  if (only && branches.length === 1) return only.consumer;
  return {
    async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
      const count = batch.items.length;
      let notify: () => void = () => undefined;
      // An outer fan-out of the whole batch also waits for this part.
      const answered = context.answered ?? new Promise<void>((resolve) => (notify = resolve));
      return consumeAll(branches, batch, { ...context, answered }).then((results) => {
        notify();
        const { refused, usage } = joinResults(results);
        return { accepted: count - refused.length, refused, ...(usage && { usage }) };
      });
    },
  };
}

/** All copies are made before any branch may change the original. */
async function consumeAll<B extends Batch<unknown>>(
  branches: readonly Branch<B>[],
  batch: B,
  context: ConsumeContext,
): Promise<readonly PromiseSettledResult<Receipt>[]> {
  const areAllMutating = branches.every(({ mutatesBatch }) => mutatesBatch);
  const last = branches.length - 1;
  const inputs = branches.map(({ mutatesBatch }, index) =>
    mutatesBatch && !(areAllMutating && index === last) ? copyBatch(batch) : batch,
  );
  return Promise.allSettled(
    branches.map(async ({ consumer }, index) => consumer.consume(inputs[index] ?? batch, context)),
  );
}

/** Merges the results of several consumers of a batch. @throws the worst of the errors, if there are any */
export function joinResults(results: readonly PromiseSettledResult<Outcome>[]): Outcome {
  const receipts: Outcome[] = [];
  const errors: unknown[] = [];
  for (const result of results)
    if (result.status === 'fulfilled') receipts.push(result.value);
    else errors.push(result.reason);
  if (errors.length > 0) throw worst(errors);
  const refused = new Map<number, Refusal>();
  for (const receipt of receipts)
    for (const refusal of receipt.refused)
      if (!refused.has(refusal.index)) refused.set(refusal.index, refusal);
  const usage = scarcest(receipts);
  return {
    refused: [...refused.values()].sort((a, b) => a.index - b.index),
    ...(usage && { usage }),
  };
}

/** The quota with the least left; undefined if no branch has one. */
export function scarcest(receipts: readonly Outcome[]): QuotaUsage | undefined {
  const [least] = receipts
    .flatMap(({ usage }) => usage ?? [])
    .sort((a, b) => a.limit - a.used - (b.limit - b.used));
  return least;
}

export function worst(errors: readonly unknown[]): unknown {
  const known = errors.filter((error) => error instanceof ConsumeError);
  const permanent = known.find(({ retryable }) => !retryable);
  if (permanent) return permanent;
  const [longest] = [...known].sort((a, b) => (b.retryAfterMs ?? 0) - (a.retryAfterMs ?? 0));
  return longest ?? errors[0];
}
