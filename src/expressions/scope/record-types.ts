import type { EventRecord } from '../../signal/event.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { MetricPoint } from '../../signal/metric.js';
import type { TraceRecord } from '../../signal/trace.js';
import { EVENT_FIELDS } from './event-fields.js';
import type { Fields } from './field.js';
import { IDENTITY_FIELDS, type Sender } from './identity-fields.js';
import { LOG_FIELDS } from './log-fields.js';
import { POINT_FIELDS } from './point-fields.js';
import { SPAN_TYPE } from './span-view.js';
import { TRACE_FIELDS } from './trace-fields.js';
import { viewType } from './view.js';

/** The types of records in expressions, by variable name. */
export const RECORD_TYPES = {
  span: SPAN_TYPE,
  trace: viewType<TraceRecord>('Trace', TRACE_FIELDS),
  log: viewType<LogRecord>('Log', LOG_FIELDS),
  point: viewType<MetricPoint>('Point', POINT_FIELDS),
  event: viewType<EventRecord>('Event', EVENT_FIELDS),
  identity: viewType<Sender>('Identity', IDENTITY_FIELDS),
} as const;

export type RecordVariable = keyof typeof RECORD_TYPES;

/**
 * A variable of an expression: one of these records, `resource`, the resource attributes of the record, or `items`, a list of values
 * computed before.
 */
export type Variable = RecordVariable | 'resource' | 'items';

/** The type of that name. */
export function typeNamed(
  name: string,
): { readonly name: string; readonly fields: Fields<never> } | undefined {
  return Object.values(RECORD_TYPES).find((type) => type.name === name);
}
