import { MS_PER_HOUR } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';

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
