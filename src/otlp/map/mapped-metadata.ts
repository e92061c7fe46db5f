import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../signal/attributes.js';
import type { SpanRecord } from '../../signal/span.js';
import { isObject } from './json-text.js';

/** Names that an exporter reads back from the mapping. */
const READ_BACK = ['scope', 'events', 'links', 'clock_skew'];

/** Parts of a received span that the mapping kept, in the layout of `span-metadata-names.ts`. */
export interface MappedMetadata {
  /** Without span attributes under reserved names that the mapping did not fill. */
  readonly metadata: JsonObject;
  readonly otel: JsonObject;
}

/** @returns undefined for spans that were not received by OTLP, regardless of the `metadata` that their sender gave them */
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
