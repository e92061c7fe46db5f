import { doubleAt, intAt } from '../../signal/checked.js';
import { ExactSum } from '../rules/exact-sum.js';
import { FIRST_ROWS, grown } from './id-rows.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';

/**
 * The sum of one measure over those spans that report it while none of their descendants does: {@link usageOf}. Once a span is
 * above one that reports, it stays so; hence each is marked only once.
 */
export class UsageTree {
  readonly #columns: SpanColumns;
  readonly #values: (columns: SpanColumns) => Float64Array;
  readonly #covered: (row: number) => void;
  readonly #sum = new ExactSum();
  #reporting = 0;
  #isAbove = new Uint8Array(FIRST_ROWS);
  /** Spans whose call is counted by another one. */
  readonly #leftOut = new Set<number>();

  /**
   * @param values the measure; NaN where a span does not report it
   * @param covered called once for each span above a span that reports
   */
  constructor(
    columns: SpanColumns,
    values: (columns: SpanColumns) => Float64Array,
    covered: (row: number) => void,
  ) {
    this.#columns = columns;
    this.#values = values;
    this.#covered = covered;
  }

  /** Null if no span reports any. */
  get total(): number | null {
    return this.#reporting === 0 ? null : this.#sum.value;
  }

  /** A span has arrived, or its value has changed. To be called before {@link linked}. @param before NaN for none */
  reported(row: number, before: number): void {
    const value = this.#value(row);
    if (Number.isNaN(value)) return;
    const isNew = Number.isNaN(before);
    if (this.#counts(row)) {
      if (!isNew) this.#sum.remove(before);
      this.#sum.add(value);
    }
    if (!isNew) return;
    this.#reporting++;
    // In a cycle of parents this takes away what was just added.
    this.#markFrom(intAt(this.#columns.parents, row));
  }

  /** The parent of a span has become known. */
  linked(row: number): void {
    if (this.isAbove(row) || !Number.isNaN(this.#value(row))) {
      this.#markFrom(intAt(this.#columns.parents, row));
    }
  }

  /** Leaves a span out of the sum, or takes it in again. */
  leaveOut(row: number, isLeftOut: boolean): void {
    if (this.#leftOut.has(row) === isLeftOut) return;
    const value = this.#value(row);
    const isInSum = !Number.isNaN(value) && !this.isAbove(row);
    if (isInSum && isLeftOut) this.#sum.remove(value);
    if (isInSum && !isLeftOut) this.#sum.add(value);
    if (isLeftOut) this.#leftOut.add(row);
    else this.#leftOut.delete(row);
  }

  /** Whether a span below it reports. */
  isAbove(row: number): boolean {
    return this.#isAbove[row] === 1;
  }

  #markFrom(row: number): void {
    for (let at = row; at !== NO_ROW && !this.isAbove(at); at = intAt(this.#columns.parents, at)) {
      while (at >= this.#isAbove.length) this.#isAbove = grown(this.#isAbove, Uint8Array);
      const value = this.#value(at);
      if (!Number.isNaN(value) && this.#counts(at)) this.#sum.remove(value);
      this.#isAbove[at] = 1;
      this.#covered(at);
    }
  }

  #counts(row: number): boolean {
    return !this.isAbove(row) && !this.#leftOut.has(row);
  }

  #value(row: number): number {
    return doubleAt(this.#values(this.#columns), row);
  }
}
