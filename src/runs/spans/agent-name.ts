import { NO_AGENT } from '../rules/header-of-spans.js';
import { DepthForest } from './depth-forest.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';

/**
 * The name of a run's agent as its spans give it ({@link headerOf}): from the best source that any span has, and among several
 * such spans from the topmost. Usually all of them give the same name, that of a service, and then nobody has to know their
 * depths.
 */
export class AgentName {
  readonly #columns: SpanColumns;
  #rank = Infinity;
  /** Some span with that rank. */
  #any = NO_ROW;
  /** Set once spans with the best rank give different names. */
  #forest: DepthForest | null = null;

  constructor(columns: SpanColumns) {
    this.#columns = columns;
  }

  get name(): string {
    const row = this.#forest === null ? this.#any : this.#forest.best;
    return this.#columns.hint(row)?.name ?? NO_AGENT;
  }

  /** A span has arrived. */
  arrived(row: number): void {
    if (this.#forest !== null) {
      this.#forest.arrived(row);
      if (this.#columns.parents[row] !== NO_ROW) this.#forest.linked(row);
    }
    this.#consider(row);
  }

  /** What a span says about the agent may now come from a better source. @param before the rank that it had */
  changed(row: number, before: number): void {
    if (this.#columns.rank(row) < before) this.#consider(row);
  }

  /** A span that came without a parent has one from now on. */
  linked(row: number): void {
    this.#forest?.linked(row);
  }

  #consider(row: number): void {
    const rank = this.#columns.rank(row);
    if (rank > this.#rank || rank === Infinity) return;
    if (rank < this.#rank) {
      this.#rank = rank;
      this.#any = row;
      this.#forest = null;
      return;
    }
    if (this.#forest !== null) this.#forest.addCandidate(row);
    else if (this.#columns.hint(row)?.name !== this.#columns.hint(this.#any)?.name) {
      this.#forest = this.#plant();
    }
  }

  /** Happens once for each source of names that is the best of all for a time. */
  #plant(): DepthForest {
    const columns = this.#columns;
    const forest = new DepthForest(columns);
    for (let row = 0; row < columns.ids.size; row++) if (columns.isHere(row)) forest.arrived(row);
    for (let row = 0; row < columns.ids.size; row++) {
      if (columns.isHere(row) && columns.parents[row] !== NO_ROW) forest.linked(row);
    }
    for (let row = 0; row < columns.ids.size; row++) {
      if (columns.isHere(row) && columns.rank(row) === this.#rank) forest.addCandidate(row);
    }
    return forest;
  }
}
