/** Flow through the pipelines: rates per edge and the part of the graph to show. Pure. */

interface FlowEnd {
  readonly kind: 'receiver' | 'processor' | 'exporter';
  readonly id: string;
}

interface Queue {
  readonly items: number;
  readonly max_items: number | null;
  readonly bytes: number;
  readonly max_bytes: number;
}

export interface FlowEdge {
  readonly pipeline: string;
  readonly from: FlowEnd;
  readonly to: FlowEnd;
  /** Items since start. */
  readonly offered: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly p99_ms: number | null;
  readonly queue: Queue | null;
}

/** The state of the daemon at one time. */
export interface Snapshot {
  readonly started_at: string;
  readonly at: string;
  readonly edges: readonly FlowEdge[];
}

/** Items per second. */
export interface Rates {
  readonly offered: number;
  readonly refused: number;
  readonly failed: number;
}

/** A component in the graph. Receivers and exporters appear once, even if several pipelines share them. */
export interface FlowNode extends FlowEnd {
  readonly key: string;
  /** Set for processors, which belong to one pipeline. */
  readonly pipeline: string | null;
}

/** Averaging window: shorter windows fluctuate, longer ones lag. */
const WINDOW_MS = 10_000;

export function edgeKey({ pipeline, from, to }: FlowEdge): string {
  return JSON.stringify([pipeline, from.kind, from.id, to.kind, to.id]);
}

export function nodeKey({ kind, id }: FlowEnd, pipeline: string): string {
  return JSON.stringify(kind === 'processor' ? [kind, id, pipeline] : [kind, id]);
}

/**
 * The snapshots needed for rates, the newest last. A restarted daemon starts a new list.
 *
 * @returns the same list if nothing changed
 */
export function remembered(before: readonly Snapshot[], next: Snapshot): readonly Snapshot[] {
  const last = before.at(-1);
  if (last === undefined || last.started_at !== next.started_at) return [next];
  const at = Date.parse(next.at);
  // A response may be older than a streamed event.
  if (at <= Date.parse(last.at)) return before;
  const young = before.filter((one) => at - Date.parse(one.at) <= WINDOW_MS);
  return [...(young.length > 0 ? young : [last]), next];
}

/** Rates by edge; null until two snapshots exist. */
export function ratesOf(history: readonly Snapshot[]): ReadonlyMap<string, Rates> | null {
  const [first] = history;
  const last = history.at(-1);
  if (first === undefined || last === undefined || first === last) return null;
  const seconds = (Date.parse(last.at) - Date.parse(first.at)) / 1000;
  const earlier = new Map(first.edges.map((edge) => [edgeKey(edge), edge]));
  return new Map(
    last.edges.map((edge) => {
      const before = earlier.get(edgeKey(edge));
      const rate = (name: 'offered' | 'refused' | 'failed'): number =>
        Math.max(0, edge[name] - (before?.[name] ?? 0)) / seconds;
      return [edgeKey(edge), { offered: rate('offered'), refused: rate('refused'), failed: rate('failed') }];
    }),
  );
}

/** Fill level of a queue from 0 to 1, by the limit that is closer; null without a queue. */
export function fillOf(queue: Queue | null): number | null {
  if (queue === null) return null;
  const { items, max_items, bytes, max_bytes } = queue;
  return Math.max(max_items === null ? 0 : share(items, max_items), share(bytes, max_bytes));
}

function share(value: number, most: number): number {
  return most <= 0 ? 0 : Math.min(1, value / most);
}

/** The nodes and edges of one pipeline. @param pipeline empty for all */
export function flowOf(
  all: readonly FlowEdge[],
  pipeline: string,
): { readonly nodes: readonly FlowNode[]; readonly edges: readonly FlowEdge[] } {
  const edges = all.filter((edge) => pipeline === '' || edge.pipeline === pipeline);
  const nodes = new Map<string, FlowNode>();
  for (const { from, to, pipeline: name } of edges)
    for (const end of [from, to]) {
      const key = nodeKey(end, name);
      nodes.set(key, { ...end, key, pipeline: end.kind === 'processor' ? name : null });
    }
  return { nodes: [...nodes.values()], edges };
}

/**
 * Label positions along the edges, from 0 at the source to 1. Labels move to the end with fewer edges, so
 * that labels of converging edges do not overlap.
 */
export function labelPlaces(edges: readonly FlowEdge[]): ReadonlyMap<string, number> {
  const out = new Map<string, number>();
  const into = new Map<string, number>();
  const count = (counts: Map<string, number>, key: string): void => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const { from, to, pipeline } of edges) {
    count(out, nodeKey(from, pipeline));
    count(into, nodeKey(to, pipeline));
  }
  return new Map(
    edges.map((edge) => {
      const leaving = out.get(nodeKey(edge.from, edge.pipeline)) ?? 1;
      const coming = into.get(nodeKey(edge.to, edge.pipeline)) ?? 1;
      return [edgeKey(edge), leaving > coming ? 0.62 : leaving < coming ? 0.38 : 0.5];
    }),
  );
}
