import {
  handOver,
  type ConsumeContext,
  type Consumer,
  type Passthrough,
  type Receipt,
} from '../component/consumer.js';
import type { Batch } from '../signal/batch.js';
import type { AnyBatch } from '../signal/raw-batch.js';

type Target = Consumer<Batch<unknown>>;

/** A consumer whose target can be exchanged while batches pass: each component has one before it and one behind it. */
export class Switch implements Consumer<Batch<unknown>> {
  #target: Target | undefined;
  /** Resolves when held batches may go on. */
  #held: Promise<void> | undefined;
  #inside = 0;
  #whenIdle: (() => void)[] = [];

  constructor(target?: Target) {
    this.#target = target;
  }

  get passthrough(): Passthrough | undefined {
    const form = this.#target?.passthrough?.form;
    return form && { form, consume: (batch, context) => this.#pass(batch, context) };
  }

  async consume(batch: Batch<unknown>, context: ConsumeContext): Promise<Receipt> {
    return this.#pass(batch, context);
  }

  connect(target: Target): void {
    this.#target = target;
  }

  /** Lets batches wait. @returns a function that lets them go on, to the target of then */
  hold(): () => void {
    let release = (): void => undefined;
    this.#held = new Promise<void>((resolve) => (release = resolve));
    return () => {
      this.#held = undefined;
      release();
    };
  }

  /** Resolves when no batch is inside; batches that are held do not count. */
  async idle(): Promise<void> {
    if (this.#inside > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  async #pass(batch: AnyBatch, context: ConsumeContext): Promise<Receipt> {
    while (this.#held !== undefined) await this.#held;
    if (this.#target === undefined) throw new Error('the component is not connected');
    this.#inside += 1;
    // No reference to the batch is held while it is processed.
    return handOver(this.#target, batch, context).finally(() => {
      this.#inside -= 1;
      if (this.#inside === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    });
  }
}
