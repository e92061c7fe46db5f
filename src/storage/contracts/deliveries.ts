// Webhook endpoints, and the queue of deliveries to them.

import { MS_PER_HOUR } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import type { EventSubject, StoredEvent } from './events.js';

/** An organization's webhook endpoint, without its signing secret. */
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
  /** Failed attempts since the last success or the last activation. */
  readonly consecutive_failures: number;
  readonly created_at: Micros;
}

/** With its secret, sealed by a `SecretBox` for {@link sealOwner}. */
export interface StoredEndpoint extends WebhookEndpoint {
  readonly sealed_secret: string;
}

/** Absent values stay as they are. */
export type EndpointChange = Partial<Pick<WebhookEndpoint, 'url' | 'name' | 'event_types' | 'is_active'>>;

/** Result of creating an endpoint. `full`: the limit is reached; `unknown`: the organization does not exist. */
export type CreatedEndpoint = 'created' | 'full' | 'unknown';

/** Result of a test: the id of its delivery (UUIDv7); a paused endpoint gets none. */
export type TestedEndpoint = { readonly deliveryId: string } | 'paused';

/** Held deliveries are spread over this time, so that a receiver that recovers does not get all at once. */
export const RESUME_SPREAD_MS = 60_000;
/** Longer than all retries of the default schedule: held deliveries older than this are dropped. */
export const MAX_HELD_MS = 96 * MS_PER_HOUR;

/** The URL of a webhook for users who may not change it, without path and query, which often contain a token. */
export function maskTarget(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : '…';
}

/** The owner that an endpoint's secret is sealed for. */
export function sealOwner(endpointId: string): string {
  return `webhook_endpoint:${endpointId}`;
}

/**
 * Webhook endpoints of organizations. Endpoints of other organizations appear not to exist. Changes are durable when they resolve, and
 * watchers of `endpoints` are notified. Ids are accepted in upper and lower case. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface Endpoints {
  /** @param most maximum number of the organization's endpoints after the call; absent: no limit */
  create(slug: string, endpoint: StoredEndpoint, most?: number): Promise<CreatedEndpoint>;
  /** The endpoints of an organization, the newest first. */
  list(slug: string): Promise<readonly WebhookEndpoint[]>;
  /**
   * Activating an endpoint sets its failures to 0, even if it was active. If it was paused, held deliveries due within
   * `RESUME_SPREAD_MS` are spread over that time, the longest overdue first and at once; none is sent early. Those queued longer ago
   * than `MAX_HELD_MS` are given up. Pausing drops manually requested attempts.
   *
   * @returns the updated endpoint, or null
   */
  update(slug: string, id: string, change: EndpointChange, now: Micros): Promise<WebhookEndpoint | null>;
  /** Deletes an endpoint permanently, with its deliveries. @returns false if it did not exist */
  delete(slug: string, id: string): Promise<boolean>;
  /** Replaces the secret immediately. @returns false if the endpoint does not exist */
  rotateSecret(slug: string, id: string, sealedSecret: string): Promise<boolean>;
  /**
   * Writes an event `webhook.test` for this endpoint only, regardless of subscriptions, and queues its delivery in the same transaction.
   *
   * @returns null if the endpoint does not exist
   */
  test(slug: string, id: string, now: Micros): Promise<TestedEndpoint | null>;
  /** An endpoint of any organization, for the sender; null if it was deleted. */
  find(id: string): Promise<StoredEndpoint | null>;
  /** The endpoints of every organization, the oldest first. */
  listAll(): Promise<readonly StoredEndpoint[]>;
}

export const DELIVERY_STATUSES = ['pending', 'success', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The delivery of one event to one endpoint. */
export interface DeliverySummary {
  /** UUIDv7 */
  readonly id: string;
  readonly event_type: string;
  readonly status: DeliveryStatus;
  /** When it was queued. */
  readonly created_at: Micros;
  /** Number of attempts started. */
  readonly attempt_count: number;
}

/** A delivery with the subject of its event. */
export interface ListedDelivery extends DeliverySummary {
  readonly endpoint_id: string;
  /** Null if unknown. */
  readonly subject: EventSubject | null;
}

/** The current state of a delivery that was queued, was retried manually, or had an attempt end. */
export interface ChangedDelivery extends ListedDelivery {
  /** Of its organization. */
  readonly org_slug: string;
}

/** Changes since a position. */
export interface DeliveryChanges {
  /** Ordered by their last change; deliveries deleted since are left out. */
  readonly deliveries: readonly ChangedDelivery[];
  /** The position after the last of them. */
  readonly next: string;
  /** Number of changes that are no longer available. */
  readonly lost: number;
}

/** Selects deliveries of an organization. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly eventType?: string;
  readonly endpointId?: string;
  /** Deliveries of events about this trace, or about an alert that fired for it. */
  readonly traceId?: string;
}

