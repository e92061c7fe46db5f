import type { Micros } from '../signal/time.js';
import type {
  ClaimRequest,
  DeliveryClaim,
  DeliveryDetail,
  DeliveryFigures,
  DeliverySummary,
  FinishedAttempt,
  FinishedRules,
} from './delivery-store.js';
import type { StoredEvent } from './event-store.js';

/** Names a claim. The number of the attempt is its fencing token: none is given twice for a delivery. */
export interface ClaimName {
  /** UUIDv7 */
  readonly delivery_id: string;
  readonly attempt: number;
}

/** What a sender asks for. */
export interface LeasedRequest extends Omit<ClaimRequest, 'held' | 'heard'> {
  /** How long a claim holds, in milliseconds: longer than an attempt takes, or it is renewed meanwhile. */
  readonly leaseMs: number;
}

/** An attempt that is the sender's to make until its lease ends: noted before it is made. */
export type LeasedClaim = Omit<DeliveryClaim, 'delivery' | 'lease'>;

export interface LeasedClaims {
  readonly claims: readonly LeasedClaim[];
  /**
   * When to ask again, if nothing changes before: when the next delivery is due whose endpoint and organization have room, or a claim ends;
   * not later than now where somebody else was claiming for its organization. Null: nothing waits.
   */
  readonly nextDueAt: Micros | null;
}

/** How an attempt ended. */
export type LeasedResult = ClaimName & Omit<FinishedAttempt, 'delivery' | 'lease'>;

/**
 * Deliveries of events to webhook endpoints. Each is there from the transaction on in which its event was taken, and its state changes in
 * transactions only, durable when they resolve. What the statuses and numbers mean: `src/exporters/webhook/README.md`.
 *
 * Several senders may claim at once. A delivery is claimed by one at a time, and the limits of a request hold over the claims of all.
 * A claim holds until its result is noted or its lease ends; leases are judged by the store's clock. An attempt whose lease ended is
 * recorded as interrupted by the next who claims, and the delivery is due as it was. So each is attempted at least once, and perhaps
 * again where a sender was lost.
 *
 * Watchers of `deliveries` are told where others than a claim may let something be due. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable). Ids are taken in any case.
 */
export interface DeliveryQueue {
  /**
   * Takes events, in one transaction: one delivery for each active endpoint of the owner's organizations (of the organization whose event
   * it is, of the one endpoint it is for) that subscribes to the type, once for each event and endpoint. An event that was taken before
   * adds nothing.
   *
   * @returns how many deliveries were added
   */
  enqueue(events: readonly StoredEvent[], now: Micros): Promise<number>;
  /**
   * Takes on what is due, and notes the attempts. First comes what is the first attempt under way to its organization, then what is the
   * second, and so on; of one organization likewise by endpoints; then what is overdue the longest. Organizations for which somebody
   * else claims at this moment are left out.
   */
  claim(request: LeasedRequest): Promise<LeasedClaims>;
  /** Holds claims for so many milliseconds from now. @returns those that are held; the others were interrupted, finished or removed */
  renew(claims: readonly ClaimName[], leaseMs: number): Promise<readonly ClaimName[]>;
  /**
   * Notes how attempts ended, in one transaction: result, status and next time of the delivery, and failures in a row of the endpoint,
   * which is paused where they reach the threshold (event `webhook.endpoint.disabled`). What is told under a claim that was interrupted
   * or finished before, and of endpoints that were deleted, changes nothing. A claim whose lease ended counts until it is interrupted.
   *
   * @returns the ids of the endpoints that were paused
   */
  finish(results: readonly LeasedResult[], rules: FinishedRules): Promise<readonly string[]>;
  /**
   * Asks for one more attempt, whatever the status is, beside those of the schedule: as many as it is asked for. Does nothing where the
   * endpoint is paused.
   *
   * @returns false where no endpoint of the organization has such a delivery
   */
  retry(slug: string, deliveryId: string): Promise<boolean>;
  /** The newest first. @returns null where the organization has no such endpoint */
  list(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null>;
  /** @returns null where no endpoint of the organization has such a delivery */
  read(slug: string, deliveryId: string): Promise<DeliveryDetail | null>;
  /** Removes the deliveries that were queued before, whatever became of them. @returns how many */
  removeBefore(time: Micros): Promise<number>;
  figures(now: Micros): Promise<DeliveryFigures>;
}
