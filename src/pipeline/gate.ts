import { ConsumeError } from '../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../component/consumer.js';

/**
 * The door between receivers and pipelines: it knows how many batches are behind it, and can be closed, so that a stop finishes
 * what was taken before it stops the components.
 */
export class Gate {
  #isClosed = false;
  #inside = 0;
  #whenEmpty: (() => void)[] = [];

  /** How many batches were taken and not answered yet. */
  get inside(): number {
    return this.#inside;
  }

  guard<B>(inner: Consumer<B>): Consumer<B> {
    return {
      passesSent: inner.passesSent,
      consume: (batch, context) => this.#pass(inner, batch, context),
    };
  }

  /** From now on batches are refused as retryable. @returns when the last one inside was answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#inside === 0) return;
    await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }

  async #pass<B>(inner: Consumer<B>, batch: B, context: ConsumeContext): Promise<Receipt> {
    if (this.#isClosed)
      throw new ConsumeError('The daemon is stopping: send the batch again in a moment', {
        code: 'shutting_down',
        retryable: true,
        retryAfterMs: 1000,
      });
    this.#inside += 1;
    try {
      return await inner.consume(batch, context);
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
    }
  }
}
