import { MapBuilder } from './map-builder.js';
import { parentPositions } from './parent-positions.js';
import { AGENT_NODE, NO_NODE, type BatchMap } from './service-map.js';
import { AGENT, nodeName, nodeSource } from './service-node.js';
import type { SpanRecord } from './span.js';
import { TYPE_CODES } from './trace-map.js';
import type { TraceRecord } from './trace.js';

/** Derives the map of a batch here, in this thread. */
export function deriveBatch(items: readonly TraceRecord[]): BatchMap {
  const builder = new MapBuilder();
  for (const { spans } of items)
    builder.trace({
      types: spans.map(({ type }) => TYPE_CODES[type]),
      nodes: spans.map((span) => nodeOf(span, builder)),
      parents: parentPositions(spans),
    });
  return { spanIds: spanIdsOf(items), ...builder.finish() };
}

/** The ids of the spans that a map is derived from. */
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
