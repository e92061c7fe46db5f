import type { ConsumeContext, Consumer, Passthrough, Receipt } from '../../src/component/consumer.js';
import { itemCount } from '../../src/signal/amount.js';
import type { Batch } from '../../src/signal/batch.js';
import { recordsOf, type AnyBatch, type RawBatch, type RawForm } from '../../src/signal/raw-batch.js';

/** One delivery attempt as seen by the exporter. */
export interface Attempt {
  readonly batch: Batch<unknown>;
  /** The raw batch, if it was raw. */
  readonly raw: RawBatch | undefined;
  readonly context: ConsumeContext;
  readonly succeed: () => void;
  readonly answer: (receipt: Receipt) => void;
  readonly fail: (error: unknown) => void;
}

/** An exporter input whose attempts end when and how a test wants. */
export class ScriptedExporter implements Consumer<Batch<unknown>> {
  readonly attempts: Attempt[] = [];
  readonly passthrough: Passthrough | undefined;

  /** @param form of accepted raw requests; absent: accepts records only */
  constructor(form?: RawForm) {
    if (form !== undefined)
      this.passthrough = { form, consume: (batch, context) => this.consume(batch, context) };
  }

  async consume(batch: AnyBatch, context: ConsumeContext): Promise<Receipt> {
    return new Promise<Receipt>((resolve, reject) => {
      this.attempts.push({
        batch: recordsOf(batch),
        raw: batch.kind === 'raw' ? batch : undefined,
        context,
        succeed: () => {
          resolve({ accepted: itemCount(batch), refused: [] });
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

/** Lets settled promises continue. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
