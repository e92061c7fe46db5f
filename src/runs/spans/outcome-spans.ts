import { byteAt, intAt } from '../../signal/checked.js';
import { hasOutcome } from '../rules/run-outcome.js';
import { endOfPath } from './end-of-path.js';
import { Heap } from './heap.js';
import { FIRST_ROWS, grown } from './id-rows.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';

/**
 * Finds `lastOutcome` incrementally. An outcome span below another one stays below it, so all outcome spans are in a heap whose first is
 * dropped once an ancestor is an outcome span. Compressed paths lead to the nearest outcome span above, or else to the root.
 */
export class OutcomeSpans {
  readonly #columns: SpanColumns;
  #up = new Int32Array(FIRST_ROWS);
  #rows = 0;
  /** The one that began last comes first. */
  readonly #heap: Heap<number>;

  /** Adds the existing spans. */
  constructor(columns: SpanColumns) {
    this.#columns = columns;
    this.#heap = new Heap((a, b) => columns.isBefore(b, a));
    for (let row = 0; row < columns.ids.size; row++) if (columns.isHere(row)) this.arrived(row);
  }

  /** The row of the span that began last of the topmost ones; {@link NO_ROW} if no span has an outcome. */
  get last(): number {
    for (let row = this.#heap.first; row !== undefined; row = this.#heap.first) {
      if (!this.#isBelow(row)) return row;
      this.#heap.shift();
    }
    return NO_ROW;
  }

  /** A span has arrived. */
  arrived(row: number): void {
    this.#reach(row);
    if (decidesOutcome(this.#columns, row)) this.#heap.push(row);
    if (this.#columns.parents[row] !== NO_ROW) this.linked(row);
  }

  /** The parent of a span has become known. */
  linked(row: number): void {
    const parent = intAt(this.#columns.parents, row);
    this.#reach(parent);
    if (decidesOutcome(this.#columns, row)) return;
    const end = endOfPath(this.#up, parent);
    // A cycle of parents without an outcome span.
    if (end !== row) this.#up[row] = end;
  }

  #isBelow(row: number): boolean {
    const parent = intAt(this.#columns.parents, row);
    return parent !== NO_ROW && decidesOutcome(this.#columns, endOfPath(this.#up, parent));
  }

  #reach(row: number): void {
    while (row >= this.#up.length) this.#up = grown(this.#up, Int32Array);
    for (; this.#rows <= row; this.#rows++) this.#up[this.#rows] = this.#rows;
  }
}

/** Whether the span of a row is here and speaks for its run. */
export function decidesOutcome(columns: SpanColumns, row: number): boolean {
  return (
    columns.isHere(row) &&
    hasOutcome({
      isRoot: columns.parents[row] === NO_ROW,
      type: byteAt(columns.types, row),
      status: columns.status(row),
      source: columns.hint(row)?.source,
    })
  );
}
