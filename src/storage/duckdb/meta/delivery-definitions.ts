import { MetaTable } from './tables.js';

/**
 * The queue of webhooks. No table has an index: numbers grow with time, so that DuckDB finds a row by what it knows of its
 * row groups, and rows that are changed often are in the small table `waiting_deliveries` alone.
 */

/** Events that were taken, with what is sent. */
export const TAKEN_EVENTS = new MetaTable('taken_events', [
  { name: 'number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'id', kind: 'uuid', rule: 'NOT NULL' },
  { name: 'type', kind: 'text', rule: 'NOT NULL' },
  { name: 'taken_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'body', kind: 'text', rule: 'NOT NULL' },
]);

export const DELIVERIES = new MetaTable('deliveries', [
  { name: 'number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'id', kind: 'uuid', rule: 'NOT NULL' },
  { name: 'event', kind: 'integer', rule: 'NOT NULL' },
  { name: 'endpoint_id', kind: 'uuid', rule: 'NOT NULL' },
  { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'status', kind: 'text', rule: 'NOT NULL' },
  /** Whether any attempt has succeeded: a manual one that fails later does not undo it. */
  { name: 'has_succeeded', kind: 'boolean', rule: 'NOT NULL' },
  { name: 'attempt_count', kind: 'integer', rule: 'NOT NULL' },
]);

/** What is still to be attempted of a delivery. */
export const WAITING = new MetaTable('waiting_deliveries', [
  { name: 'delivery', kind: 'integer', rule: 'NOT NULL' },
  { name: 'endpoint_id', kind: 'uuid', rule: 'NOT NULL' },
  /** When the schedule tries next; null: not any more. */
  { name: 'due_at', kind: 'time' },
  /** Attempts by the schedule that were made. */
  { name: 'step', kind: 'integer', rule: 'NOT NULL' },
  /** Attempts that were asked for and not begun. */
  { name: 'manual', kind: 'integer', rule: 'NOT NULL' },
  /** Of the attempt under way; null: none is. */
  { name: 'lease', kind: 'integer' },
  { name: 'lease_until', kind: 'time' },
  /** Whether the attempt under way was asked for. */
  { name: 'is_manual', kind: 'boolean', rule: 'NOT NULL' },
]);

export const ATTEMPTS = new MetaTable('delivery_attempts', [
  { name: 'delivery', kind: 'integer', rule: 'NOT NULL' },
  { name: 'attempt_number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'attempted_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'http_status_code', kind: 'integer' },
  /** As the receiver sent it: any text. */
  { name: 'response_body', kind: 'any_text', rule: 'NOT NULL' },
  { name: 'duration_ms', kind: 'integer' },
  { name: 'error_message', kind: 'text' },
]);
