import type { MapCounter } from './trace-map.js';

/** More than the numbers of nodes there ever are; pairs of them are exact integers. */
const NODES = 2 ** 26;
const TYPES = 16;

/** Sums of the service map in one hour, or changes of such sums. */
export class HourSums implements MapCounter {
  readonly #nodes = new Map<number, { spans: number; traces: number }>();
  readonly #edges = new Map<number, number>();

  node(node: number, type: number, spans: number, traces: number): void {
    const key = node * TYPES + type;
    const known = this.#nodes.get(key);
    if (known === undefined) this.#nodes.set(key, { spans, traces });
    else {
      known.spans += spans;
      known.traces += traces;
    }
  }

  edge(source: number, target: number, spans: number): void {
    const key = source * NODES + target;
    this.#edges.set(key, (this.#edges.get(key) ?? 0) + spans);
  }

  /** @param sign -1 takes the other's sums away */
  add(other: HourSums, sign: 1 | -1): void {
    for (const { node_no, type, spans, traces } of other.nodes())
      this.node(node_no, type, sign * spans, sign * traces);
    for (const { source_no, target_no, spans } of other.edges())
      this.edge(source_no, target_no, sign * spans);
  }

  /** Those that are not zero. */
  nodes(): { node_no: number; type: number; spans: number; traces: number }[] {
    return [...this.#nodes]
      .filter(([, { spans, traces }]) => spans !== 0 || traces !== 0)
      .map(([key, sums]) => ({ node_no: Math.floor(key / TYPES), type: key % TYPES, ...sums }));
  }

  /** Those that are not zero. */
  edges(): { source_no: number; target_no: number; spans: number }[] {
    return [...this.#edges]
      .filter(([, spans]) => spans !== 0)
      .map(([key, spans]) => ({ source_no: Math.floor(key / NODES), target_no: key % NODES, spans }));
  }
}
