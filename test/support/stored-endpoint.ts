import type { StoredEndpoint, WebhookEndpoint } from '../../src/storage/contracts/deliveries.js';

/** An endpoint as in lists. */
export function withoutSecret(endpoint: StoredEndpoint): WebhookEndpoint {
  const { id, url, name, event_types, is_active, consecutive_failures, created_at } = endpoint;
  return { id, url, name, event_types, is_active, consecutive_failures, created_at };
}
