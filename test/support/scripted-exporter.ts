import type { ConsumeContext, Consumer, Receipt } from '../../src/component/consumer.js';
import type { Batch } from '../../src/signal/batch.js';

/** One attempt to deliver a batch, as the exporter saw it. */
export interface Attempt {
  readonly batch: Batch<unknown>;
  readonly context: ConsumeContext;
  readonly succeed: () => void;
  readonly answer: (receipt: Receipt) => void;
  readonly fail: (error: unknown) => void;
}

/** The input of an exporter whose attempts end when and how a test wants. */
export class ScriptedExporter implements Consumer<Batch<unknown>> {
  readonly attempts: Attempt[] = [];

  async consume(batch: Batch<unknown>, context: ConsumeContext): Promise<Receipt> {
    return new Promise<Receipt>((resolve, reject) => {
      this.attempts.push({
        batch,
        context,
        succeed: () => {
          resolve({ accepted: batch.items.length, refused: [] });
        },
        answer: resolve,
        fail: reject,
      });
    });
  }

  /** The items of each attempt. */
  get items(): readonly (readonly unknown[])[] {
    return this.attempts.map(({ batch }) => batch.items);
  }

  /** The last attempt so far. */
  get last(): Attempt {
    const attempt = this.attempts.at(-1);
    if (!attempt) throw new Error('There was no attempt yet');
    return attempt;
  }
}

/** Lets promises that are settled be noticed. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
