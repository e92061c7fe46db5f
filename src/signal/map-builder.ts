import { itemAt } from './checked.js';
import type { DerivedMap } from './service-map.js';
import { callersOf, type MapTree } from './trace-map.js';

/** Builds the map of a batch, trace by trace. */
export class MapBuilder {
  readonly #numbers = new Map<string, number>();
  readonly #nodes: number[] = [];
  readonly #callers: number[] = [];

  /** The number of a name: its position in the map's list. */
  number(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }

  trace(tree: MapTree): void {
    const { nodes } = tree;
    const callers = callersOf(tree);
    for (let i = 0; i < nodes.length; i++) {
      this.#nodes.push(itemAt(nodes, i));
      this.#callers.push(itemAt(callers, i));
    }
  }

  finish(): DerivedMap {
    return {
      names: [...this.#numbers.keys()],
      nodes: Int32Array.from(this.#nodes),
      callers: Int32Array.from(this.#callers),
    };
  }
}
