// Webhook endpoints, and the queue of deliveries to them.

import { MS_PER_HOUR } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import type { EventSubject, StoredEvent } from './events.js';

/** Where an organization has events sent to, without the secret with which they are signed. */
export interface WebhookEndpoint {
  /** UUIDv7 */
  readonly id: string;
  /** `https://…` */
  readonly url: string;
  /** Any text; may be empty. */
  readonly name: string;
  /** At least one; `*` stands for all. */
  readonly event_types: readonly string[];
  readonly is_active: boolean;
  /** How many attempts have failed since the last success, or since it was last activated. */
  readonly consecutive_failures: number;
  readonly created_at: Micros;
}

/** With its secret as a `SecretBox` sealed it, for {@link sealOwner}. */
export interface StoredEndpoint extends WebhookEndpoint {
  readonly sealed_secret: string;
}

/** Absent values stay as they are. */
export type EndpointChange = Partial<Pick<WebhookEndpoint, 'url' | 'name' | 'event_types' | 'is_active'>>;

/** What became of a new endpoint. `full`: there is no room for another; `unknown`: there is no such organization. */
export type CreatedEndpoint = 'created' | 'full' | 'unknown';

/** What became of a test: the id of its delivery (UUIDv7); a paused endpoint gets none. */
export type TestedEndpoint = { readonly deliveryId: string } | 'paused';

/** Over how long deliveries are spread, so that a receiver that comes back does not get everything at once. */
export const RESUME_SPREAD_MS = 60_000;
/** Longer than all retries of the default schedule take: after so long a receiver does not want a delivery any more. */
export const MAX_HELD_MS = 96 * MS_PER_HOUR;

/** The URL of a webhook for those who may not change it: its path and query often hold a token. */
export function maskTarget(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : '…';
}

/** The owner for which an endpoint's secret is sealed. */
export function sealOwner(endpointId: string): string {
  return `webhook_endpoint:${endpointId}`;
}

/**
 * Where organizations have events sent to. What belongs to another organization looks as if it did not exist. Changes are durable
 * when they resolve, and watchers of `endpoints` are told. Ids are accepted in upper and lower case. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Endpoints {
  /** @param most how many the organization may have then; any number where absent */
  create(slug: string, endpoint: StoredEndpoint, most?: number): Promise<CreatedEndpoint>;
  /** The endpoints of an organization, the newest first. */
  list(slug: string): Promise<readonly WebhookEndpoint[]>;
  /**
   * Activating an endpoint sets its failures to 0, whether it was active or not. Where it was paused, deliveries that were held
   * and are due within `RESUME_SPREAD_MS` are spread over that time, the longest overdue first and at once; none comes before its
   * time. Those that were queued longer ago than `MAX_HELD_MS` are given up. Pausing forgets attempts that somebody asked for.
   *
   * @returns the endpoint as it is now, or null
   */
  update(slug: string, id: string, change: EndpointChange, now: Micros): Promise<WebhookEndpoint | null>;
  /** Deletes it for good, with its deliveries. @returns false where there was no such endpoint */
  delete(slug: string, id: string): Promise<boolean>;
  /** Replaces the secret at once. @returns false where there is no such endpoint */
  rotateSecret(slug: string, id: string, sealedSecret: string): Promise<boolean>;
  /**
   * Writes an event `webhook.test` for this endpoint alone, whatever it subscribes to, and queues its delivery in the same transaction.
   *
   * @returns null where there is no such endpoint
   */
  test(slug: string, id: string, now: Micros): Promise<TestedEndpoint | null>;
  /** An endpoint of any organization, for its sender; null where it was deleted. */
  find(id: string): Promise<StoredEndpoint | null>;
  /** The endpoints of every organization, the oldest first. */
  listAll(): Promise<readonly StoredEndpoint[]>;
}

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
  /** How many attempts were begun. */
  readonly attempt_count: number;
}

/** With what it is about. */
export interface ListedDelivery extends DeliverySummary {
  readonly endpoint_id: string;
  /** Null where that is not known. */
  readonly subject: EventSubject | null;
}

/** One that was queued, was asked for again, or had an attempt end: as it is now. */
export interface ChangedDelivery extends ListedDelivery {
  /** Of its organization. */
  readonly org_slug: string;
}