/** A position in the list of deliveries, after one of them. */
export interface DeliveryCursor {
  readonly created_at: Micros;
  readonly id: string;
}

/** Selects an endpoint's deliveries for one more attempt. */
export interface RetriedDeliveries {
  readonly endpointId: string;
  readonly status: Exclude<DeliveryStatus, 'success'>;
  /** Queued at or after. */
  readonly since: Micros;
  /** Maximum number. */
  readonly limit: number;
}

export interface DeliveryAttempt {
  /** From 1. */
  readonly attempt_number: number;
  /** Null without a response, or while the attempt is running. */
  readonly http_status_code: number | null;
  /** The beginning of the response body; empty if absent. */
  readonly response_body: string;
  /** Null while the attempt is running, or if the daemon stopped during it. */
  readonly duration_ms: number | null;
  readonly attempted_at: Micros;
  /** Null while the attempt is running, or if the status is sufficient. */
  readonly error_message: string | null;
}

export interface DeliveryDetail extends DeliverySummary {
  /** The JSON text that is sent. */
  readonly body: string;
  /** Ordered by number: all attempts, unless very many were requested manually. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Whether more follow: {@link DeliveryQueue.readAttempts}. */
  readonly hasMoreAttempts: boolean;
}

/** Maximum running at once per sender. */
export interface SenderLimits {
  /** Deliveries. */
  readonly limit: number;
  /** Running attempts to one endpoint, of all senders. */
  readonly perEndpoint: number;
  /** The same for all endpoints of one organization. */
  readonly perOrganization: number;
  /**
   * The same for all endpoints at one host, which organizations share fairly. Senders that claim for different organizations
   * concurrently may exceed it.
   */
  readonly perHost: number;
}

/** Requests at most `limit` deliveries. Earlier claims count towards the other limits. */
export interface ClaimRequest extends SenderLimits {
  readonly now: Micros;
  /** Duration of a claim in milliseconds unless renewed; must exceed the duration of an attempt. */
  readonly leaseMs: number;
}

/** Identifies a claim. The attempt number is its fencing token: each number is used once per delivery. */
export interface ClaimName {
  /** UUIDv7 */
  readonly delivery_id: string;
  /** From 1. */
  readonly attempt: number;
}

/** An attempt that only its sender may make until the lease ends. It is recorded before it is made. */
export interface DeliveryClaim extends ClaimName {
  /** Whether it was requested manually, in addition to the schedule. */
  readonly isManual: boolean;
  /** Number of earlier scheduled attempts. */
  readonly step: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly body: string;
  readonly endpoint_id: string;
  /** The current URL of the endpoint, not the URL at the time of the event. */
  readonly url: string;
  readonly sealed_secret: string;
}

export interface Claims {
  readonly claims: readonly DeliveryClaim[];
  /**
   * When to poll again if nothing changes before: when the next delivery is due whose endpoint and organization have room, or a claim
   * ends; at once if another sender was claiming for the organization. Null: nothing is waiting.
   */
  readonly nextDueAt: Micros | null;
}

/** Result of an attempt. */
export interface FinishedAttempt extends ClaimName {
  readonly succeeded: boolean;
  readonly statusCode: number | null;
  readonly responseBody: string;
  readonly durationMs: number;
  readonly error: string | null;
  /**
   * The next scheduled time, if this was a scheduled attempt that failed; null: none, the delivery has failed. Ignored after success and
   * for manual attempts.
   */
  readonly retryAt: Micros | null;
  /** The receiver returned 410: the schedule makes no further attempts, even if this one was manual. */
  readonly isGone: boolean;
}

export interface FinishedRules {
  readonly now: Micros;
  /** Number of consecutive failed attempts that pauses an endpoint. */
  readonly breakerThreshold: number;
}

/** Backlog of deliveries. */
export interface DeliveryStats {
  readonly pending: number;
  /** For active endpoints: how long the oldest delivery is overdue; 0 if none is. */
  readonly overdueMs: number;
}

