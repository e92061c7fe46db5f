import type { TraceRecord } from './trace.js';

/** In place of a position in {@link DerivedMap.names}: the span makes no node. */
export const NO_NODE = -1;
/** In place of a position: the node is that of the trace's agent, whatever its name turns out to be. */
export const AGENT_NODE = -2;

/** What a batch of traces adds to the service map, as derived from the batch alone. */
export interface DerivedMap {
  /** The names of all nodes, each once. */
  readonly names: readonly string[];
  /** Of each span, in the order of the traces: the position of its node's name, {@link NO_NODE} or {@link AGENT_NODE}. */
  readonly nodes: Int32Array<ArrayBuffer>;
  /**
   * The sums over the batch, if everything in it is new and the whole of its traces: five numbers a line, hour (of the
   * trace's start, in hours since 1970), name, span type (a position in `SPAN_TYPES`), spans, and traces of which it is
   * the agent.
   */
  readonly nodeSums: Int32Array<ArrayBuffer>;
  /** Likewise four numbers a line: hour, source name, target name, spans. */
  readonly edgeSums: Int32Array<ArrayBuffer>;
}

/** The map of a batch, with what it is of. */
export interface BatchMap extends DerivedMap {
  /** Of the spans it was derived from, trace by trace: it holds for a batch only while {@link fitsBatch}. */
  readonly spanIds: readonly (readonly string[])[];
}

/** Whether a map was derived from just these spans: a processor behind `service_map` may have dropped some. */
export function fitsBatch({ spanIds }: BatchMap, items: readonly TraceRecord[]): boolean {
  return (
    items.length === spanIds.length &&
    items.every(({ spans }, i) => {
      const ids = spanIds[i];
      return ids?.length === spans.length && spans.every((span, j) => span.span_id === ids[j]);
    })
  );
}
