import { graphlib, layout } from '@dagrejs/dagre';

/** A graph to lay out. */
export interface LinkedNodes {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

/** Node size, distances and direction of a layout. */
export interface Shape {
  readonly direction: 'LR' | 'TB';
  readonly width: number;
  readonly height: number;
  /** Between neighbouring nodes. */
  readonly gap: number;
  /** Between ranks, along an edge. */
  readonly reach: number;
}

/** Service map: callers to the left. */
export const MAP_SHAPE: Shape = { direction: 'LR', width: 220, height: 54, gap: 20, reach: 80 };
/** Pipelines: top to bottom, with room for labels next to the edges. */
export const FLOW_SHAPE: Shape = { direction: 'TB', width: 176, height: 48, gap: 56, reach: 88 };
/** Node limit for exact ranking, which takes eight times as long at 500 nodes. */
const MAX_EXACT = 60;
/** Between disconnected parts of the graph. */
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
 * Node positions (top left corners) along the direction of the edges. Deterministic.
 *
 * @param aspect desired width divided by height
 */
export function placesOf(graph: LinkedNodes, aspect: number, shape: Shape): ReadonlyMap<string, Place> {
  const parts = componentsOf(graph).map((part) => laidOut(part, shape));
  const area = parts.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0);
  const widest = Math.max(0, ...parts.map(({ width }) => width));
  const tries = WIDTHS.map((times) => packed(parts, Math.max(widest, times * Math.sqrt(area * aspect))));
  // The arrangement that is drawn largest in this aspect ratio.
  const sizeOf = ({ width, height }: Part): number => Math.max(width / aspect, height);
  return tries.reduce((best, next) => (sizeOf(next) < sizeOf(best) ? next : best)).places;
}

/** Row widths to try, relative to a perfectly packed square. */
const WIDTHS = [1, 1.15, 1.3, 1.5, 1.8, 2.2, 3] as const;

/** Connected components, the largest first, independent of the order of the input. */
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
    ranker: nodes.length > MAX_EXACT ? 'tight-tree' : 'network-simplex',
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

/** Packs components in rows of a given width. */
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
