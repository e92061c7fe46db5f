import type { Micros } from '../signal/time.js';
import type { StoredEvent } from './event-log.js';

export const DELIVERY_STATUSES = ['pending', 'success', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event on its way to one endpoint. */
export interface DeliverySummary {
  /** UUIDv7 */
  readonly id: string;
  readonly event_type: string;
  readonly status: DeliveryStatus;
  /** When it was queued. */
  readonly created_at: Micros;
  /** Attempts that were begun. */
  readonly attempt_count: number;
}

export interface DeliveryAttempt {
  /** From 1. */
  readonly attempt_number: number;
  /** Null where no answer came, or the attempt is under way. */
  readonly http_status_code: number | null;
  /** The beginning of it; empty where there is none. */
  readonly response_body: string;
  /** Null while it is under way, and where the daemon ended meanwhile. */
  readonly duration_ms: number | null;
  readonly attempted_at: Micros;
  /** Null while it is under way and where the status says enough. */
  readonly error_message: string | null;
}

export interface DeliveryDetail extends DeliverySummary {
  /** The JSON text that is sent. */
  readonly body: string;
  /** In the order of their numbers: all of them, unless somebody asked for very many. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Whether more follow: {@link DeliveryQueue.readAttempts}. */
  readonly hasMoreAttempts: boolean;
}

/** What one sender has under way at once. */
export interface SenderLimits {
  /** Deliveries. */
  readonly limit: number;
  /** Attempts under way to one endpoint, whoever makes them. */
  readonly perEndpoint: number;
  /** Likewise to all endpoints of one organization. */
  readonly perOrganization: number;
}

/** What a sender asks for: `limit` deliveries at most, and what it claimed before counts for the rest. */
export interface ClaimRequest extends SenderLimits {
  readonly now: Micros;
  /** How long a claim holds, in milliseconds: longer than an attempt takes, or it is renewed meanwhile. */
  readonly leaseMs: number;
}

/** Names a claim. The number of the attempt is its fencing token: none is given twice for a delivery. */
export interface ClaimName {
  /** UUIDv7 */
  readonly delivery_id: string;
  /** From 1. */
  readonly attempt: number;
}

/** An attempt that is the sender's to make until its lease ends: noted before it is made. */
export interface DeliveryClaim extends ClaimName {
  /** Asked for by somebody, beside the schedule. */
  readonly isManual: boolean;
  /** Attempts by the schedule that were made before. */
  readonly step: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly body: string;
  readonly endpoint_id: string;
  /** As they are now, not as they were when the event happened. */
  readonly url: string;
  readonly sealed_secret: string;
}

export interface Claims {
  readonly claims: readonly DeliveryClaim[];
  /**
   * When to ask again, if nothing changes before: when the next delivery is due whose endpoint and organization have room, or a claim ends;
   * not later than now where somebody else was claiming for its organization. Null: nothing waits.
   */
  readonly nextDueAt: Micros | null;
}

/** How an attempt ended. */
export interface FinishedAttempt extends ClaimName {
  readonly succeeded: boolean;
  readonly statusCode: number | null;
  readonly responseBody: string;
  readonly durationMs: number;
  readonly error: string | null;
  /**
   * When the schedule tries next, if this was an attempt by the schedule and failed; null: never, and the delivery has
   * failed. Ignored after success and of manual attempts.
   */
  readonly retryAt: Micros | null;
  /** The receiver wants no more (410): there are no further attempts by the schedule, even of a manual one. */
  readonly isGone: boolean;
}

export interface FinishedRules {
  readonly now: Micros;
  /** Failed attempts in a row that pause an endpoint. */
  readonly breakerThreshold: number;
}

/** What waits. */
export interface DeliveryFigures {
  readonly pending: number;
  /** Of active endpoints: how long the oldest is overdue; 0 for none. */
  readonly overdueMs: number;
}

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
  claim(request: ClaimRequest): Promise<Claims>;
  /** Holds claims for so many milliseconds from now. @returns those that are held; the others were interrupted, finished or removed */
  renew(claims: readonly ClaimName[], leaseMs: number): Promise<readonly ClaimName[]>;
  /**
   * Notes how attempts ended, in one transaction: result, status and next time of the delivery, and failures in a row of the endpoint,
   * which is paused where they reach the threshold (event `webhook.endpoint.disabled`). What is told under a claim that was interrupted
   * or finished before, and of endpoints that were deleted, changes nothing. A claim whose lease ended counts until it is interrupted.
   *
   * @returns the ids of the endpoints that were paused
   */
  finish(results: readonly FinishedAttempt[], rules: FinishedRules): Promise<readonly string[]>;
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
  /**
   * The attempts of a delivery that follow one, some at a time; none: that was the last.
   *
   * @returns null where no endpoint of the organization has such a delivery
   */
  readAttempts(slug: string, deliveryId: string, after: number): Promise<readonly DeliveryAttempt[] | null>;
  /** Removes the deliveries that were queued before, whatever became of them. @returns how many */
  removeBefore(time: Micros): Promise<number>;
  figures(now: Micros): Promise<DeliveryFigures>;
}
