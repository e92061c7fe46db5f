import type { DerivedMap } from '../../src/signal/service-map.js';

/** The nodes of a map, and its edges (`caller > called`) with how many spans: over all hours. */
export function sumsOf({ names, nodeSums, edgeSums }: DerivedMap): {
  nodes: Set<string>;
  edges: Map<string, number>;
} {
  const nameOf = (number: number | undefined): string => names[number ?? -1] ?? '';
  const nodes = new Set<string>();
  const edges = new Map<string, number>();
  for (let i = 0; i < nodeSums.length; i += 6) nodes.add(nameOf(nodeSums[i + 1]));
  for (let i = 0; i < edgeSums.length; i += 5) {
    const edge = `${nameOf(edgeSums[i + 1])} > ${nameOf(edgeSums[i + 2])}`;
    edges.set(edge, (edges.get(edge) ?? 0) + (edgeSums[i + 3] ?? 0));
  }
  return { nodes, edges };
}
