import { NO_NODE, type BatchMap } from './service-map.js';
import { countTree, type MapCounter, type MapTree } from './trace-map.js';

/** Puts the map of a batch together, trace by trace. */
export class MapBuilder {
  readonly #numbers = new Map<string, number>();
  readonly #nodes: number[] = [];
  readonly #hours = new Map<number, HourSums>();

  /** The number of a name: its position in the map's list. */
  number(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }

  /**
   * @param agent the number of the name of the trace's agent
   * @param hour of the trace's start, in hours since 1970
   */
  trace(agent: number, hour: number, tree: MapTree): void {
    let sums = this.#hours.get(hour);
    if (sums === undefined) {
      sums = new HourSums();
      this.#hours.set(hour, sums);
    }
    countTree(agent, tree, sums);
    const { nodes } = tree;
    for (let i = 0; i < nodes.length; i++) this.#nodes.push(nodes[i] ?? NO_NODE);
  }

  finish(): Omit<BatchMap, 'spanIds'> {
    const nodeSums: number[] = [];
    const edgeSums: number[] = [];
    for (const [hour, sums] of this.#hours) sums.write(hour, nodeSums, edgeSums);
    return {
      names: [...this.#numbers.keys()],
      nodes: Int32Array.from(this.#nodes),
      nodeSums: Int32Array.from(nodeSums),
      edgeSums: Int32Array.from(edgeSums),
    };
  }
}

/** More than there are span types. */
const TYPES = 256;
/** More than there are names in a batch: an edge's key stays an exact number. */
const NAMES = 2 ** 26;

/** What the traces of one hour add. */
class HourSums implements MapCounter {
  readonly #nodes = new Map<number, { spans: number; traces: number }>();
  readonly #edges = new Map<number, number>();

  node(node: number, type: number, spans: number, traces: number): void {
    const key = node * TYPES + type;
    const sum = this.#nodes.get(key);
    if (sum === undefined) this.#nodes.set(key, { spans, traces });
    else {
      sum.spans += spans;
      sum.traces += traces;
    }
  }

  edge(source: number, target: number, spans: number): void {
    const key = source * NAMES + target;
    this.#edges.set(key, (this.#edges.get(key) ?? 0) + spans);
  }

  write(hour: number, nodeSums: number[], edgeSums: number[]): void {
    for (const [key, { spans, traces }] of this.#nodes)
      nodeSums.push(hour, Math.floor(key / TYPES), key % TYPES, spans, traces);
    for (const [key, spans] of this.#edges) edgeSums.push(hour, Math.floor(key / NAMES), key % NAMES, spans);
  }
}
