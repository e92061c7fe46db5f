import { createHash } from 'node:crypto';
import type { ConsumeContext, Receipt, Refusal } from '../component/consumer.js';
import type { Part, PassOn } from '../component/factory.js';
import type { Batches, Signal } from '../signal/batch.js';
import { copyBatch } from './copy-batch.js';
import { fanOut, scarcest, worst, type Branch } from './fanout.js';

type AnyBatch = Batches[Signal];

/**
 * The way from a connector to its pipelines. As for a fan-out, the batch fails if any pipeline fails its part.
 *
 * @param branchesOf the pipelines of a signal by name
 */
export function passingOn(branchesOf: (signal: Signal) => ReadonlyMap<string, Branch<AnyBatch>>): PassOn {
  return async (signal, batch: AnyBatch, { parts, refused }, context) => {
    const branches = branchesOf(signal);
    const calls = parts.map(({ pipelines, positions }) => {
      const chosen = pipelines.flatMap((name) => branches.get(name) ?? []);
      const isWhole = positions.length === batch.items.length;
      const items = positions.map((position) => batch.items[position]);
      // Items share objects, such as resources, with items that other pipelines change at the same time.
      const isCopied = !isWhole && chosen.some(({ mutatesBatch }) => mutatesBatch);
      const part = isWhole ? batch : ({ ...batch, items } as AnyBatch);
      return { positions, consumer: fanOut(chosen), part: isCopied ? copyBatch(part) : part, isWhole };
    });
    const results = Promise.allSettled(
      calls.map(async ({ consumer, part, positions, isWhole }) =>
        consumer.consume(part, isWhole ? context : nameOfPart(context, positions)),
      ),
    );
    const count = batch.items.length;
    // Without the batch: the items would survive several garbage collections.
    return results.then((settled) => merged(settled, { parts, refused, count }));
  };
}

function merged(
  results: readonly PromiseSettledResult<Receipt>[],
  {
    parts,
    refused,
    count,
  }: { readonly parts: readonly Part[]; readonly refused: readonly Refusal[]; readonly count: number },
): Receipt {
  const errors: unknown[] = [];
  const receipts: Receipt[] = [];
  const all = [...refused];
  results.forEach((result, at) => {
    if (result.status === 'rejected') {
      errors.push(result.reason);
      return;
    }
    receipts.push(result.value);
    const positions = parts[at]?.positions ?? [];
    for (const refusal of result.value.refused)
      all.push({ ...refusal, index: positions[refusal.index] ?? refusal.index });
  });
  if (errors.length > 0) throw worst(errors);
  const usage = scarcest(receipts);
  return {
    accepted: count - all.length,
    refused: all.sort((a, b) => a.index - b.index),
    ...(usage && { usage }),
  };
}

/**
 * A part has a name of its own, from its items: after a changed configuration, a repeated batch may be split differently, and a part
 * with other items is not a repeat.
 */
function nameOfPart(context: ConsumeContext, positions: readonly number[]): ConsumeContext {
  const { batch } = context;
  if (batch === undefined) return context;
  const hash = createHash('sha256').update(Uint32Array.from(positions)).digest('base64url').slice(0, 22);
  return { ...context, batch: { id: `${hash}/${batch.id}` } };
}
