import { type EventRecord, EVENT_TYPES } from '../../signal/event.js';
import { type LogRecord, SEVERITIES } from '../../signal/log-record.js';
import { type MetricPoint, METRIC_TYPES, TEMPORALITIES } from '../../signal/metric.js';
import type { TraceRecord } from '../../signal/trace.js';
import {
  type Fields,
  maybeObject,
  maybeText,
  text,
  time,
  word,
  anything,
  maybeCount,
  maybeTime,
  maybeFlag,
  maybeNumber,
  maybeWord,
  type Field,
} from './field.js';
import { IDENTITY_FIELDS, type Sender } from './identity-fields.js';
import { SPAN_TYPE } from './span-view.js';
import { TRACE_FIELDS } from './trace-fields.js';
import { viewType } from './view.js';
import type { JsonObject } from '../../signal/attributes.js';
import { parseJson } from '../../signal/json.js';

const labels: Field<MetricPoint> = {
  ...maybeObject<MetricPoint>('values as texts', (point) => point.labels),
  isOptional: false,
};

/** Fields of a metric point for expressions. */
const POINT_FIELDS = {
  name: text('of the metric', ({ stream }) => stream.name),
  type: word('of the metric', METRIC_TYPES, ({ stream }) => stream.type),
  unit: maybeText('', ({ stream }) => stream.unit || null),
  description: maybeText('', ({ stream }) => stream.description || null),
  temporality: maybeWord('of sums and histograms', TEMPORALITIES, ({ stream }) => stream.temporality),
  is_monotonic: maybeFlag('of sums', ({ stream }) => stream.is_monotonic),
  service_name: maybeText('', ({ stream }) => stream.origin.serviceName || null),
  timestamp: time('', (point) => point.timestamp),
  start_time: maybeTime('', (point) => point.start_time),
  value: maybeNumber('of histograms the mean', (point) => point.value),
  labels,
  attributes: maybeObject('with their types', (point) => point.attributes),
} as const satisfies Fields<MetricPoint>;

/** Fields of a log record for expressions. */
const LOG_FIELDS = {
  timestamp: time('', (log) => log.timestamp),
  observed_at: maybeTime('', (log) => log.observed_at),
  severity: word('', SEVERITIES, (log) => log.severity),
  severity_number: maybeCount('as sent', (log) => log.severity_number || null),
  severity_text: maybeText('as sent', (log) => log.severity_text || null),
  service_name: maybeText('', (log) => log.origin.serviceName || null),
  body: anything('a text, or any JSON value', (log) => log.body),
  trace_id: maybeText('UUID', (log) => log.trace_id),
  span_id: maybeText('UUID', (log) => log.span_id),
  event_name: maybeText('', (log) => log.event_name),
  attributes: maybeObject('', (log) => log.attributes),
} as const satisfies Fields<LogRecord>;

const data = maybeObject<EventRecord>(
  'as receivers get it',
  ({ body }) => (parseJson(body) as { readonly data?: JsonObject }).data,
);

/** Fields of an event for expressions. */
const EVENT_FIELDS = {
  id: text('UUID', (event) => event.id),
  type: word('', EVENT_TYPES, (event) => event.type),
  timestamp: time('', (event) => event.timestamp),
  organization_id: maybeText('UUID', (event) => event.organization_id),
  endpoint_id: maybeText('UUID of the only webhook endpoint to receive it', (event) => event.endpoint_id),
  data: { ...data, isDerived: true },
} as const satisfies Fields<EventRecord>;

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
