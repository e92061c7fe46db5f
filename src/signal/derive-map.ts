import { MapBuilder } from './map-builder.js';
import { AGENT_NODE, NO_NODE, type BatchMap } from './service-map.js';
import { AGENT, nodeName, nodeSource } from './service-node.js';
import type { SpanRecord } from './span.js';
import { hourOf, TYPE_CODES } from './trace-map.js';
import type { TraceRecord } from './trace.js';

/** The map of a batch, derived here and now. */
export function deriveBatch(items: readonly TraceRecord[]): BatchMap {
  const builder = new MapBuilder();
  for (const { trace, spans } of items) {
    builder.trace(
      builder.number(trace.agent.toWellFormed()),
      hourOf(trace.started_at),
      spans.map((span) => ({
        span_id: span.span_id,
        parent_span_id: span.parent_span_id,
        type: TYPE_CODES[span.type],
        node: nodeOf(span, builder),
      })),
    );
  }
  return { spanIds: spanIdsOf(items), ...builder.finish() };
}

/** Which spans a map is of. */
export function spanIdsOf(items: readonly TraceRecord[]): string[][] {
  return items.map(({ spans }) => spans.map(({ span_id }) => span_id));
}

function nodeOf(span: SpanRecord, builder: MapBuilder): number {
  const source = nodeSource(span);
  if (source === null) return NO_NODE;
  if (source === AGENT) return AGENT_NODE;
  const name = nodeName(source);
  return name === null ? NO_NODE : builder.number(name);
}
