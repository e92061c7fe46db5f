import type { ConsumeContext, Consumer, Receipt } from '../component/consumer.js';
import type { Batch } from '../signal/batch.js';

/** A batch as it came. */
export interface Captured<B> {
  readonly batch: B;
  readonly context: ConsumeContext;
}

/** What stands behind a component in a test: it keeps what it is given, and answers as the test wants. */
export class CaptureConsumer<B extends Batch<unknown>> implements Consumer<B> {
  readonly captured: Captured<B>[] = [];
  /** What it answers; by default it takes everything. */
  answer: (batch: B) => Receipt | Promise<Receipt> = ({ items }) => ({ accepted: items.length, refused: [] });

  /** Whether it empties each list of items that it gets, as an exporter does once it needs them no more. */
  emptiesLists = false;

  async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
    // A list of its own, because the other one may be emptied.
    const kept = { ...batch, items: [...batch.items] };
    if (this.emptiesLists) batch.items.length = 0;
    this.captured.push({ batch: kept, context });
    return this.answer(kept);
  }

  /** All items so far. */
  get items(): B['items'] {
    return this.captured.flatMap(({ batch }) => batch.items);
  }
}
