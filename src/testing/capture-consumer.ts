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

  async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
    this.captured.push({ batch, context });
    return this.answer(batch);
  }

  /** All items so far. */
  get items(): B['items'] {
    return this.captured.flatMap(({ batch }) => batch.items);
  }
}
