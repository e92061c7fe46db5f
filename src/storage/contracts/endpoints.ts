import type { Micros } from '../../signal/time.js';
import type {
  CreatedEndpoint,
  EndpointChange,
  StoredEndpoint,
  TestedEndpoint,
  WebhookEndpoint,
} from './webhook-endpoints.js';

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
