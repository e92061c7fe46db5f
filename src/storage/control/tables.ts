import type { PromptType } from '../contracts/prompts.js';
import type { WriteTables } from './write-tables.js';

/** The tables of the control store, as statements see them. Times are microseconds since 1970, booleans 0 or 1. */
export interface Tables extends WriteTables {
  counters: CounterTable;
  leases: LeaseTable;
  users: UserTable;
  api_keys: KeyTable;
  organizations: OrganizationTable;
  members: MemberTable;
  prompts: PromptTable;
  prompt_removals: PromptRemovalTable;
  prompt_labels: PromptLabelTable;
  prompt_label_moves: PromptLabelMoveTable;
  webhook_endpoints: EndpointTable;
  events: EventTable;
  event_readers: { name: string; position: number };
  event_marks: { source: string; mark: string };
  event_wants: { owner: string; type: string; until: number };
  terms: SettingsTable;
  delivery_events: DeliveryEventTable;
  deliveries: DeliveryTable;
  waiting_deliveries: WaitingDeliveryTable;
  delivery_attempts: DeliveryAttemptTable;
  views: ViewTable;
  logins: LoginTable;
  login_links: LoginLinkTable;
  alert_rules: AlertRuleTable;
  alert_removals: { number: number; alert_id: string };
  alert_firings: AlertFiringTable;
  alert_evidence: AlertEvidenceTable;
  alert_notices: AlertNoticeTable;
  alert_secrets: AlertSecretTable;
  audit_entries: AuditTable;
  /** One row per telemetry store. */
  alert_beats: { source: string; beat_at: number };
  /** One row, with the number 1, created when it is first read. */
  identity: { row: number; id: string };
}

/** Counters, whose numbers are assigned once. */
interface CounterTable {
  name: string;
  /** The last assigned number. */
  last: number;
}

interface LeaseTable {
  name: string;
  owner: string;
  token: number;
  expires_at: number;
}

interface UserTable {
  id: string;
  tenant: number;
  email: string;
  /** In lower case, for uniqueness. */
  email_key: string;
  name: string;
  monthly_event_limit: number | null;
  stored_bytes_limit: number | null;
  disabled: number;
  created_at: number;
}

interface KeyTable {
  id: string;
  user_id: string;
  name: string;
  prefix: string;
  digest: string;
  /** Separated by spaces. */
  scopes: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** The number of the last change that affects whether the key is accepted. */
  changed: number;
  /** The key that created it, or the nearest remaining ancestor. */
  parent_id: string | null;
}

interface OrganizationTable {
  id: string;
  slug: string;
  /** In lower case, for uniqueness. */
  slug_key: string;
  name: string;
  created_at: number;
}

interface ViewTable {
  id: string;
  user_id: string;
  organization_id: string | null;
  name: string;
  path: string;
}

interface MemberTable {
  organization_id: string;
  user_id: string;
  role: string;
}

interface PromptTable {
  /** Identifies the version in telemetry rows. */
  number: number;
  id: string;
  user_id: string;
  name: string;
  /** The index key of the name. */
  name_key: string;
  version: number;
  type: PromptType;
  template_text: string;
  description: string | null;
  is_active: number;
  created_at: number;
  /** 256 plus the length of the texts: UTF-8 bytes, or UTF-16 code units in rows of earlier releases. */
  bytes: number;
}

/** Prompts with deleted versions. */
interface PromptRemovalTable {
  user_id: string;
  name_key: string;
  /** The highest deleted version: it and lower versions cannot be created again. */
  version: number;
  /** Increases with the commits. */
  number: number;
}

/** Labels of prompts, without `latest`. */
interface PromptLabelTable {
  user_id: string;
  name: string;
  name_key: string;
  label: string;
  /** JSON: versions and weights, by version. */
  targets: string;
  /** The number of its last move. */
  number: number;
  moved_at: number;
  key_id: string | null;
}

/** Moves of labels, and of `latest` by deletions. */
interface PromptLabelMoveTable {
  /** Of the counter `prompt`. */
  number: number;
  user_id: string;
  name: string;
  name_key: string;
  label: string;
  /** JSON; null if the label was new. */
  from_targets: string | null;
  /** JSON; null if the label was removed. */
  to_targets: string | null;
  moved_at: number;
  key_id: string | null;
}

interface EndpointTable {
  id: string;
  organization_id: string;
  url: string;
  name: string;
  /** Separated by spaces. */
  event_types: string;
  is_active: number;
  consecutive_failures: number;
  created_at: number;
  /** Encrypted by a `SecretBox`. */
  sealed_secret: string;
}

