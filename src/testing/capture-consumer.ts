import type { ConsumeContext, Consumer, Receipt } from '../component/consumer.js';
import type { Batch } from '../signal/batch.js';

/** A batch as it came. */
export interface Captured<B> {
  readonly batch: B;
  readonly context: ConsumeContext;
}

/** The next consumer of a component under test: records its input, and answers as configured. */
export class CaptureConsumer<B extends Batch<unknown>> implements Consumer<B> {
  readonly captured: Captured<B>[] = [];
  /** Its answer; by default it accepts everything. */
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
