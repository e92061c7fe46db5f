import type { JsonObject } from '../../signal/attributes.js';
import { isUnseen, originOfSent, sentOf } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';
import { isObject } from './json-text.js';
import { mappedMetadata } from './mapped-metadata.js';
import { readOrigin, sentAttributes, sentKind } from './span-metadata.js';
import { RESERVED, SPAN_KINDS } from './span-metadata-names.js';

const NONE: JsonObject = Object.freeze({});

/** The resource attributes of a span; none if it was not received by OTLP. Do not change them. */
export function resourceOf(span: SpanRecord): JsonObject {
  const sent = originOfSent(span);
  if (sent !== undefined) return readOrigin(sent).resource;
  return resourceInMetadata(span);
}

/** The same, from `metadata` alone. */
export function resourceInMetadata(span: Pick<SpanRecord, 'metadata' | 'trace_id'>): JsonObject {
  const resource = mappedMetadata(span)?.metadata.resource;
  return isObject(resource) ? resource : NONE;
}

const UNSPECIFIED = 'unspecified';

/** The possible results of {@link otlpKindOf}. */
export const KIND_WORDS = [...SPAN_KINDS.slice(1), UNSPECIFIED] as readonly string[];

/** The OTLP kind of a span; `unspecified` if it has none or was not received by OTLP. */
export function otlpKindOf(span: SpanRecord): string {
  const sent = isUnseen(span) ? sentOf(span) : undefined;
  const kind = sent === undefined ? mappedMetadata(span)?.otel.kind : SPAN_KINDS[sentKind(sent.bytes)];
  return typeof kind === 'string' && kind !== '' ? kind : UNSPECIFIED;
}

/** The attributes of a span as sent, by key, or the metadata of a span that was not received by OTLP. Do not change them. */
export function attributesOf(span: SpanRecord): JsonObject {
  const sent = isUnseen(span) ? sentOf(span) : undefined;
  if (sent !== undefined) return sentAttributes(sent.bytes);
  return attributesInMetadata(span);
}

/** The same, from `metadata` alone. */
export function attributesInMetadata(span: Pick<SpanRecord, 'metadata' | 'trace_id'>): JsonObject {
  const mapped = mappedMetadata(span);
  if (mapped === undefined) return span.metadata ?? NONE;
  const attributes = { ...mapped.metadata };
  for (const name of RESERVED) Reflect.deleteProperty(attributes, name);
  return isObject(mapped.otel.attributes) ? { ...attributes, ...mapped.otel.attributes } : attributes;
}
