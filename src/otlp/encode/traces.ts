import type { TracesBatch } from '../../signal/batch.js';
import type { JsonObject } from '../../signal/attributes.js';
import { sentOf, type SentOrigin, type SentSpan } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceHeader } from '../../signal/trace.js';
import { OriginGroups } from './origin.js';
import { headerAttributes } from './own-attributes.js';
import { encodeHeaderOnly, encodeOwnSpan } from './own-span.js';
import { encodeSent } from './sent-span.js';
import { encodeSpan } from './span.js';
import { objectOf } from './value.js';
import { mappedMetadata } from '../map/mapped-metadata.js';
import { readSentOrigin } from '../map/span-metadata.js';
import type { KeyValue, ResourceSpans, Span, TracesRequest } from '../wire/requests.js';

/** @param sent the received form of the span */
type TakesSpan = (span: SpanRecord, sent: SentSpan) => boolean;

/**
 * Runs as an OTLP request. Spans received by OTLP are sent unchanged; others, and declared headers, carry Jackdaw's own attributes
 * (`conventions/jackdaw.ts`), so that another Jackdaw reads the same run.
 *
 * @param takes whether another encoder sends a span that was received by OTLP: then it is left out
 */
export function encodeTraces(batch: TracesBatch, takes: TakesSpan = () => false): TracesRequest {
  const groups = new OriginGroups<Span>();
  const sent = new SentGroups();
  for (const { trace, spans } of batch.items) {
    const header = headerAttributes(trace);
    if (spans.length === 0 && !trace.follows_spans)
      groups.itemsOf(ownResource(trace), null).push(encodeHeaderOnly(trace, header));
    spans.forEach((span, index) => {
      // One span is enough to carry the header.
      const own = index === 0 ? header : [];
      const raw = sentOf(span);
      if (raw === undefined) add(groups, trace, span, own);
      else if (own.length > 0 || !takes(span, raw))
        sent.spansOf(raw.origin).push(withAttributes(encodeSent(span, raw), own));
    });
  }
  return {
    resourceSpans: [
      ...sent.groups(),
      ...groups.groups.map(({ resource, scopes }) => ({
        resource,
        scopeSpans: scopes.map(({ scope, items }) => ({ scope, spans: items })),
      })),
    ],
  };
}

/** Groups received spans by their resource and scope. */
class SentGroups {
  readonly #spans = new Map<string, Span[]>();
  readonly #keys = new Map<SentOrigin, string>();

  spansOf(origin: SentOrigin): Span[] {
    let key = this.#keys.get(origin);
    if (key === undefined) this.#keys.set(origin, (key = Buffer.from(origin.bytes).toString('latin1')));
    let spans = this.#spans.get(key);
    if (spans === undefined) this.#spans.set(key, (spans = []));
    return spans;
  }

  groups(): ResourceSpans[] {
    return [...this.#spans].map(([key, spans]) => {
      const origin = readSentOrigin(Buffer.from(key, 'latin1'));
      return { ...origin, scopeSpans: [{ ...origin.scopeSpans?.[0], spans }] };
    });
  }
}

function withAttributes(span: Span, more: readonly KeyValue[]): Span {
  return more.length === 0 ? span : { ...span, attributes: [...(span.attributes ?? []), ...more] };
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
  groups.itemsOf(resource, scope).push(withAttributes(encoded, header));
}

/** The resource attributes in the metadata of a header, and the one that other readers need: the name of the service. */
function ownResource({ agent, metadata }: TraceHeader): JsonObject {
  return { ...objectOf(metadata?.['resource']), 'service.name': agent };
}
