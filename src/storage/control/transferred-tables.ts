import type { Tables } from './tables.js';

/**
 * What an export holds of each table. The order is that in which they are filled in: a row comes after those that it refers to. Of
 * `counters` it has what is not {@link OWN_COUNTERS}.
 */
const TRANSFERRED = {
  counters: true,
  users: true,
  api_keys: true,
  organizations: true,
  members: true,
  prompts: true,
  prompt_removals: true,
  webhook_endpoints: true,
  events: true,
  event_readers: true,
  event_wants: true,
  delivery_events: true,
  deliveries: true,
  waiting_deliveries: true,
  delivery_attempts: true,
  views: true,
  logins: true,
  login_links: true,
  alert_rules: true,
  alert_removals: true,
  alert_firings: true,
  alert_evidence: true,
  alert_notices: true,
  alert_beats: true,
  alert_secrets: true,
  audit_entries: true,
  // Of processes.
  leases: false,
  terms: false,
  // Of this store, and of how far it has read others.
  identity: false,
  event_marks: false,
  // Of one store of telemetry: what is to be kept of that is in its own tables.
  writes: false,
  usage_months: false,
  usage_days: false,
  numbered_agents: false,
  named_batches: false,
} as const satisfies Record<keyof Tables, boolean>;

/** Counters of what is left out. */
export const OWN_COUNTERS: readonly string[] = ['write', 'ticket', 'agent'];

export const TRANSFERRED_TABLES = (Object.keys(TRANSFERRED) as (keyof Tables)[]).filter(
  (table) => TRANSFERRED[table],
);
