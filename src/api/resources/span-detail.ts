import { Type } from 'typebox';
import { plain } from '../../otlp/encode/json.js';
import { shownSpan } from '../../otlp/encode/sent-span.js';
import { SPAN_KINDS } from '../../otlp/map/span-metadata-names.js';
import { isOwnParent } from '../../otlp/map/span-metadata.js';
import { hexOf } from '../../otlp/wire/ids.js';
import { int64ToBigInt } from '../../otlp/wire/int64.js';
import { formatNanos } from '../../otlp/wire/nano-time.js';
import type {
  Int64,
  KeyValue,
  Resource,
  Scope,
  Span,
  SpanEvent,
  SpanLink,
} from '../../otlp/wire/requests.js';
import type { JsonObject } from '../../signal/attributes.js';
import type { StoredSpan } from '../../storage/contracts/runs.js';
import { count, jsonObject, nullable } from '../support/fields.js';
import { serializeUsage, usageFields } from './span-usage.js';
import { serializeSpan } from './trace-body.js';

/** A list of attributes, in the order they were sent. */
const keyValues = () =>
  Type.Array(
    Type.Object(
      {
        key: Type.String(),
        value: Type.Unsafe<JsonObject>({
          type: 'object',
          description:
            'OTLP/JSON: one of `stringValue`, `intValue` (a text of digits), `doubleValue` (a number, or `NaN`, `Infinity`, `-Infinity`), `boolValue`, `arrayValue` (`{values}`), `kvlistValue` (`{values}` of key and value), `bytesValue` (base64); empty for a value that is not set.',
        }),
      },
      { title: 'Attribute' },
    ),
  );

const nanoTime = (description: string) => nullable(Type.String({ format: 'date-time', description }));

/** Fields sent with a span; for spans of the batch route, all but `metadata` are null. */
const sentSchema = {
  sent_name: nullable(Type.String({ description: 'Name as sent.' })),
  kind: nullable(
    Type.Union([Type.String(), Type.Integer()], {
      description: '`internal`, `server`, `client`, `producer`, `consumer`, or the number sent.',
    }),
  ),
  trace_state: nullable(Type.String()),
  flags: nullable(count()),
  status_code: nullable(Type.Integer({ description: 'As sent: 0 unset, 1 ok, 2 error.' })),
  status_message: nullable(Type.String({ description: 'As sent; null if not sent.' })),
  sent_start: nanoTime('Start with nanoseconds as sent.'),
  sent_end: nanoTime('End with nanoseconds as sent, even if it was replaced.'),
  attributes: nullable(keyValues()),
  dropped_attributes_count: nullable(count()),
  events: nullable(
    Type.Array(
      Type.Object(
        {
          name: Type.String(),
          timestamp: nanoTime('With nanoseconds.'),
          attributes: keyValues(),
          dropped_attributes_count: count(),
        },
        { title: 'SpanEvent' },
      ),
    ),
  ),
  dropped_events_count: nullable(count()),
  links: nullable(
    Type.Array(
      Type.Object(
        {
          trace_id: Type.String({ description: '32 hexadecimal digits.' }),
          span_id: Type.String({ description: '16 hexadecimal digits.' }),
          trace_state: nullable(Type.String()),
          flags: count(),
          attributes: keyValues(),
          dropped_attributes_count: count(),
        },
        { title: 'SpanLink' },
      ),
    ),
  ),
  dropped_links_count: nullable(count()),
  scope: nullable(
    Type.Object(
      { name: nullable(Type.String()), version: nullable(Type.String()), attributes: keyValues() },
      { title: 'SentScope' },
    ),
  ),
  resource: nullable(Type.Object({ attributes: keyValues() }, { title: 'SentResource' })),
  metadata: nullable(
    jsonObject(
      'Metadata of a span of the batch route, as sent. Of a span received by OTLP, what was corrected: `clock_skew` has the times as sent that were replaced, `self_parent` is true for a span that was sent as its own parent; null without corrections.',
    ),
  ),
};

