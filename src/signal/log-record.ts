import type { JsonObject, JsonValue } from './attributes.js';
import type { Origin } from './origin.js';
import type { Micros } from './time.js';

/** The position is the stored code of each severity: append only. */
export const SEVERITIES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One log record. */
export interface LogRecord {
  /** A UUIDv7 created on arrival, because OTLP logs have no ids. */
  id: string;
  timestamp: Micros;
  observed_at: Micros | null;
  severity: Severity;
  /** As sent; 0 and empty if absent. */
  severity_number: number;
  severity_text: string;
  body: JsonValue;
  trace_id: string | null;
  span_id: string | null;
  /** OTLP `LogRecordFlags`. */
  flags: number;
  event_name: string | null;
  attributes: JsonObject;
  origin: Origin;
}
