import { MapBuilder } from './map-builder.js';
import { parentPositions } from './parent-positions.js';
import type { TracesBatch } from './batch.js';
import { AGENT_NODE, fitsBatch, NO_NODE, type BatchMap, type DerivedMap } from './service-map.js';
import { AGENT, nodeName, nodeSource } from './service-node.js';
import type { SpanRecord } from './span.js';
import { TYPE_CODES } from './trace-map.js';
import type { TraceRecord } from './trace.js';

/** Derives the map of a batch. */
export function deriveBatch(items: readonly TraceRecord[]): BatchMap {
  return { spanIds: spanIdsOf(items), derived: deriveMap(items) };
}

/**
 * The map of a batch: the derived one, or a new one if processors have changed its spans since. Call it before the first `await`,
 * because the batch may change afterwards. Undefined if no map is requested.
 */
export function mapOf({
  items,
  service_map: map,
}: Pick<TracesBatch, 'items' | 'service_map'>): DerivedMap | undefined {
  return map === undefined || fitsBatch(map, items) ? map?.derived : deriveMap(items);
}

export function deriveMap(items: readonly TraceRecord[]): DerivedMap {
  const builder = new MapBuilder();
  for (const { spans } of items)
    builder.trace({
      types: spans.map(({ type }) => TYPE_CODES[type]),
      nodes: spans.map((span) => nodeOf(span, builder)),
      parents: parentPositions(spans),
    });
  return builder.finish();
}

/** The ids of the spans that a map is derived from. */
function spanIdsOf(items: readonly TraceRecord[]): string[][] {
  return items.map(({ spans }) => spans.map(({ span_id }) => span_id));
}

function nodeOf(span: SpanRecord, builder: MapBuilder): number {
  const source = nodeSource(span);
  if (source === null) return NO_NODE;
  if (source === AGENT) return AGENT_NODE;
  const name = nodeName(source);
  return name === null ? NO_NODE : builder.number(name);
}
