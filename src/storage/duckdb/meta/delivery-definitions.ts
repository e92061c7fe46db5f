import { MetaTable, UNPACKED } from './tables.js';

/**
 * The queue of webhooks. No table has an index: numbers grow with time, so that DuckDB finds a row by what it knows of its
 * row groups. Rows are written once, except in the small table `waiting_deliveries`: what became of a delivery follows
 * from its attempts.
 */

const PLAIN_UUID = `NOT NULL ${UNPACKED}`;

/** Events that were taken, with what is sent. */
export const TAKEN_EVENTS = new MetaTable('taken_events', [
  { name: 'number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'type', kind: 'text', rule: 'NOT NULL' },
  { name: 'taken_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'body', kind: 'text', rule: 'NOT NULL' },
]);

export const DELIVERIES = new MetaTable('deliveries', [
  { name: 'number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'event', kind: 'integer', rule: 'NOT NULL' },
  { name: 'endpoint_id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'created_at', kind: 'time', rule: 'NOT NULL' },
]);

/** What is still to be attempted, `Waiting` in `delivery-state.ts`. A delivery without a row here is at rest. */
export const WAITING = new MetaTable('waiting_deliveries', [
  { name: 'delivery', kind: 'integer', rule: 'NOT NULL' },
  /** As in `deliveries`, the next three: claims need no more than this row. */
  { name: 'id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'event', kind: 'integer', rule: 'NOT NULL' },
  { name: 'endpoint_id', kind: 'uuid', rule: PLAIN_UUID },
  { name: 'due_at', kind: 'time' },
  { name: 'step', kind: 'integer', rule: 'NOT NULL' },
  { name: 'manual', kind: 'integer', rule: 'NOT NULL' },
  { name: 'attempts', kind: 'integer', rule: 'NOT NULL' },
  /** When the attempt under way began; null: none is. */
  { name: 'attempted_at', kind: 'time' },
  /** Of it. */
  { name: 'is_manual', kind: 'boolean' },
]);

/** Attempts that have ended. */
export const ATTEMPTS = new MetaTable('delivery_attempts', [
  { name: 'delivery', kind: 'integer', rule: 'NOT NULL' },
  { name: 'attempt_number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'attempted_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'succeeded', kind: 'boolean', rule: 'NOT NULL' },
  { name: 'http_status_code', kind: 'integer' },
  /** As the receiver sent it: any text. */
  { name: 'response_body', kind: 'any_text', rule: 'NOT NULL' },
  { name: 'duration_ms', kind: 'integer' },
  { name: 'error_message', kind: 'any_text' },
]);
