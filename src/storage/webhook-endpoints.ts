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
