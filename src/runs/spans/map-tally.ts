import { byteAt, doubleAt, intAt } from '../../signal/checked.js';
import { NO_NODE } from '../../signal/service-map.js';
import type { HourSums } from '../../signal/hour-sums.js';
import { gradeOf, NO_GRADE, type Grade } from '../../signal/span-grade.js';
import { TYPE_CODES } from '../../signal/trace-map.js';
import { FIRST_ROWS, grown } from './id-rows.js';
import { realized, RunSums, TOP, type MapAgent } from './run-sums.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';

/**
 * What the spans of a run contribute to the service map ({@link countTrace}), while spans come and their parents become known.
 * The nearest ancestor with a node changes at most once for each span, from none to one: all spans that have none lie together
 * under the root of their tree, and are handed over to whatever is found above it.
 */
export class MapTally {
  readonly #columns: SpanColumns;
  /**
   * The next row towards the nearest span with a node, itself included, or else towards the root of the tree; paths are
   * shortened.
   */
  #up = new Int32Array(FIRST_ROWS);
  /** For those: a list of the spans with a node that it calls or, for a root, that have no caller. */
  #firstCalled = new Int32Array(FIRST_ROWS);
  #lastCalled = new Int32Array(FIRST_ROWS);
  #nextCalled = new Int32Array(FIRST_ROWS);
  /** The grade under which each span counts. */
  #grades = new Uint8Array(FIRST_ROWS);
  #rows = 0;
  readonly #sums = new RunSums();
  /** What changed since {@link settled}. */
  readonly #changes = new RunSums();
  #hasAgentSpan = false;

  /** Counts the spans that are there. */
  constructor(columns: SpanColumns) {
    this.#columns = columns;
    const isHere = (row: number): boolean => columns.isHere(row);
    for (let row = 0; row < columns.ids.size; row++) if (isHere(row)) this.#arrive(row);
    for (let row = 0; row < columns.ids.size; row++) {
      if (isHere(row) && columns.parents[row] !== NO_ROW) this.linked(row);
    }
    this.settled();
  }

  get hasAgentSpan(): boolean {
    return this.#hasAgentSpan;
  }

