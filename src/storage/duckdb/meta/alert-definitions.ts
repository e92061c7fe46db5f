import { MetaTable, UNPACKED } from './tables.js';

const PLAIN_UUID = `NOT NULL ${UNPACKED}`;

export const ALERTS = new MetaTable('alerts', [
  { name: 'id', kind: 'uuid', rule: 'PRIMARY KEY' },
  { name: 'user_id', kind: 'uuid', rule: 'NOT NULL' },
  /** Of the user. */
  { name: 'tenant', kind: 'integer', rule: 'NOT NULL' },
  { name: 'agent_id', kind: 'uuid' },
  { name: 'agent_name', kind: 'any_text' },
  { name: 'type', kind: 'text', rule: 'NOT NULL' },
  { name: 'threshold', kind: 'double', rule: 'NOT NULL' },
  { name: 'cooldown_minutes', kind: 'double', rule: 'NOT NULL' },
  { name: 'is_active', kind: 'boolean', rule: 'NOT NULL' },
  { name: 'channel', kind: 'text', rule: 'NOT NULL' },
  { name: 'webhook_url', kind: 'text' },
  { name: 'composite_config', kind: 'json' },
  { name: 'target_service', kind: 'any_text' },
  { name: 'last_fired_at', kind: 'time' },
  { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
  /** The next two are null while the alert is not firing. */
  { name: 'incident_id', kind: 'uuid' },
  { name: 'incident_firings', kind: 'integer' },
  /** Of the newest firing. */
  { name: 'evidence', kind: 'json' },
]);

/** Firings, in the order of their numbers. */
export const ALERT_EVENTS = new MetaTable('alert_events', [
  { name: 'number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'alert_id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'fired_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'value', kind: 'double' },
  { name: 'threshold', kind: 'double', rule: 'NOT NULL' },
  { name: 'incident_id', kind: 'uuid', rule: PLAIN_UUID },
  /** When the incident ended. */
  { name: 'resolved_at', kind: 'time' },
  /** What notices say: the envelope of `alert.fired`. */
  { name: 'body', kind: 'text', rule: 'NOT NULL' },
]);

/** What is told of firings, one row for each channel. */
export const ALERT_NOTICES = new MetaTable('alert_notices', [
  { name: 'number', kind: 'integer', rule: 'NOT NULL' },
  /** The number of the firing. */
  { name: 'event', kind: 'integer', rule: 'NOT NULL' },
  { name: 'alert_id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'user_id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'channel', kind: 'text', rule: 'NOT NULL' },
  { name: 'webhook_url', kind: 'text' },
  { name: 'status', kind: 'text', rule: 'NOT NULL' },
  { name: 'detail', kind: 'any_text' },
  /** Null: it is pending no more. */
  { name: 'due_at', kind: 'time' },
  /** How many attempts were made, and what became of them: JSON. */
  { name: 'attempts', kind: 'integer', rule: 'NOT NULL' },
  { name: 'history', kind: 'text', rule: 'NOT NULL' },
]);

/** When the rules were evaluated last: one row, or none. */
export const ALERT_BEAT = new MetaTable('alert_beat', [{ name: 'beat_at', kind: 'time', rule: 'NOT NULL' }]);
