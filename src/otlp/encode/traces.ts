import type { TracesBatch } from '../../signal/batch.js';
import type { JsonObject } from '../../signal/attributes.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceHeader } from '../../signal/trace.js';
import { OriginGroups } from './origin.js';
import { headerAttributes } from './own-attributes.js';
import { encodeHeaderOnly, encodeOwnSpan } from './own-span.js';
import { encodeSpan } from './span.js';
import { objectOf } from './value.js';
import { mappedMetadata } from '../map/mapped-metadata.js';
import type { KeyValue, Span, TracesRequest } from '../wire/requests.js';

/**
 * Runs as an OTLP request. Spans that came by OTLP are what they were; others, and headers that somebody declared, carry
 * Jackdaw's own attributes (`conventions/jackdaw.ts`), so that another Jackdaw reads the same run.
 */
export function encodeTraces(batch: TracesBatch): TracesRequest {
  const groups = new OriginGroups<Span>();
  for (const { trace, spans } of batch.items) {
    const header = headerAttributes(trace);
    if (spans.length === 0 && header.length > 0)
      groups.itemsOf(ownResource(trace), null).push(encodeHeaderOnly(trace, header));
    spans.forEach((span, index) => {
      // The header goes with the first span: one of them is enough.
      add(groups, trace, span, index === 0 ? header : []);
    });
  }
  return {
    resourceSpans: groups.groups.map(({ resource, scopes }) => ({
      resource,
      scopeSpans: scopes.map(({ scope, items }) => ({ scope, spans: items })),
    })),
  };
}

function add(
  groups: OriginGroups<Span>,
  trace: TraceHeader,
  span: SpanRecord,
  header: readonly KeyValue[],
): void {
  const mapped = mappedMetadata(span);
  const encoded = mapped ? encodeSpan(span, mapped) : encodeOwnSpan(span, trace);
  const [resource, scope] = mapped
    ? [objectOf(mapped.metadata['resource']) ?? {}, objectOf(mapped.metadata['scope']) ?? null]
    : [ownResource(trace), null];
  const attributes = [...(encoded.attributes ?? []), ...header];
  groups.itemsOf(resource, scope).push(header.length > 0 ? { ...encoded, attributes } : encoded);
}

/** What other readers want to know of everything: what service it is from. */
function ownResource({ agent }: TraceHeader): JsonObject {
  return { 'service.name': agent };
}