/** All fields of a span's detail view. */
export const detailFields = { ...usageFields, ...sentSchema };

/** Serializes a span with all its details. */
export function serializeDetailedSpan(span: StoredSpan) {
  return {
    ...serializeSpan(span),
    ...serializeUsage({ ...span, call: span.details?.call ?? null }),
    ...detailsOf(span),
  };
}

function detailsOf(span: StoredSpan) {
  const metadata = span.details?.metadata ?? null;
  const sent = shownSpan(span, metadata, span.details?.sent ?? null);
  if (sent === undefined) return { ...NOTHING, metadata };
  return { ...sentFields(sent.span), ...originFields(sent), metadata: correctionsOf(metadata, sent.span) };
}

function correctionsOf(metadata: JsonObject | null, sent: Span): JsonObject | null {
  const skew = metadata?.['clock_skew'];
  const found = { ...(skew && { clock_skew: skew }), ...(isOwnParent(sent) && { self_parent: true }) };
  return Object.keys(found).length === 0 ? null : found;
}

/** Values of fields that spans of the batch route do not have. */
const NOTHING = Object.fromEntries(Object.keys(sentSchema).map((name) => [name, null]));

function sentFields(span: Span) {
  return {
    sent_name: span.name ?? '',
    kind: kindOf(span.kind ?? 0),
    trace_state: span.traceState || null,
    flags: span.flags ?? 0,
    status_code: span.status?.code ?? 0,
    status_message: span.status?.message || null,
    sent_start: timeOf(span.startTimeUnixNano),
    sent_end: timeOf(span.endTimeUnixNano),
    attributes: attributesOf(span.attributes),
    dropped_attributes_count: span.droppedAttributesCount ?? 0,
    events: (span.events ?? []).map(eventOf),
    dropped_events_count: span.droppedEventsCount ?? 0,
    links: (span.links ?? []).map(linkOf),
    dropped_links_count: span.droppedLinksCount ?? 0,
  };
}

function originFields({ resource, scope }: { readonly resource: Resource; readonly scope: Scope }) {
  const { name, version, attributes } = scope;
  const hasScope = Boolean(name) || Boolean(version) || (attributes?.length ?? 0) > 0;
  return {
    scope: hasScope
      ? { name: name || null, version: version || null, attributes: attributesOf(attributes) }
      : null,
    resource: { attributes: attributesOf(resource.attributes) },
  };
}

function kindOf(kind: number): string | number | null {
  return kind === 0 ? null : (SPAN_KINDS[kind] ?? kind);
}

function eventOf(event: SpanEvent) {
  return {
    name: event.name ?? '',
    timestamp: timeOf(event.timeUnixNano),
    attributes: attributesOf(event.attributes),
    dropped_attributes_count: event.droppedAttributesCount ?? 0,
  };
}

function linkOf(link: SpanLink) {
  return {
    trace_id: hexOf(link.traceId ?? NO_BYTES),
    span_id: hexOf(link.spanId ?? NO_BYTES),
    trace_state: link.traceState || null,
    flags: link.flags ?? 0,
    attributes: attributesOf(link.attributes),
    dropped_attributes_count: link.droppedAttributesCount ?? 0,
  };
}

const NO_BYTES = new Uint8Array(0);

function attributesOf(attributes: readonly KeyValue[] | null | undefined) {
  return (attributes ?? []).map(({ key, value }) => ({ key: key ?? '', value: plain(value ?? {}) }));
}

/** Times that cannot be formatted are returned as nanoseconds. */
function timeOf(nanos: Int64 | null | undefined): string | null {
  if (nanos === null || nanos === undefined) return null;
  const exact = int64ToBigInt(nanos);
  return exact === 0n ? null : (formatNanos(nanos) ?? exact.toString());
}
