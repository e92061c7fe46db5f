import { GRADES, type Grade } from './span-grade.js';
import type { MapCounter } from './trace-map.js';

/** More than the number of nodes will ever be; pairs of node numbers are exact integers. */
const NODES = 2 ** 26;
const TYPES = 16;
/** Marks an unknown grade in the key of a node. */
const UNKNOWN = GRADES - 1;

/** Sums of one node, type and grade. */
export interface NodeSum {
  readonly node_no: number;
  readonly type: number;
  readonly spans: number;
  readonly traces: number;
  /** Null: counted by a version without grades. */
  readonly grade: Grade | null;
}

export interface EdgeSum {
  readonly source_no: number;
  readonly target_no: number;
  readonly spans: number;
  readonly grade: Grade | null;
}

/** Sums of the service map in one hour, or changes of such sums. */
export class HourSums implements MapCounter {
  readonly #nodes = new Map<number, { spans: number; traces: number }>();
  readonly #edges = new Map<Grade | null, Map<number, number>>();

  node(node: number, type: number, grade: Grade | null, spans: number, traces: number): void {
    const key = (node * TYPES + type) * GRADES + (grade ?? UNKNOWN);
    const known = this.#nodes.get(key);
    if (known === undefined) this.#nodes.set(key, { spans, traces });
    else {
      known.spans += spans;
      known.traces += traces;
    }
  }

  edge(source: number, target: number, grade: Grade | null, spans: number): void {
    let edges = this.#edges.get(grade);
    if (edges === undefined) {
      edges = new Map();
      this.#edges.set(grade, edges);
    }
    const key = source * NODES + target;
    edges.set(key, (edges.get(key) ?? 0) + spans);
  }

  /** @param sign -1 subtracts the other's sums */
  add(other: HourSums, sign: 1 | -1): void {
    for (const { node_no, type, grade, spans, traces } of other.nodes())
      this.node(node_no, type, grade, sign * spans, sign * traces);
    for (const { source_no, target_no, grade, spans } of other.edges())
      this.edge(source_no, target_no, grade, sign * spans);
  }

  /** Sums that are not zero. */
  nodes(): NodeSum[] {
    return [...this.#nodes]
      .filter(([, { spans, traces }]) => spans !== 0 || traces !== 0)
      .map(([key, { spans, traces }]) => {
        const place = Math.floor(key / GRADES);
        const grade = key % GRADES;
        return {
          node_no: Math.floor(place / TYPES),
          type: place % TYPES,
          spans,
          traces,
          grade: grade === UNKNOWN ? null : grade,
        };
      });
  }

  /** Sums that are not zero. */
  edges(): EdgeSum[] {
    return [...this.#edges].flatMap(([grade, edges]) =>
      [...edges]
        .filter(([, spans]) => spans !== 0)
        .map(([key, spans]) => ({
          source_no: Math.floor(key / NODES),
          target_no: key % NODES,
          spans,
          grade,
        })),
    );
  }
}
