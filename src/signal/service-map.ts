import type { TraceRecord } from './trace.js';

/** Replaces a position in {@link DerivedMap.names}: the span has no node. */
export const NO_NODE = -1;
/** Replaces a position: the node is that of the trace's agent, whatever its final name. */
export const AGENT_NODE = -2;

/** The contribution of a batch of traces to the service map, derived from the batch alone. */
export interface DerivedMap {
  /** The names of all nodes, each once. */
  readonly names: readonly string[];
  /** For each span, in the order of the traces: the position of its node's name, {@link NO_NODE} or {@link AGENT_NODE}. */
  readonly nodes: Int32Array<ArrayBuffer>;
  /**
   * For each span, including those without a node: the node that calls it, in the same form; {@link NO_NODE} if there is none.
   * Valid if these are all spans of their trace.
   */
  readonly callers: Int32Array<ArrayBuffer>;
}

/** The map of a batch, and the spans from which it is derived. */
export interface BatchMap {
  /** The ids of these spans by trace: the map is valid for a batch only while {@link fitsBatch}. */
  readonly spanIds: readonly (readonly string[])[];
  readonly derived: DerivedMap;
}

/** Whether a map is derived from exactly these spans: a processor after `service_map` may have dropped some. */
export function fitsBatch({ spanIds }: BatchMap, items: readonly TraceRecord[]): boolean {
  return (
    items.length === spanIds.length &&
    items.every(({ spans }, i) => {
      const ids = spanIds[i];
      return ids?.length === spans.length && spans.every((span, j) => span.span_id === ids[j]);
    })
  );
}
