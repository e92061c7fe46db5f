import type { SentForm } from '../signal/sent-request.js';
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
 * The next step of a pipeline. `consume` takes over the batch: the caller must not touch it again. The list of items belongs to
 * the consumer, which may empty it once it does not need them any more, so that they need not outlive the wait for the answer;
 * the items themselves may be shared, and the consumer changes them only where its factory says `mutatesBatch`; what lies in a field,
 * such as `input_data`, it replaces as a whole. It resolves when
 * everything behind it has taken responsibility; for a pipeline that ends in `storage` that is after the commit. It rejects with
 * a {@link ConsumeError} when the whole batch was not taken. Waiting is back-pressure: callers limit how many calls they have
 * running.
 */
export interface Consumer<B> {
  consume(batch: B, context: ConsumeContext): Promise<Receipt>;
  /**
   * Of traces: says that here and behind it nobody looks at items, as a rule, so that a receiver need not read what it gets: it may
   * pass it on as it came (`signal/sent-request.ts`), and says of it what a look would have said. The form is the one that it leaves in.
   */
  readonly passesSent?: SentForm | undefined;
}
