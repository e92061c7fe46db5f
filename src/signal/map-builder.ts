import { itemAt } from './checked.js';
import { HourSums } from './hour-sums.js';
import { NO_GRADE } from './span-grade.js';
import type { DerivedMap } from './service-map.js';
import { countTree, type MapTree } from './trace-map.js';

/** Builds the map of a batch, trace by trace. */
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
    for (let i = 0; i < nodes.length; i++) this.#nodes.push(itemAt(nodes, i));
  }

  finish(): DerivedMap {
    const nodeSums: number[] = [];
    const edgeSums: number[] = [];
    for (const [hour, sums] of this.#hours) {
      for (const { node_no, type, grade, spans, traces } of sums.nodes())
        nodeSums.push(hour, node_no, type, spans, traces, grade ?? NO_GRADE);
      for (const { source_no, target_no, grade, spans } of sums.edges())
        edgeSums.push(hour, source_no, target_no, spans, grade ?? NO_GRADE);
    }
    return {
      names: [...this.#numbers.keys()],
      nodes: Int32Array.from(this.#nodes),
      nodeSums: Int32Array.from(nodeSums),
      edgeSums: Int32Array.from(edgeSums),
    };
  }
}
