import type { TraceRecord } from './trace.js';

/** In place of a position in {@link DerivedMap.names}: the span has no node. */
export const NO_NODE = -1;
/** Instead of a position: the node of the trace's agent, whose name may not be known yet. */
export const AGENT_NODE = -2;

/** What a batch of traces contributes to the service map, derived from the batch alone. */
export interface DerivedMap {
  /** The names of all nodes, each once. */
  readonly names: readonly string[];
  /** For each span, in the order of the traces: the position of its node's name, {@link NO_NODE} or {@link AGENT_NODE}. */
  readonly nodes: Int32Array<ArrayBuffer>;
  /**
   * In the same way the node that calls it, {@link NO_NODE} if none does. Valid for a trace of which these are all spans. Said of every
   * span, not only of those with a node.
   */
  readonly callers: Int32Array<ArrayBuffer>;
}

/** The map of a batch, and the spans from which it is derived. */
export interface BatchMap {
  /** The ids of these spans, trace by trace: the map holds for a batch only while {@link fitsBatch}. */
  readonly spanIds: readonly (readonly string[])[];
  /**
   * The map; a promise while a thread derives it. Where that fails with a `ConsumeError`, so does the batch: nothing of it may be
   * stored.
   */
  readonly derived: DerivedMap | Promise<DerivedMap>;
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
