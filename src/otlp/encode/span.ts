import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { sentCall } from '../../signal/call-details.js';
import type { SpanRecord } from '../../signal/span.js';
import { SPAN_ATTRIBUTES } from '../map/conventions/jackdaw.js';
import { jsonToInt64, microsToNanos } from './int64.js';
import { ownAttributes } from './own-attributes.js';
import { numberOf, objectOf, textOf, toAnyValue, toKeyValues } from './value.js';
import { spanBytes, traceBytes } from '../wire/ids.js';
import { parseNanos } from '../wire/nano-time.js';
import type { MappedMetadata } from '../map/mapped-metadata.js';
import { RESERVED, SPAN_KINDS } from '../map/span-metadata-names.js';
import type { Int64, KeyValue, Span, SpanEvent, SpanLink } from '../wire/requests.js';

const RESERVED_NAMES: ReadonlySet<string> = new Set(RESERVED);
const STATUS_ERROR = 2;

/** The fields of a record that are read, without its `metadata`. */
export type KeptFields = Readonly<
  Pick<
    SpanRecord,
    'trace_id' | 'span_id' | 'name' | 'started_at' | 'ended_at' | 'cost_usd' | 'error_message'
  > &
    // Missing if only the received span is needed.
    Partial<Pick<SpanRecord, 'call'>>
>;

/** A span received by OTLP, rebuilt from the `metadata` that the mapping kept. */
export function encodeSpan(span: KeptFields, { metadata, otel }: MappedMetadata): Span {
  const [trace, id, parent] = [otel['trace_id'], otel['span_id'], otel['parent_span_id']].map(textOf);
  // One literal, so that all spans have one shape: missing fields are undefined.
  return {
    traceId: trace === undefined ? traceBytes(span.trace_id) : bytesOf(trace),
    spanId: id === undefined ? spanBytes(span.span_id) : bytesOf(id),
    parentSpanId: parent === undefined ? undefined : bytesOf(parent),
    traceState: textOf(otel['trace_state']),
    flags: numberOf(otel['flags']),
    name: textOf(otel['name']) ?? span.name,
    kind: kindOf(otel['kind']),
    startTimeUnixNano: startOf(span, metadata, otel),
    endTimeUnixNano: endOf(span, metadata, otel),
    attributes: attributesOf(span, metadata, otel),
    droppedAttributesCount: numberOf(otel['dropped_attributes_count']),
    events: listOf(metadata['events']).map(eventOf),
    droppedEventsCount: numberOf(otel['dropped_events_count']),
    links: listOf(metadata['links']).map(linkOf),
    droppedLinksCount: numberOf(otel['dropped_links_count']),
    status: statusOf(span, otel),
  };
}

function attributesOf(span: KeptFields, metadata: JsonObject, otel: JsonObject): KeyValue[] {
  const attributes: KeyValue[] = [];
  for (const key of Object.keys(metadata))
    if (!RESERVED_NAMES.has(key)) attributes.push({ key, value: toAnyValue(metadata[key]) });
  const displaced = objectOf(otel['attributes']);
  if (displaced !== undefined) attributes.push(...toKeyValues(displaced));
  const { cost_usd, call } = span;
  if (cost_usd !== null && call?.cost?.source === 'priced') {
    const table = { cost_usd: SPAN_ATTRIBUTES.cost_usd, call: SPAN_ATTRIBUTES.call };
    attributes.push(...ownAttributes({ cost_usd, call: sentCall(call) }, table));
  }
  return attributes;
}

function statusOf(span: KeptFields, otel: JsonObject): Span['status'] {
  const code = numberOf(otel['status_code']);
  const message = textOf(otel['status_message']) ?? (code === STATUS_ERROR ? span.error_message : null);
  return code === undefined && message === null ? undefined : { code, message: message || undefined };
}

function eventOf(event: JsonObject): SpanEvent {
  return {
    timeUnixNano: nanosOf(textOf(event['timestamp'])),
    name: textOf(event['name']),
    attributes: toKeyValues(objectOf(event['attributes']) ?? {}),
    droppedAttributesCount: numberOf(event['dropped_attributes_count']),
  };
}

function linkOf(link: JsonObject): SpanLink {
  return {
    traceId: bytesOf(textOf(link['trace_id']) ?? ''),
    spanId: bytesOf(textOf(link['span_id']) ?? ''),
    traceState: textOf(link['trace_state']),
    flags: numberOf(link['flags']),
    attributes: toKeyValues(objectOf(link['attributes']) ?? {}),
    droppedAttributesCount: numberOf(link['dropped_attributes_count']),
  };
}

/** The start as received. */
function startOf(span: KeptFields, metadata: JsonObject, otel: JsonObject): Int64 {
  const skewed = textOf(objectOf(metadata['clock_skew'])?.['started_at']);
  return nanosOf(skewed) ?? microsToNanos(span.started_at, numberOf(otel['start_nanos']));
}

/** The end as it was received, even if it was before the start. */
function endOf(span: KeptFields, metadata: JsonObject, otel: JsonObject): Int64 | undefined {
  const skewed = textOf(objectOf(metadata['clock_skew'])?.['ended_at']);
  if (skewed !== undefined) return nanosOf(skewed);
  return span.ended_at === null ? undefined : microsToNanos(span.ended_at, numberOf(otel['end_nanos']));
}

function nanosOf(time: string | undefined): Int64 | undefined {
  const nanos = time === undefined ? undefined : parseNanos(time);
  return nanos === undefined ? undefined : jsonToInt64(nanos.toString());
}

function kindOf(kind: JsonValue | undefined): number | undefined {
  if (typeof kind === 'number') return kind;
  const number = SPAN_KINDS.findIndex((name) => name !== '' && name === kind);
  return number < 0 ? undefined : number;
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf).filter((item) => item !== undefined) : [];
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}
