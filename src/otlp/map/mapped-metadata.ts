import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../signal/attributes.js';
import type { SpanRecord } from '../../signal/span.js';
import { isObject } from './json-text.js';

/** Names that an exporter reads back from the mapping. */
const READ_BACK = ['scope', 'events', 'links', 'clock_skew'];

/** What the mapping kept of a span, as `span-metadata-names.ts` lays it out. */
export interface MappedMetadata {
  /** Without attributes of the span that stand where the mapping had nothing to say. */
  readonly metadata: JsonObject;
  readonly otel: JsonObject;
}

/** @returns undefined for spans not received by OTLP, also if their sender's `metadata` looks like it */
export function mappedMetadata({
  metadata,
  trace_id,
}: Pick<SpanRecord, 'metadata' | 'trace_id'>): MappedMetadata | undefined {
  const otel = metadata?.otel;
  if (!isObject(otel) || otel.trace_id !== trace_id.replaceAll('-', '')) return undefined;
  const displaced = otel.attributes;
  if (!isObject(displaced)) return { metadata: metadata ?? {}, otel };
  const isAttribute = (name: string): boolean =>
    READ_BACK.includes(name) && isDeepStrictEqual(metadata?.[name], displaced[name]);
  return {
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).filter(([name]) => !isAttribute(name))),
    otel,
  };
}
