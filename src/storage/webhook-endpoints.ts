import type { Micros } from '../signal/time.js';

/** Where an organization has events sent to, without the secret that they are signed with. */
export interface WebhookEndpoint {
  /** UUIDv7 */
  readonly id: string;
  /** `https://…` */
  readonly url: string;
  /** Any text; may be empty. */
  readonly name: string;
  /** At least one; `*` is all. */
  readonly event_types: readonly string[];
  readonly is_active: boolean;
  /** Failed attempts since the last success, or since it was last made active. */
  readonly consecutive_failures: number;
  readonly created_at: Micros;
}

/** With its secret as a `SecretBox` sealed it, for {@link sealOwner}. */
export interface StoredEndpoint extends WebhookEndpoint {
  readonly sealed_secret: string;
}

/** What is absent stays as it is. */
export type EndpointChange = Partial<Pick<WebhookEndpoint, 'url' | 'name' | 'event_types' | 'is_active'>>;

/** What became of a new endpoint: there is room for no more, or no such organization. */
export type CreatedEndpoint = 'created' | 'full' | 'unknown';

/** What became of a test: its delivery (UUIDv7); an endpoint that is paused gets none. */
export type TestedEndpoint = { readonly deliveryId: string } | 'paused';

/** A receiver that comes back does not get everything at once. */
export const RESUME_SPREAD_MS = 60_000;
/** Longer than all retries of the default schedule take: who was away for so long does not want it any more. */
export const MAX_HELD_MS = 96 * 3_600_000;

/** What an endpoint's secret is sealed for. */
export function sealOwner(endpointId: string): string {
  return `webhook_endpoint:${endpointId}`;
}

/** The part of a meta store that keeps webhook endpoints. What belongs to another organization is not there. */
export interface EndpointStore {
  /** @param most as many as the organization may have then; any number where absent */
  createEndpoint(slug: string, endpoint: StoredEndpoint, most?: number): Promise<CreatedEndpoint>;
  /** Those of an organization, the newest first. */
  listEndpoints(slug: string): Promise<readonly WebhookEndpoint[]>;
  /**
   * Making an endpoint active sets its failures to 0, whether it was active or not. Where it was paused, the deliveries
   * that were held and are due within {@link RESUME_SPREAD_MS} are spread over that time, the longest overdue first and at
   * once; none comes before its time. Those that were queued longer ago than {@link MAX_HELD_MS} are given up.
   *
   * @returns the endpoint as it is now, or null.
   */
  updateEndpoint(
    slug: string,
    id: string,
    change: EndpointChange,
    now: Micros,
  ): Promise<WebhookEndpoint | null>;
  /** For good. @returns false where there was no such endpoint. */
  deleteEndpoint(slug: string, id: string): Promise<boolean>;
  /** Replaces the secret at once. @returns false where there is no such endpoint. */
  rotateEndpointSecret(slug: string, id: string, sealedSecret: string): Promise<boolean>;
  /** Of any organization, for who sends to it; null where it was deleted. */
  readEndpoint(id: string): Promise<StoredEndpoint | null>;
  /**
   * Writes an event `webhook.test` for this endpoint alone, whatever it subscribes to, and queues its delivery in the same
   * transaction.
   *
   * @returns null where there is no such endpoint
   */
  testEndpoint(slug: string, id: string, now: Micros): Promise<TestedEndpoint | null>;
  /** Of every organization, the oldest first. */
  listStoredEndpoints(): Promise<readonly StoredEndpoint[]>;
}
