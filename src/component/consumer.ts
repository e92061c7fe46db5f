import { recordsOf, type AnyBatch, type RawBatch, type RawForm } from '../signal/raw-batch.js';
import type { Batch } from '../signal/batch.js';
import type { Micros } from '../signal/time.js';

/** One item of a batch that was not taken, and why. */
export interface Refusal {
  /** Position in `batch.items` as the caller passed it. */
  readonly index: number;
  /** The item's id as it was sent, if it had one. */
  readonly id?: string;
  /** One line for the sender: the place (a JSON Pointer into the item) and what is wrong there. */
  readonly reason: string;
}

/** What became of a batch once its consumer took responsibility for it. */
export interface Receipt {
  /** How many items were taken, including repeats of what is already stored. */
  readonly accepted: number;
  readonly refused: readonly Refusal[];
  /** What is left of the sender's quota, if it has one. */
  readonly usage?: QuotaUsage;
}

/** How much of its monthly quota a user has used. */
export interface QuotaUsage {
  /** Items a month. */
  readonly limit: number;
  /** What was counted stays counted: it never sinks within the month. */
  readonly used: number;
  /** The first moment of the next UTC month. */
  readonly resets_at: Micros;
}

/** Names a batch among those of its user. */
interface NamedBatch {
  /** What a header `jackdaw-batch-id` may hold, and what was made of it on the way. */
  readonly id: string;
}

/** What travels beside a batch. */
export interface ConsumeContext {
  /** When the receiver got the batch. */
  readonly receivedAt: Micros;
  /** UUID of the API key that brought it; absent or null where there is none. Behind a queue nobody knows it any more. */
  readonly keyId?: string | null;
  /**
   * The name that the sender gave the batch, so that a repeat adds nothing: a store remembers it in the transaction of the data.
   * Who passes a batch on in several parts, or puts it together with others, leaves it out.
   */
  readonly batch?: NamedBatch;
  /** Aborted when the client disconnected. Work that was begun is finished all the same. */
  readonly abort?: AbortSignal;
  /**
   * Resolves when everybody else to whom the batch goes has answered, whether they took it or not: what was to be stored of it
   * can be read then. Absent where nobody else gets it.
   */
  readonly answered?: Promise<void>;
}

/**
 * The next step of a pipeline. `consume` takes the batch over: the caller must not change it afterwards, and should not hold it
 * while it waits for the answer. A consumer never changes the list of items: it may be shared, and so may the items, which it
 * changes only where its factory says `mutatesBatch`; what is in a field, such as `input_data`, it replaces as a whole. It resolves
 * when everything behind it has taken responsibility; for a pipeline that ends in `storage` that is after the commit. It rejects
 * with a {@link ConsumeError} when the whole batch was not taken. Waiting is back-pressure: callers limit how many calls they have
 * running.
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
