/** What flows through the daemon as the pages draw it: how much there is a second, and which part of it is shown. Pure. */

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
  /** Items since the start. */
  readonly offered: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly p99_ms: number | null;
  readonly queue: Queue | null;
}

/** The daemon at a moment. */
export interface Snapshot {
  readonly started_at: string;
  readonly at: string;
  readonly edges: readonly FlowEdge[];
}

/** Items a second. */
export interface Rates {
  readonly offered: number;
  readonly refused: number;
  readonly failed: number;
}

/** One component in the picture. Receivers and exporters are one each, however many pipelines share them. */
export interface FlowNode extends FlowEnd {
  readonly key: string;
  /** Of processors, which belong to one. */
  readonly pipeline: string | null;
}

/** Rates are those of so long: shorter ones jump, longer ones lag behind. */
const WINDOW_MS = 10_000;

export function edgeKey({ pipeline, from, to }: FlowEdge): string {
  return JSON.stringify([pipeline, from.kind, from.id, to.kind, to.id]);
}

export function nodeKey({ kind, id }: FlowEnd, pipeline: string): string {
  return JSON.stringify(kind === 'processor' ? [kind, id, pipeline] : [kind, id]);
}

/**
 * What has to be known to tell rates, with the newest last. Another daemon begins anew.
 *
 * @returns the same list where nothing is new
 */
export function remembered(before: readonly Snapshot[], next: Snapshot): readonly Snapshot[] {
  const last = before.at(-1);
  if (last === undefined || last.started_at !== next.started_at) return [next];
  const at = Date.parse(next.at);
  // An answer may be overtaken by news.
  if (at <= Date.parse(last.at)) return before;
  const young = before.filter((one) => at - Date.parse(one.at) <= WINDOW_MS);
  return [...(young.length > 0 ? young : [last]), next];
}

/** By edge; null: there is nothing yet to compare with. */
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

/** How full a queue is by what is nearer to its limit, 0 to 1; null: there is none. */
export function fillOf(queue: Queue | null): number | null {
  if (queue === null) return null;
  const { items, max_items, bytes, max_bytes } = queue;
  return Math.max(max_items === null ? 0 : share(items, max_items), share(bytes, max_bytes));
}

function share(value: number, most: number): number {
  return most <= 0 ? 0 : Math.min(1, value / most);
}

/** The nodes and edges of one pipeline, or of all. @param pipeline empty for all */
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
 * Where on an edge its figures stand, from 0 at its source to 1: near the end that it shares with fewer others, so that figures of edges
 * that come together do not cover each other.
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