/** What changed since a position. */
export interface DeliveryChanges {
  /** In the order of their last change; those that are gone since are left out. */
  readonly deliveries: readonly ChangedDelivery[];
  /** The position behind them. */
  readonly next: string;
  /** How many changes there were of which nothing is known any more. */
  readonly lost: number;
}

/** Which deliveries of an organization are wanted. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly eventType?: string;
  readonly endpointId?: string;
  /** Whose event is about this trace, or about an alert that fired for it. */
  readonly traceId?: string;
}

/** A place in the list of deliveries, which is behind one of them. */
export interface DeliveryCursor {
  readonly created_at: Micros;
  readonly id: string;
}

/** Which of an endpoint's deliveries are to be attempted once more. */
export interface RetriedDeliveries {
  readonly endpointId: string;
  readonly status: Exclude<DeliveryStatus, 'success'>;
  /** Queued at or after. */
  readonly since: Micros;
  /** How many at most. */
  readonly limit: number;
}

export interface DeliveryAttempt {
  /** From 1. */
  readonly attempt_number: number;
  /** Null where no answer came, or the attempt is still running. */
  readonly http_status_code: number | null;
  /** The beginning of the body; empty where there is none. */
  readonly response_body: string;
  /** Null while it is running, and where the daemon ended meanwhile. */
  readonly duration_ms: number | null;
  readonly attempted_at: Micros;
  /** Null while it is running, and where the status says enough. */
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

/** How much one sender may have running at once. */
export interface SenderLimits {
  /** Deliveries. */
  readonly limit: number;
  /** Running attempts to one endpoint, whoever makes them. */
  readonly perEndpoint: number;
  /** The same for all endpoints of one organization. */
  readonly perOrganization: number;
  /**
   * The same for all endpoints at one host, whose organizations take turns there. Senders that claim for different organizations at
   * the same moment may exceed it.
   */
  readonly perHost: number;
}

/** What a sender asks for: at most `limit` deliveries. What it claimed before counts towards the other limits. */
export interface ClaimRequest extends SenderLimits {
  readonly now: Micros;
  /** How long a claim holds, in milliseconds: longer than an attempt takes, unless it is renewed meanwhile. */
  readonly leaseMs: number;
}

/** Identifies a claim. The number of the attempt is its fencing token: no number is given twice for a delivery. */
export interface ClaimName {
  /** UUIDv7 */
  readonly delivery_id: string;
  /** From 1. */
  readonly attempt: number;
}

/** An attempt that its sender alone may make until the lease ends. It is noted before it is made. */
export interface DeliveryClaim extends ClaimName {
  /** Whether somebody asked for it, beside the schedule. */
  readonly isManual: boolean;
  /** How many attempts the schedule has made before. */
  readonly step: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly body: string;
  readonly endpoint_id: string;
  /** The endpoint as it is now, not as it was when the event happened. */
  readonly url: string;
  readonly sealed_secret: string;
}

export interface Claims {
  readonly claims: readonly DeliveryClaim[];
  /**
   * When to ask again, if nothing changes before: when the next delivery is due whose endpoint and organization have room, or a
   * claim ends; not later than now where somebody else was claiming for the organization. Null: nothing waits.
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
   * When the schedule tries next, if the schedule made this attempt and it failed; null: never, and the delivery has failed.
   * Ignored after success and for manual attempts.
   */
  readonly retryAt: Micros | null;
  /** The receiver wants no more (410): the schedule makes no further attempts, even if this one was manual. */
  readonly isGone: boolean;
}

export interface FinishedRules {
  readonly now: Micros;
  /** How many failed attempts in a row pause an endpoint. */
  readonly breakerThreshold: number;
}

/** What waits. */
export interface DeliveryStats {
  readonly pending: number;
  /** For active endpoints: how long the oldest delivery is overdue; 0 for none. */
  readonly overdueMs: number;
}

/**
 * Deliveries of events to webhook endpoints. A delivery exists from the transaction in which its event was taken, and its state
 * changes in transactions only, which are durable when they resolve. `src/exporters/webhook/README.md` says what the statuses and
 * numbers mean.
 *
 * Several senders may claim at once. A delivery is claimed by one at a time, and the limits of a request hold over the claims of
 * all. A claim holds until its result is noted or its lease ends; leases are judged by the store's clock. When the lease of an
 * attempt has ended, the next one who claims records it as interrupted, and the delivery is due as before. So each is attempted
 * at least once, and perhaps again where a sender was lost. Watchers of `deliveries` are told when something other than a claim
 * may have made a delivery due.
 *
 * Every method may throw a `ConsumeError` with `storage_unavailable` (retryable). Ids are accepted in upper and lower case.
 */
export interface DeliveryQueue {
  /**
   * Takes events, in one transaction: adds one delivery for each active endpoint that subscribes to the type and belongs to the
   * owner's organizations (or to the organization whose event it is; or for the one endpoint it is meant for), once for each
   * event and endpoint. An event that was taken before adds nothing.
   *
   * @returns how many deliveries were added
   */
  enqueue(events: readonly StoredEvent[], now: Micros): Promise<number>;
  /**
   * Claims what is due, and notes the attempts. What would be the first running attempt to its organization comes first, then
   * what would be the second, and so on; within an organization the same by endpoints; then what is overdue the longest.
   * Organizations for which somebody else is claiming at this moment are left out.
   */
  claim(request: ClaimRequest): Promise<Claims>;
  /**
   * Holds claims for so many milliseconds from now.
   *
   * @returns those that still hold; the others were interrupted, finished or removed
   */
  renew(claims: readonly ClaimName[], leaseMs: number): Promise<readonly ClaimName[]>;
  /**
   * Notes how attempts ended, in one transaction: result, status and next time of the delivery, and failures in a row of the
   * endpoint, which is paused when they reach the threshold (event `webhook.endpoint.disabled`). Results under a claim that was
   * interrupted or finished before, and for endpoints that were deleted, change nothing. A claim whose lease ended counts until
   * it is interrupted.
   *
   * @returns the ids of the endpoints that were paused
   */
  finish(results: readonly FinishedAttempt[], rules: FinishedRules): Promise<readonly string[]>;
  /**
   * Asks for one more attempt, whatever the status is, beside those of the schedule; each call asks for another. Does nothing
   * where the endpoint is paused.
   *
   * @returns false where no endpoint of the organization has such a delivery
   */
  retry(slug: string, deliveryId: string): Promise<boolean>;
  /**
   * Asks for one more attempt of many, the oldest first: failed ones, or pending ones before their time. What was asked for already, and
   * is not begun, is left out, so that a call that is repeated asks for nothing twice. Others get their turns in between.
   *
   * @returns null where the organization has no such endpoint; `paused` where the endpoint is, and nothing was done
   */
  retrySome(
    slug: string,
    wanted: RetriedDeliveries,
  ): Promise<{ readonly queued: number; readonly hasMore: boolean } | 'paused' | null>;
  /**
   * Deliveries to all endpoints of an organization, the newest first. Only so many are looked at for an answer, which may therefore have
   * few items, or none, and yet a next place.
   *
   * @returns what follows a place
   */
  follow(
    slug: string,
    filter: DeliveryFilter,
    page: { readonly after: DeliveryCursor | null; readonly limit: number },
  ): Promise<{ readonly items: readonly ListedDelivery[]; readonly next: DeliveryCursor | null }>;
  /**
   * What the process that has the store open changed lately, in parts: of the last few thousand deliveries, and of all organizations. A
   * claim is no change.
   *
   * @param after the `next` of an answer before, which holds as long as the process lives; null: finds out where one is
   * @param wait until it fires, an answer with nothing in it is waited with; absent: nothing is waited for
   */
  changes(after: string | null, wait?: AbortSignal): Promise<DeliveryChanges>;
  /** The newest first. @returns null where the organization has no such endpoint */
  list(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null>;
  /** @returns null where no endpoint of the organization has such a delivery */
  read(slug: string, deliveryId: string): Promise<DeliveryDetail | null>;
  /**
   * The attempts of a delivery after one with a number, some at a time; empty after the last.
   *
   * @returns null where no endpoint of the organization has such a delivery
   */
  readAttempts(slug: string, deliveryId: string, after: number): Promise<readonly DeliveryAttempt[] | null>;
  /** Removes the deliveries that were queued before a time, whatever became of them. @returns how many */
  removeBefore(time: Micros): Promise<number>;
  stats(now: Micros): Promise<DeliveryStats>;
}