/**
 * Deliveries of events to webhook endpoints. A delivery exists from the transaction that enqueued its event, and its state changes only
 * in transactions, which are durable when they resolve. `src/exporters/webhook/README.md` describes the statuses and numbers.
 *
 * Several senders may claim concurrently. One sender at a time holds a delivery, and the limits of a request apply to the claims of all
 * senders. A claim is held until its result is recorded or its lease expires, by the store's clock. The next claim records an attempt
 * with an expired lease as interrupted, and the delivery is due as before. So each delivery is attempted at least once, and possibly
 * again if a sender was lost. Watchers of `deliveries` are notified when something other than a claim may have made a delivery due.
 *
 * Every method may throw a `ConsumeError` with `storage_unavailable` (retryable). Ids are accepted in upper and lower case.
 */
export interface DeliveryQueue {
  /**
   * Enqueues events in one transaction: adds one delivery for each active endpoint that subscribes to the type and belongs to the
   * owner's organizations (or to the organization of the event; or for the one endpoint it targets), once per event and endpoint. An
   * event that was enqueued before adds nothing.
   *
   * @returns the number of deliveries added
   */
  enqueue(events: readonly StoredEvent[], now: Micros): Promise<number>;
  /**
   * Claims due deliveries and records the attempts. Organizations with fewer running attempts come first, then, within an organization,
   * endpoints with fewer, then the longest overdue. Skips organizations that another sender is claiming for.
   */
  claim(request: ClaimRequest): Promise<Claims>;
  /**
   * Extends claims to this many milliseconds from now.
   *
   * @returns the claims that are still held; the others were interrupted, finished or removed
   */
  renew(claims: readonly ClaimName[], leaseMs: number): Promise<readonly ClaimName[]>;
  /**
   * Records the results of attempts in one transaction: result, status and next time of the delivery, and consecutive failures of the
   * endpoint, which is paused when they reach the threshold (event `webhook.endpoint.disabled`). Results of claims already interrupted
   * or finished, and for deleted endpoints, change nothing. A claim with an expired lease is valid until it is interrupted.
   *
   * @returns the ids of the endpoints that were paused
   */
  finish(results: readonly FinishedAttempt[], rules: FinishedRules): Promise<readonly string[]>;
  /**
   * Requests one more attempt in any status, in addition to the schedule; each call requests another. Does nothing if the
   * endpoint is paused.
   *
   * @returns false if no endpoint of the organization has such a delivery
   */
  retry(slug: string, deliveryId: string): Promise<boolean>;
  /**
   * Requests one more attempt of many deliveries, oldest first: failed ones, or pending ones before their time. Deliveries with a
   * requested attempt that has not started are skipped, so repeating the call requests nothing twice. Other writers can run in between.
   *
   * @returns null if the organization has no such endpoint; `paused`, with nothing done, if the endpoint is paused
   */
  retrySome(
    slug: string,
    wanted: RetriedDeliveries,
  ): Promise<{ readonly queued: number; readonly hasMore: boolean } | 'paused' | null>;
  /**
   * Deliveries to all endpoints of an organization, newest first. The number of rows read per call is limited, so a page may have few
   * items, or none, and still a next position.
   *
   * @returns the deliveries after a position
   */
  follow(
    slug: string,
    filter: DeliveryFilter,
    page: { readonly after: DeliveryCursor | null; readonly limit: number },
  ): Promise<{ readonly items: readonly ListedDelivery[]; readonly next: DeliveryCursor | null }>;
  /**
   * Recent changes in the process that has the store open, in pages: of the last few thousand deliveries, of all organizations. A claim
   * is not a change.
   *
   * @param after the `next` of an earlier result, valid as long as the process runs; null: returns the current position
   * @param wait until it fires, the call waits for a change; absent: returns at once
   */
  changes(after: string | null, wait?: AbortSignal): Promise<DeliveryChanges>;
  /** Newest first. @returns null if the organization has no such endpoint */
  list(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null>;
  /** @returns null if no endpoint of the organization has such a delivery */
  read(slug: string, deliveryId: string): Promise<DeliveryDetail | null>;
  /**
   * A page of the attempts of a delivery after a number; empty after the last.
   *
   * @returns null if no endpoint of the organization has such a delivery
   */
  readAttempts(slug: string, deliveryId: string, after: number): Promise<readonly DeliveryAttempt[] | null>;
  /** Removes the deliveries queued before a time, in any status. @returns how many */
  removeBefore(time: Micros): Promise<number>;
  stats(now: Micros): Promise<DeliveryStats>;
}