  /** A span has arrived. */
  arrived(row: number): void {
    this.#arrive(row);
    if (this.#columns.parents[row] !== NO_ROW) this.linked(row);
  }

  /** The parent of a span has become known. */
  linked(row: number): void {
    const parent = intAt(this.#columns.parents, row);
    this.#reach(parent);
    const above = this.#root(parent);
    const node = intAt(this.#columns.nodes, row);
    if (node !== NO_NODE) {
      const grade = byteAt(this.#grades, row);
      this.#countCall(TOP, node, grade, -1);
      this.#countCall(this.#symbol(above), node, grade, 1);
      this.#call(above, row);
      return;
    }
    // A cycle of parents without a node: there is no caller.
    if (above === row) return;
    this.#up[row] = above;
    const symbol = this.#symbol(above);
    if (symbol !== TOP) {
      this.#moveCalls(row, TOP, symbol);
    }
    this.#handOver(row, above);
  }

  /** A span that had a node has another one now. */
  renamed(row: number, before: number): void {
    const node = intAt(this.#columns.nodes, row);
    const type = byteAt(this.#columns.types, row);
    const grade = byteAt(this.#grades, row);
    this.#countNode(before, type, grade, -1);
    this.#countNode(node, type, grade, 1);
    const caller = this.#callerOf(row);
    const symbol = caller === NO_ROW ? TOP : this.#symbol(caller);
    this.#countCall(caller === row ? before : symbol, before, grade, -1);
    this.#countCall(symbol, node, grade, 1);
    this.#moveCalls(row, before, node);
  }

  /** A span may have ended, or failed. */
  changed(row: number): void {
    const before = byteAt(this.#grades, row);
    const grade = this.#gradeOf(row);
    const node = intAt(this.#columns.nodes, row);
    if (grade === before || node === NO_NODE) return;
    this.#grades[row] = grade;
    const type = byteAt(this.#columns.types, row);
    this.#countNode(node, type, before, -1);
    this.#countNode(node, type, grade, 1);
    const caller = this.#callerOf(row);
    const symbol = caller === NO_ROW ? TOP : this.#symbol(caller);
    this.#countCall(symbol, node, before, -1);
    this.#countCall(symbol, node, grade, 1);
  }

  /** Everything that the run contributes: its spans, and the trace itself for its agent. */
  total(agent: MapAgent): HourSums {
    const sums = realized(this.#sums, agent);
    sums.node(agent.node, TYPE_CODES.agent, NO_GRADE, 0, 1);
    return sums;
  }

  /** What they contributed at {@link settled}. @param agent as it was then */
  before(agent: MapAgent): HourSums {
    const sums = this.total(agent);
    sums.add(realized(this.#changes, agent), -1);
    return sums;
  }

  /** The difference since {@link settled}, where the agent is the same. */
  changes(agent: MapAgent): HourSums {
    return realized(this.#changes, agent);
  }

  /** The changes have been passed on. */
  settled(): void {
    this.#changes.clear();
  }

  #arrive(row: number): void {
    this.#reach(row);
    const node = intAt(this.#columns.nodes, row);
    const type = byteAt(this.#columns.types, row);
    if (type === TYPE_CODES.agent) this.#hasAgentSpan = true;
    if (node === NO_NODE) return;
    const grade = this.#gradeOf(row);
    this.#grades[row] = grade;
    this.#countNode(node, type, grade, 1);
    this.#countCall(TOP, node, grade, 1);
    // It was known as a parent before, so it calls what lies below.
    this.#moveCalls(row, TOP, node);
  }

  #gradeOf(row: number): Grade {
    const end = doubleAt(this.#columns.ends, row);
    const status = this.#columns.status(row);
    return gradeOf(status, doubleAt(this.#columns.starts, row), Number.isNaN(end) ? null : end);
  }

  #countNode(node: number, type: number, grade: Grade, spans: number): void {
    this.#sums.addNode(node, type, grade, spans);
    this.#changes.addNode(node, type, grade, spans);
  }

  #countCall(caller: number, node: number, grade: Grade, spans: number): void {
    this.#sums.addCall(caller, node, grade, spans);
    this.#changes.addCall(caller, node, grade, spans);
  }

  /** What a span calls has another caller now. */
  #moveCalls(row: number, before: number, caller: number): void {
    for (const called of this.#calledBy(row)) {
      if (called === row) continue;
      const node = intAt(this.#columns.nodes, called);
      const grade = byteAt(this.#grades, called);
      this.#countCall(before, node, grade, -1);
      this.#countCall(caller, node, grade, 1);
    }
  }

  #callerOf(row: number): number {
    const parent = intAt(this.#columns.parents, row);
    return parent === NO_ROW ? NO_ROW : this.#root(parent);
  }

  #symbol(row: number): number {
    const node = intAt(this.#columns.nodes, row);
    return node === NO_NODE ? TOP : node;
  }

  #call(caller: number, row: number): void {
    const last = intAt(this.#lastCalled, caller);
    if (last === NO_ROW) this.#firstCalled[caller] = row;
    else this.#nextCalled[last] = row;
    this.#lastCalled[caller] = row;
  }

  #handOver(from: number, to: number): void {
    const first = intAt(this.#firstCalled, from);
    if (first === NO_ROW) return;
    const last = intAt(this.#lastCalled, to);
    if (last === NO_ROW) this.#firstCalled[to] = first;
    else this.#nextCalled[last] = first;
    this.#lastCalled[to] = intAt(this.#lastCalled, from);
    this.#firstCalled[from] = NO_ROW;
    this.#lastCalled[from] = NO_ROW;
  }

  *#calledBy(row: number): Generator<number> {
    for (let at = intAt(this.#firstCalled, row); at !== NO_ROW; at = intAt(this.#nextCalled, at)) yield at;
  }

  #root(row: number): number {
    const up = this.#up;
    let root = row;
    while (up[root] !== root) root = intAt(up, root);
    for (let at = row; at !== root;) {
      const above = intAt(up, at);
      up[at] = root;
      at = above;
    }
    return root;
  }

  #reach(row: number): void {
    while (row >= this.#up.length) {
      this.#up = grown(this.#up, Int32Array);
      this.#firstCalled = grown(this.#firstCalled, Int32Array);
      this.#lastCalled = grown(this.#lastCalled, Int32Array);
      this.#nextCalled = grown(this.#nextCalled, Int32Array);
      this.#grades = grown(this.#grades, Uint8Array);
    }
    for (; this.#rows <= row; this.#rows++) {
      this.#up[this.#rows] = this.#rows;
      this.#firstCalled[this.#rows] = NO_ROW;
      this.#lastCalled[this.#rows] = NO_ROW;
      this.#nextCalled[this.#rows] = NO_ROW;
    }
  }
}
