import type { MessagePort } from 'node:worker_threads';
import type { EventsBatch } from '../signal/batch.js';
import type { Micros } from '../signal/time.js';
import type {
  DeliveryAttempt,
  DeliveryDetail as QueuedDelivery,
  DeliveryFigures,
  DeliverySummary,
  FinishedRules,
  SenderLimits,
} from './delivery-queue.js';

export { DELIVERY_STATUSES } from './delivery-queue.js';
export type {
  DeliveryAttempt,
  DeliveryFigures,
  DeliveryStatus,
  DeliverySummary,
  FinishedRules,
  SenderLimits,
} from './delivery-queue.js';

export interface DeliveryDetail extends Omit<QueuedDelivery, 'hasMoreAttempts'> {
  /** Those that follow, where there are some. Throws ConsumeError `storage_unavailable` where the delivery is removed meanwhile. */
  readonly furtherAttempts?: AsyncIterable<readonly DeliveryAttempt[]>;
}

/** What a sender takes on. */
export interface ClaimRequest {
  readonly now: Micros;
  /** Deliveries at most. */
  readonly limit: number;
  /** Attempts under way at once to one endpoint, those claimed before included. */
  readonly perEndpoint: number;
  /** Likewise to all endpoints of one organization. */
  readonly perOrganization: number;
  /**
   * All claims that the sender has: attempts that it makes, and those whose result it has not recorded yet. Others that the
   * store knows of were never told, or were given up.
   */
  readonly held: readonly HeldClaim[];
  /** Of a sender that the store gives claims unasked: the number of the last ones that came; 0 for none. */
  readonly heard?: number;
}

/** Names a claim. */
export type HeldClaim = Pick<DeliveryClaim, 'delivery' | 'lease'>;

/**
 * An attempt that is the sender's to make: noted before it is made. The claim is a lease that no time ends: it holds until
 * its result is recorded, its sender does not name it any more, or the store is opened anew.
 */
export interface DeliveryClaim {
  /** The delivery's number within the store. */
  readonly delivery: number;
  /** The fencing token, which is the number of the attempt: what is told counts only under it. */
  readonly lease: number;
  readonly delivery_id: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
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
  /** When the next delivery is due that is not claimed and whose endpoint and organization have room; null: none waits. */
  readonly nextDueAt: Micros | null;
}

/** How an attempt ended. */
export interface FinishedAttempt {
  readonly delivery: number;
  readonly lease: number;
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

/**
 * The part of a meta store that queues deliveries: each has its row from the transaction on in which its event was taken,
 * and its state changes in transactions only. What the statuses and numbers mean: `src/exporters/webhook/README.md`.
 */
export interface DeliveryStore {
  /**
   * Takes events: one delivery for each active endpoint of the owner's organizations (of the organization whose event it
   * is, of the one endpoint it is for) that subscribes to the type, once for each event and endpoint, in one transaction.
   * An event that was taken before adds nothing.
   *
   * @returns how many deliveries were added
   */
  addDeliveries(batch: EventsBatch, now: Micros): Promise<number>;
  /**
   * Takes on what is due, and notes the attempts. First comes what is the first attempt under way to its organization, then
   * what is the second, and so on; of one organization likewise by endpoints; then what is overdue the longest.
   *
   * Claims that the sender does not hold any more are interrupted before: their deliveries are due as they were. One sender
   * takes from a store at a time.
   */
  claimDeliveries(request: ClaimRequest): Promise<Claims>;
  /**
   * Notes how attempts ended, in one transaction: result, status and next time of the delivery, and failures in a row of
   * the endpoint, which is paused where they reach the threshold (event `webhook.endpoint.disabled`). What was told under
   * a claim that was interrupted, and of endpoints that were deleted, changes nothing.
   *
   * @returns the ids of the endpoints that were paused
   */
  finishDeliveries(finished: readonly FinishedAttempt[], rules: FinishedRules): Promise<readonly string[]>;
  /** Removes the deliveries that were queued before this time, whatever became of them. @returns how many */
  removeDeliveries(before: Micros): Promise<number>;
  deliveryFigures(now: Micros): Promise<DeliveryFigures>;
  /**
   * Opens a way to the queue for a sender in a thread of its own. From then on the store claims what it queues, within these
   * limits and in the same transaction, and gives it to that sender. One sender at a time: the one before is given nothing
   * any more.
   *
   * @returns the port that is handed over to the thread, for a `SenderQueue`
   */
  openSender(limits: SenderLimits): Promise<MessagePort>;
  /** Calls back after changes by others than the sender that may let deliveries be due. @returns what ends it */
  watchDeliveries(listener: () => void): () => void;
  /** The newest first. @returns null where the organization has no such endpoint */
  listDeliveries(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null>;
  /** @returns null where no endpoint of the organization has such a delivery */
  readDelivery(slug: string, deliveryId: string): Promise<DeliveryDetail | null>;
  /**
   * Asks for one more attempt, whatever the status is, beside those of the schedule: as many as it is asked for. Does
   * nothing where the endpoint is paused.
   *
   * @returns false where no endpoint of the organization has such a delivery
   */
  retryDelivery(slug: string, deliveryId: string): Promise<boolean>;
  /** Says which private networks a sender may reach, for whoever checks URLs. @returns what withdraws it */
  announceTargets(allowCidrs: readonly string[]): () => void;
  /** All that were announced. */
  readonly allowedTargets: readonly string[];
}

/** Finds a delivery store among extensions. */
export function isDeliveryStore(candidate: unknown): candidate is DeliveryStore {
  return typeof candidate === 'object' && candidate !== null && 'claimDeliveries' in candidate;
}