interface EventTable {
  /** Increases with the commits. */
  number: number;
  tenant: string;
  fact: string;
  id: string;
  type: string;
  timestamp: number;
  organization_id: string | null;
  endpoint_id: string | null;
  body: string;
}

interface SettingsTable {
  owner: string;
  /** JSON */
  terms: string;
  until: number;
}

/** Enqueued events, with the bodies that are sent. */
interface DeliveryEventTable {
  id: string;
  type: string;
  taken_at: number;
  body: string;
  /** The subject of the event; null if unknown. */
  subject_kind: string | null;
  subject_id: string | null;
}

interface DeliveryTable {
  /** UUIDv7 */
  id: string;
  event_id: string;
  endpoint_id: string;
  created_at: number;
  /** The organization of its endpoint; null only in rows whose endpoint was missing when the column was added. */
  organization_id: string | null;
  /** Whether any attempt succeeded. */
  succeeded: number;
}

/** Deliveries with remaining attempts. A delivery without a row is finished. */
interface WaitingDeliveryTable {
  delivery_id: string;
  endpoint_id: string;
  due_at: number | null;
  step: number;
  manual: number;
  attempts: number;
  /** When the running attempt began; null if none is running. */
  attempted_at: number | null;
  /** Whether the running attempt was requested manually. */
  is_manual: number;
  /** When the lease of the running attempt expires. */
  expires_at: number | null;
  /** When it may be claimed: 0 after a manual request, null while it is claimed. */
  ready_at: number | null;
}

/** Finished attempts. */
interface DeliveryAttemptTable {
  delivery_id: string;
  attempt_number: number;
  attempted_at: number;
  succeeded: number;
  http_status_code: number | null;
  response_body: string;
  duration_ms: number | null;
  error_message: string | null;
}

interface LoginTable {
  id: string;
  digest: string;
  user_id: string;
  key_id: string;
  created_at: number;
  /** Expiry time, extended by use. */
  expires_at: number;
  has_ended: number;
  /** The number of its last change. */
  changed: number;
  last_seen_at: number;
  /** Network address of the client that logged in. */
  address: string | null;
  user_agent: string | null;
}

interface LoginLinkTable {
  digest: string;
  user_id: string;
  key_id: string;
  expires_at: number;
}

interface AlertRuleTable {
  id: string;
  user_id: string;
  name: string | null;
  agent_id: string | null;
  agent_name: string | null;
  type: string;
  threshold: number;
  cooldown_minutes: number;
  window_minutes: number | null;
  min_samples: number | null;
  is_active: number;
  channel: string;
  webhook_url: string | null;
  /** JSON */
  composite_config: string | null;
  /** JSON */
  score_config: string | null;
  target_service: string | null;
  last_fired_at: number | null;
  created_at: number;
  /** Null while the rule is not firing, as is the next column. */
  incident_id: string | null;
  incident_firings: number | null;
  evidence: string | null;
  /** The number of its newest change. */
  changed: number;
}

interface AlertFiringTable {
  /** Increases with the commits. */
  number: number;
  id: string;
  alert_id: string;
  fired_at: number;
  value: number | null;
  threshold: number;
  incident_id: string;
  /** When the incident ended. */
  resolved_at: number | null;
  /** The envelope of `alert.fired`, which notices send. */
  body: string;
}

/** The traces that best explained why an alert fired. */
interface AlertEvidenceTable {
  /** The number of the firing. */
  firing: number;
  /** From 0, the best first. */
  place: number;
  trace_id: string;
}

interface AlertNoticeTable {
  /** Twice the number of its firing, plus one for the second channel. */
  number: number;
  /** The number of the firing. */
  firing: number;
  user_id: string;
  channel: string;
  webhook_url: string | null;
  status: string;
  detail: string | null;
  /** Null unless it is pending. */
  due_at: number | null;
  attempts: number;
  /** The attempts, as JSON. */
  history: string;
  /** The token of its newest claim. */
  token: number;
  /** 0 while it is not claimed. */
  claimed_until: number;
}

interface AlertSecretTable {
  user_id: string;
  /** Encrypted by a `SecretBox`. */
  sealed_secret: string;
  created_at: number;
}

interface AuditTable {
  /** Increases with the commits. */
  number: number;
  at: number;
  action: string;
  /** Null if the request was not authenticated. */
  user_id: string | null;
  /** Null if authentication is off. */
  key_id: string | null;
  address: string;
  /** JSON */
  fields: string;
}
