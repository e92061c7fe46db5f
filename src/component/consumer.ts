import { recordsOf, type AnyBatch, type RawBatch, type RawForm } from '../signal/raw-batch.js';
import type { Batch } from '../signal/batch.js';
import type { Micros } from '../signal/time.js';

/** One item of a batch that was not taken, and why. */
export interface Refusal {
  /** Position in `batch.items` as the caller passed it. */
  readonly index: number;
  /** The item's id as it was sent, if it had one. */
  readonly id?: string;
  /** One line for the sender: the place (a JSON Pointer into the item) and the problem. */
  readonly reason: string;
}

/** The outcome of a batch that its consumer took responsibility for. */
export interface Receipt {
  /** Number of accepted items, including repeats of stored ones. */
  readonly accepted: number;
  readonly refused: readonly Refusal[];
  /** The sender's remaining quota, if it has one. */
  readonly usage?: QuotaUsage;
}

/** How much of its monthly quota a user has used. */
export interface QuotaUsage {
  /** Items a month. */
  readonly limit: number;
  /** Usage never decreases within the month. */
  readonly used: number;
  /** The first moment of the next UTC month. */
  readonly resets_at: Micros;
}

/** Names a batch among those of its user. */
interface NamedBatch {
  /** A value of the header `jackdaw-batch-id`, or one derived from it on the way. */
  readonly id: string;
}

/** In an intake thread: what happened to the items of a request before they reached a component. */
export interface Trail {
  /**
   * Records what a component does not pass on.
   *
   * @param refused by positions in the batch that the component got
   * @param kept positions of the items in the batch that it passes on
   * @returns the trail of that batch
   */
  leaveOut(refused: readonly Refusal[], kept: readonly number[]): Trail;
  /** Records that a component did not take its batch. */
  fail(error: unknown): void;
}

/** Metadata of a batch. */
export interface ConsumeContext {
  /** When the receiver got the batch. */
  readonly receivedAt: Micros;
  /** UUID of the API key of the request; absent or null without a key. Not available behind a queue. */
  readonly keyId?: string | null;
  /**
   * The sender's name of the batch, so that a repeat adds nothing: a store records it in the transaction of the data. A component that
   * splits or merges batches leaves it out.
   */
  readonly batch?: NamedBatch;
  /** Aborted when the client disconnected. Work in progress is still finished. */
  readonly abort?: AbortSignal;
  /**
   * Resolves when all other recipients of the batch have answered, whether they took it or not: the stored part of it is readable
   * then. Absent if there are no other recipients.
   */
  readonly answered?: Promise<void>;
  /** In an intake thread: passed on unchanged with every part of the batch. */
  readonly trail?: Trail;
}

/**
 * The next step of a pipeline. `consume` takes ownership of the batch: the caller must not change it afterwards, and should not hold
 * it while it waits for the answer. A consumer never changes the list of items, which may be shared. It changes items only if its
 * factory sets `mutatesBatch`, and replaces the value of a field such as `input_data` as a whole.
 *
 * It resolves when everything downstream has taken responsibility; for a pipeline that ends in `storage` that is after the commit. It
 * rejects with a {@link ConsumeError} if the whole batch was not taken. A pending call is back-pressure: callers limit how many calls
 * they have running.
 */
export interface Consumer<B> {
  consume(batch: B, context: ConsumeContext): Promise<Receipt>;
  /** Set if everything from here on forwards requests of traces undecoded. Plugins leave it out: they always get records. */
  readonly passthrough?: Passthrough | undefined;
}

/** The entrance for requests that are forwarded undecoded. */
export interface Passthrough {
  /** The form in which the request leaves the daemon. */
  readonly form: RawForm;
  consume(batch: RawBatch, context: ConsumeContext): Promise<Receipt>;
}

/** Hands over a batch in either form; without `passthrough` the consumer gets its records. */
export async function handOver(
  consumer: Consumer<Batch<unknown>>,
  batch: AnyBatch,
  context: ConsumeContext,
): Promise<Receipt> {
  if (batch.kind !== 'raw') return consumer.consume(batch, context);
  return consumer.passthrough?.consume(batch, context) ?? consumer.consume(recordsOf(batch), context);
}
