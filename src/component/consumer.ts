import type { Micros } from '../signal/time.js';

/** One item of a batch that was not taken, and why. */
export interface Refusal {
  /** Position in `batch.items` as the caller passed it. */
  readonly index: number;
  /** The item's id as it was sent, where it had one. */
  readonly id?: string;
  /** One line for the sender: the place (a JSON Pointer into the item) and what is wrong there. */
  readonly reason: string;
}

/** What became of a batch once its consumer took responsibility for it. */
export interface Receipt {
  /** Items taken, repeats of what is already stored included. */
  readonly accepted: number;
  readonly refused: readonly Refusal[];
  /** Where the sender has a quota: how it stands now. */
  readonly usage?: QuotaUsage;
}

/** How much of its monthly quota a tenant has used. */
export interface QuotaUsage {
  /** Events a month. */
  readonly limit: number;
  readonly used: number;
  /** The first moment of the next UTC month. */
  readonly resets_at: Micros;
}

/** What travels beside a batch. */
export interface ConsumeContext {
  /** When the receiver got the batch. */
  readonly receivedAt: Micros;
  /** Ends when nobody waits for the answer any more. Work that was begun is finished all the same. */
  readonly abort?: AbortSignal;
  /**
   * Resolves when everybody to whom the batch goes beside this consumer has answered, taken or not: what was to be stored of it can be
   * read then. Absent where nobody else gets it.
   */
  readonly answered?: Promise<void>;
}

/**
 * The next step of a pipeline.
 *
 * `consume` takes over the batch: the caller must not touch it again. Its list of items is the consumer's own, which may
 * empty it once it needs them no more, so that they need not outlive the wait for the answer; the items may be others'
 * as well, and the consumer changes them only where its factory says `mutatesBatch`. It resolves when everything behind it has taken responsibility; for a pipeline that ends
 * in `storage` that is after the commit. It rejects with a {@link ConsumeError} when the whole batch was not taken.
 * Waiting is back-pressure: callers bound what they have under way.
 */
export interface Consumer<B> {
  consume(batch: B, context: ConsumeContext): Promise<Receipt>;
}
