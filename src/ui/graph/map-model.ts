/** The service map: which part is shown, and what changed between two maps. Pure. */

interface Figures {
  /** Null if counted by a version without error counts. */
  readonly error_count: number | null;
  readonly p95_ms: number | null;
}

export interface GraphNode extends Figures {
  readonly id: string;
  readonly span_type: string;
  readonly node_type: string;
  readonly span_count: number;
}

export interface GraphEdge extends Figures {
  readonly source: string;
  readonly target: string;
  readonly weight: number;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Larger graphs are unreadable. */
export const MAX_NODES = 200;

/** Failure rate from 0 to 1; null if unknown or nothing was counted. */
export function failedShare(errors: number | null, count: number): number | null {
  return errors === null || count === 0 ? null : errors / count;
}

/** Some of the nodes and the edges between them. */
function within({ nodes, edges }: Graph, ids: ReadonlySet<string>): Graph {
  return {
    nodes: nodes.filter(({ id }) => ids.has(id)),
    edges: edges.filter(({ source, target }) => ids.has(source) && ids.has(target)),
  };
}

/** Nodes within some hops of a node in either direction; empty if the node does not exist. */
export function around(graph: Graph, center: string, hops: number): Graph {
  const neighbours = new Map<string, string[]>();
  for (const { source, target } of graph.edges) {
    neighbours.set(source, [...(neighbours.get(source) ?? []), target]);
    neighbours.set(target, [...(neighbours.get(target) ?? []), source]);
  }
  const found = new Set([center]);
  let last = [center];
  for (let hop = 0; hop < hops; hop++) {
    last = [...new Set(last.flatMap((id) => neighbours.get(id) ?? []))].filter((id) => !found.has(id));
    for (const id of last) found.add(id);
  }
  return within(graph, found);
}

/** Nodes whose name contains a text, and their neighbours. */
export function matching(graph: Graph, text: string): Graph {
  const needle = text.trim().toLowerCase();
  if (needle === '') return graph;
  const found = new Set(graph.nodes.flatMap(({ id }) => (id.toLowerCase().includes(needle) ? [id] : [])));
  const neighbours = graph.edges.flatMap(({ source, target }) =>
    found.has(source) || found.has(target) ? [source, target] : [],
  );
  return within(graph, new Set([...found, ...neighbours]));
}

/** The nodes with the most spans and calls. @param kept a node that always stays */
export function busiest(graph: Graph, most = MAX_NODES, kept = ''): Graph {
  if (graph.nodes.length <= most) return graph;
  const calls = new Map<string, number>();
  for (const { source, weight } of graph.edges) calls.set(source, (calls.get(source) ?? 0) + weight);
  const weightOf = ({ id, span_count }: GraphNode): number =>
    id === kept ? Infinity : Math.max(span_count, calls.get(id) ?? 0);
  const order = graph.nodes.toSorted((a, b) => weightOf(b) - weightOf(a) || (a.id < b.id ? -1 : 1));
  return within(graph, new Set(order.slice(0, most).map(({ id }) => id)));
}

/** A difference between two maps; for nodes, source is absent. */
export interface MapChange {
  readonly kind: 'failing' | 'slower' | 'new' | 'gone';
  readonly source: string | null;
  readonly target: string;
  readonly now: ChangeFigures | null;
  readonly before: ChangeFigures | null;
}

interface ChangeFigures extends Figures {
  readonly count: number;
}

/** Fewer calls are not significant. */
export const MIN_CALLS = 20;
/** Minimum rise of the failure rate. */
const MORE_FAILURES = 0.03;
/** Minimum factor of the p95, which is accurate to 10%. */
const SLOWER = 1.25;
const KINDS = ['failing', 'slower', 'new', 'gone'] as const;

/** New, removed, slower and more failing edges and nodes, the worst first. */
export function changesOf(now: Graph, before: Graph): readonly MapChange[] {
  const changes = [...compared(edgesOf(now), edgesOf(before)), ...compared(nodesOf(now), nodesOf(before))];
  return changes.toSorted(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      sizeOf(b) - sizeOf(a) ||
      (keyOf(a.source, a.target) < keyOf(b.source, b.target) ? -1 : 1),
  );
}

interface Compared {
  readonly source: string | null;
  readonly target: string;
  readonly figures: ChangeFigures;
}

function keyOf(source: string | null, target: string): string {
  return JSON.stringify([source, target]);
}

function edgesOf({ edges }: Graph): Map<string, Compared> {
  return new Map(
    edges.map(({ source, target, weight: count, error_count, p95_ms }) => [
      keyOf(source, target),
      { source, target, figures: { count, error_count, p95_ms } },
    ]),
  );
}

/** Nodes are only compared by presence; their edges have the rates. */
function nodesOf({ nodes }: Graph): Map<string, Compared> {
  return new Map(
    nodes.map(({ id, span_count: count }) => [
      keyOf(null, id),
      { source: null, target: id, figures: { count, error_count: null, p95_ms: null } },
    ]),
  );
}

function compared(now: ReadonlyMap<string, Compared>, before: ReadonlyMap<string, Compared>): MapChange[] {
  const changes: MapChange[] = [];
  for (const [key, { source, target, figures }] of now) {
    const earlier = before.get(key)?.figures ?? null;
    const change = { source, target, now: figures, before: earlier };
    if (earlier === null) changes.push({ kind: 'new', ...change });
    else if (Math.min(figures.count, earlier.count) >= MIN_CALLS) {
      if (moreFailures(figures, earlier) >= MORE_FAILURES) changes.push({ kind: 'failing', ...change });
      if (timesAsSlow(figures, earlier) >= SLOWER) changes.push({ kind: 'slower', ...change });
    }
  }
  for (const [key, { source, target, figures }] of before)
    if (!now.has(key)) changes.push({ kind: 'gone', source, target, now: null, before: figures });
  return changes;
}

function moreFailures(now: ChangeFigures, before: ChangeFigures): number {
  const shares = [now, before].map(({ error_count, count }) => failedShare(error_count, count));
  const [share = null, earlier = null] = shares;
  return share === null || earlier === null ? 0 : share - earlier;
}

function timesAsSlow(now: ChangeFigures, before: ChangeFigures): number {
  return now.p95_ms === null || before.p95_ms === null || before.p95_ms === 0
    ? 0
    : now.p95_ms / before.p95_ms;
}

function sizeOf({ kind, now, before }: MapChange): number {
  if (now !== null && before !== null)
    return kind === 'failing' ? moreFailures(now, before) : timesAsSlow(now, before);
  return (now ?? before)?.count ?? 0;
}
