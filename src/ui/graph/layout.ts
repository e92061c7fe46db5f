import { graphlib, layout } from '@dagrejs/dagre';

/** What is laid out: nodes, and what leads from one to another. */
export interface LinkedNodes {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

/** How large nodes are, how far apart, and whether edges lead to the right or down. */
export interface Shape {
  readonly direction: 'LR' | 'TB';
  readonly width: number;
  readonly height: number;
  /** Between nodes beside each other, */
  readonly gap: number;
  /** and along an edge. */
  readonly reach: number;
}

/** Of the map: callers left of the called. */
export const MAP_SHAPE: Shape = { direction: 'LR', width: 220, height: 54, gap: 20, reach: 80 };
/** Of pipelines, downwards, so that there is room for figures beside the edges. */
export const FLOW_SHAPE: Shape = { direction: 'TB', width: 176, height: 48, gap: 56, reach: 88 };
/** Nodes up to which ranks are the best ones: with 500 nodes that takes eight times as long as good ones. */
const MOST_EXACT = 60;
/** Between parts of the graph that nothing connects. */
const GAP = 40;

export interface Place {
  readonly x: number;
  readonly y: number;
}

interface Part {
  readonly width: number;
  readonly height: number;
  readonly places: ReadonlyMap<string, Place>;
}

/**
 * Where nodes lie, by their left upper corner, along the direction of the edges. The same graph always gives the same places.
 *
 * @param aspect how many times as wide as high the picture is to be
 */
export function placesOf(graph: LinkedNodes, aspect: number, shape: Shape): ReadonlyMap<string, Place> {
  const parts = componentsOf(graph).map((part) => laidOut(part, shape));
  const area = parts.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0);
  const widest = Math.max(0, ...parts.map(({ width }) => width));
  const tries = WIDTHS.map((times) => packed(parts, Math.max(widest, times * Math.sqrt(area * aspect))));
  // The one that is drawn largest where there is so much room.
  const sizeOf = ({ width, height }: Part): number => Math.max(width / aspect, height);
  return tries.reduce((best, next) => (sizeOf(next) < sizeOf(best) ? next : best)).places;
}

/** Of rows that are tried, compared with the side of a picture without any room between the parts. */
const WIDTHS = [1, 1.15, 1.3, 1.5, 1.8, 2.2, 3] as const;

/** Parts that nothing connects, the one with the most nodes first. The order in which the answer came does not matter. */
function componentsOf({ nodes, edges }: LinkedNodes): LinkedNodes[] {
  const roots = new Map(nodes.map(({ id }) => [id, id]));
  const rootOf = (id: string): string => {
    let root = id;
    for (let up = roots.get(root) ?? root; up !== root; up = roots.get(root) ?? root) root = up;
    roots.set(id, root);
    return root;
  };
  for (const { source, target } of edges) roots.set(rootOf(source), rootOf(target));
  const parts = new Map<
    string,
    { nodes: LinkedNodes['nodes'][number][]; edges: LinkedNodes['edges'][number][] }
  >();
  const partOf = (id: string) => {
    const part = parts.get(rootOf(id)) ?? { nodes: [], edges: [] };
    parts.set(rootOf(id), part);
    return part;
  };
  for (const node of nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1))) partOf(node.id).nodes.push(node);
  const endsOf = ({ source, target }: LinkedNodes['edges'][number]): string =>
    JSON.stringify([source, target]);
  for (const edge of edges.toSorted((a, b) => (endsOf(a) < endsOf(b) ? -1 : 1)))
    partOf(edge.source).edges.push(edge);
  return [...parts.values()].sort(
    (a, b) => b.nodes.length - a.nodes.length || ((a.nodes[0]?.id ?? '') < (b.nodes[0]?.id ?? '') ? -1 : 1),
  );
}

function laidOut({ nodes, edges }: LinkedNodes, shape: Shape): Part {
  const { direction, width: nodeWidth, height: nodeHeight, gap, reach } = shape;
  const graph = new graphlib.Graph();
  graph.setGraph({
    rankdir: direction,
    nodesep: gap,
    ranksep: reach,
    ranker: nodes.length > MOST_EXACT ? 'tight-tree' : 'network-simplex',
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width: nodeWidth, height: nodeHeight });
  for (const { source, target } of edges) graph.setEdge(source, target);
  layout(graph);
  const places = new Map(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { readonly x?: number; readonly y?: number };
      return [id, { x: x - nodeWidth / 2, y: y - nodeHeight / 2 }];
    }),
  );
  const { width = nodeWidth, height = nodeHeight } = graph.graph() as {
    readonly width?: number;
    readonly height?: number;
  };
  return { width, height, places };
}

/** Parts beside each other, in rows of a width. */
function packed(parts: readonly Part[], most: number): Part {
  const all = new Map<string, Place>();
  let [left, top, rowHeight, width] = [0, 0, 0, 0];
  for (const part of parts) {
    if (left > 0 && left + part.width > most) {
      top += rowHeight + GAP;
      [left, rowHeight] = [0, 0];
    }
    for (const [id, { x, y }] of part.places) all.set(id, { x: left + x, y: top + y });
    width = Math.max(width, left + part.width);
    left += part.width + GAP;
    rowHeight = Math.max(rowHeight, part.height);
  }
  return { width, height: top + rowHeight, places: all };
}
