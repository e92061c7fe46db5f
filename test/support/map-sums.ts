import { deriveMap } from '../../src/signal/derive-map.js';
import { AGENT_NODE, NO_NODE } from '../../src/signal/service-map.js';
import type { TraceRecord } from '../../src/signal/trace.js';

/** The map nodes of traces and their edges (`caller > called`) with span counts. */
export function sumsOf(items: readonly TraceRecord[]): { nodes: Set<string>; edges: Map<string, number> } {
  const map = deriveMap(items);
  const agents = new Set<string>();
  const nodes = new Set<string>();
  const edges = new Map<string, number>();
  let row = 0;
  for (const { trace, spans } of items) {
    const nameOf = (node = NO_NODE): string => (node === AGENT_NODE ? trace.agent : (map.names[node] ?? ''));
    agents.add(trace.agent);
    for (const end = row + spans.length; row < end; row++) {
      if (map.nodes[row] === NO_NODE) continue;
      const [called, caller] = [nameOf(map.nodes[row]), nameOf(map.callers[row])];
      nodes.add(called);
      const edge = `${caller} > ${called}`;
      if (caller !== '' && caller !== called) edges.set(edge, (edges.get(edge) ?? 0) + 1);
    }
  }
  return { nodes: new Set([...agents, ...nodes]), edges };
}
