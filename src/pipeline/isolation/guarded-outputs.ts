import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Outputs } from '../../component/factory.js';
import type { Batch } from '../../signal/batch.js';
import { MS_PER_SECOND } from '../../signal/time-units.js';
import { contextOf, problemOfBatch } from './batches.js';
import type { GuardTools } from './consume-guard.js';
import { runAsProgram } from './plugin-scope.js';

/** Guards the edges between a plugin's receiver and its pipelines. */
export class OutputGuard {
  readonly #tools: GuardTools;
  #isOpen = false;
  #inside = 0;

  constructor(tools: GuardTools) {
    this.#tools = tools;
  }

  /** Called at the receiver's start, when downstream components are running. */
  open(): void {
    this.#isOpen = true;
  }

  outputs(outputs: Outputs): Outputs {
    return Object.fromEntries(
      Object.entries(outputs).map(([signal, output]: [string, Consumer<Batch<unknown>>]) => [
        signal,
        { consume: (batch: Batch<unknown>, context: ConsumeContext) => this.#pass(output, batch, context) },
      ]),
    );
  }

  async #pass(output: Consumer<Batch<unknown>>, batch: Batch<unknown>, given: unknown): Promise<Receipt> {
    const { limits, faults, clock } = this.#tools;
    const problem = this.#isOpen ? problemOfBatch(batch) : 'came before its start';
    if (problem !== undefined) {
      faults.note('batch', `sent something that ${problem}`);
      throw new ConsumeError(`A plugin sent something that ${problem}`, {
        code: 'validation_failed',
        retryable: false,
      });
    }
    if (this.#inside >= limits.maxInFlight) {
      faults.note(
        'full',
        `has ${this.#inside} batches in progress, which is its limit (plugin_limits.max_in_flight)`,
        {
          items: batch.items.length,
        },
      );
      throw new ConsumeError('The receiver has too many batches in progress: send the batch again later', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: MS_PER_SECOND,
      });
    }
    this.#inside += 1;
    try {
      return await runAsProgram(async () => output.consume(batch, contextOf(given, clock)));
    } finally {
      this.#inside -= 1;
    }
  }
}
