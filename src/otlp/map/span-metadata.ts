import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import { setOwn, toJsonObject } from './any-value.js';
import type { Shape } from './attribute-shapes.js';
import { hexOf } from '../wire/ids.js';
import { boundDepth } from './json-text.js';
import { RESERVED, SPAN_KINDS, type OtelNotes } from './span-metadata-names.js';
import type { SpanReading } from './span-reading.js';
import type { Span, SpanLink } from '../wire/requests.js';

const NO_BYTES = new Uint8Array(0);
/** The bit of each name, as {@link Shape.blank} takes them. */
const BITS = Object.fromEntries(RESERVED.map((name, bit) => [name, 1 << bit])) as Readonly<
  Record<(typeof RESERVED)[number], number>
>;

/** What the mapping of a span has found on the way, for its `metadata`. */
export interface SpanFacts {
  readonly hexTraceId: string;
  readonly hexSpanId: string;
  readonly hexParentId: string | null;
  /** The name and the error message that the record shows. */
  readonly name: string;
  readonly errorMessage: string | null;
  readonly startNanos: number;
  readonly endNanos: number;
  /** The end as it was sent, where it lay before the start. */
  readonly skewedEnd: string | undefined;
  readonly events: JsonObject[];
  readonly hasReportedCost: boolean;
}

/**
 * `metadata` as `span-metadata-names.ts` says.
 *
 * @param values of the attributes
 */
export function metadataOf(
  shape: Shape,
  values: readonly JsonValue[],
  span: Span,
  origin: Origin,
  reading: SpanReading,
  facts: SpanFacts,
): JsonObject {
  const links = span.links?.length ? span.links.map(linkOf) : null;
  const usage = usageOf(reading);
  const tags = reading.value('tags');
  const { session_id, user_id, provider } = BITS;
  let names = BITS.resource | BITS.otel;
  if (origin.scope !== null) names |= BITS.scope;
  if (facts.events.length > 0) names |= BITS.events;
  if (links !== null) names |= BITS.links;
  if (reading.has('session_id')) names |= session_id;
  if (reading.has('user_id')) names |= user_id;
  if (reading.has('provider')) names |= provider;
  if (tags !== null) names |= BITS.tags;
  if (usage !== null) names |= BITS.usage;
  if (facts.hasReportedCost) names |= BITS.cost_source;
  if (facts.skewedEnd !== undefined) names |= BITS.clock_skew;

  const metadata = shape.blank(names);
  const { keys, roles } = shape;
  for (let i = 0; i < keys.length; i++) {
    // The key is there already, so that `__proto__` is a key like others.
    if (roles[i]?.is !== 'own') metadata[keys[i] ?? ''] = values[i] ?? null;
  }
  const displaced = displacedAttributes(metadata, shape);
  metadata.resource = origin.resource;
  metadata.otel = otelNotes(span, facts, displaced);
  if (origin.scope !== null) metadata.scope = origin.scope;
  if (facts.events.length > 0) metadata.events = facts.events;
  if (links !== null) metadata.links = links;
  if ((names & session_id) !== 0) metadata.session_id = reading.value('session_id');
  if ((names & user_id) !== 0) metadata.user_id = reading.value('user_id');
  if ((names & provider) !== 0) metadata.provider = reading.value('provider');
  if (tags !== null) metadata.tags = tags;
  if (usage !== null) metadata.usage = usage;
  if (facts.hasReportedCost) metadata.cost_source = 'reported';
  if (facts.skewedEnd !== undefined) metadata.clock_skew = { ended_at: facts.skewedEnd };
  return metadata;
}

function displacedAttributes(metadata: JsonObject, { reserved }: Shape): JsonObject | undefined {
  if (reserved.length === 0) return undefined;
  return Object.fromEntries(reserved.map((name) => [name, metadata[name] ?? null]));
}

function usageOf(reading: SpanReading): JsonObject | null {
  const cacheRead = reading.count('cache_read');
  const cacheCreation = reading.count('cache_creation');
  const reasoning = reading.count('reasoning');
  if (cacheRead === null && cacheCreation === null && reasoning === null) return null;
  const usage: JsonObject = {};
  if (cacheRead !== null) usage.cache_read = cacheRead;
  if (cacheCreation !== null) usage.cache_creation = cacheCreation;
  if (reasoning !== null) usage.reasoning = reasoning;
  return usage;
}

type Notes = { -readonly [Name in keyof OtelNotes]: JsonValue };

function otelNotes(span: Span, facts: SpanFacts, displaced: JsonObject | undefined): JsonObject {
  const notes: Notes = { trace_id: facts.hexTraceId, span_id: facts.hexSpanId };
  if (facts.hexParentId !== null) notes.parent_span_id = facts.hexParentId;
  if (span.kind) notes.kind = SPAN_KINDS[span.kind] ?? span.kind;
  if (span.traceState) notes.trace_state = span.traceState.toWellFormed();
  if (span.flags) notes.flags = span.flags;
  const name = (span.name ?? '').toWellFormed();
  if (name !== facts.name) notes.name = name;
  const code = span.status?.code;
  const message = span.status?.message?.toWellFormed() ?? '';
  if (code) notes.status_code = code;
  if (message !== (facts.errorMessage ?? '')) notes.status_message = message;
  if (facts.startNanos > 0) notes.start_nanos = facts.startNanos;
  if (facts.endNanos > 0) notes.end_nanos = facts.endNanos;
  if (span.droppedAttributesCount) notes.dropped_attributes_count = span.droppedAttributesCount;
  if (span.droppedEventsCount) notes.dropped_events_count = span.droppedEventsCount;
  if (span.droppedLinksCount) notes.dropped_links_count = span.droppedLinksCount;
  if (displaced !== undefined) notes.attributes = displaced;
  return notes;
}

function linkOf(link: SpanLink): JsonObject {
  const kept: JsonObject = {
    trace_id: hexOf(link.traceId ?? NO_BYTES),
    span_id: hexOf(link.spanId ?? NO_BYTES),
  };
  if (link.traceState) kept.trace_state = link.traceState.toWellFormed();
  if (link.flags) kept.flags = link.flags;
  if (link.attributes?.length) {
    const attributes = toJsonObject(link.attributes);
    for (const [key, value] of Object.entries(attributes)) setOwn(attributes, key, boundDepth(value));
    kept.attributes = attributes;
  }
  if (link.droppedAttributesCount) kept.dropped_attributes_count = link.droppedAttributesCount;
  return kept;
}
