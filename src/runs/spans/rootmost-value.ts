import { DepthForest } from './depth-forest.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';

/** A value of a run that its spans may have. */
export interface Said {
  /** Rank of the value's source: lower is better; Infinity without a value. */
  rank(row: number): number;
  /** A text that equal ones have in common. @param row also {@link NO_ROW} */
  key(row: number): string | null;
}

/**
 * Finds the topmost span ({@link shallowest}) among those with a value from the best source. Usually all values are equal, and then depths
 * are not computed.
 */
export class RootmostValue {
  readonly #columns: SpanColumns;
  readonly #said: Said;
  #rank = Infinity;
  /** Some span with that rank. */
  #any = NO_ROW;
  /** Set once spans with the best rank say different things. */
  #forest: DepthForest | null = null;

  constructor(columns: SpanColumns, said: Said) {
    this.#columns = columns;
    this.#said = said;
  }

  /** Its row; {@link NO_ROW} if no span has a value. */
  get row(): number {
    return this.#forest === null ? this.#any : this.#forest.best;
  }

  /** Whether the depths of spans are kept for it. */
  get knowsDepths(): boolean {
    return this.#forest !== null;
  }

  /** A span has arrived. */
  arrived(row: number): void {
    if (this.#forest !== null) {
      this.#forest.arrived(row);
      if (this.#columns.parents[row] !== NO_ROW) this.#forest.linked(row);
    }
    this.#consider(row);
  }

  /** A span's value may have a better source, or is new. @param before its previous rank */
  changed(row: number, before: number): void {
    if (this.#said.rank(row) < before) this.#consider(row);
  }

  /** A span without a parent has got one. */
  linked(row: number): void {
    this.#forest?.linked(row);
  }

  #consider(row: number): void {
    const rank = this.#said.rank(row);
    if (rank > this.#rank || rank === Infinity) return;
    if (rank < this.#rank) {
      this.#rank = rank;
      this.#any = row;
      this.#forest = null;
      return;
    }
    if (this.#forest !== null) this.#forest.addCandidate(row);
    else if (this.#said.key(row) !== this.#said.key(this.#any)) {
      this.#forest = this.#plant();
    }
  }

  /** Happens once for each source that is the best of all for a time. */
  #plant(): DepthForest {
    const columns = this.#columns;
    const forest = new DepthForest(columns, (row) => this.#said.rank(row));
    for (let row = 0; row < columns.ids.size; row++) if (columns.isHere(row)) forest.arrived(row);
    for (let row = 0; row < columns.ids.size; row++) {
      if (columns.isHere(row) && columns.parents[row] !== NO_ROW) forest.linked(row);
    }
    for (let row = 0; row < columns.ids.size; row++) {
      if (columns.isHere(row) && this.#said.rank(row) === this.#rank) forest.addCandidate(row);
    }
    return forest;
  }
}
