import { byteAt, intAt } from '../../signal/checked.js';
import { AGENT_NODE, NO_NODE } from '../../signal/service-map.js';
import { HourSums } from '../../signal/hour-sums.js';
import { TYPE_CODES } from '../../signal/trace-map.js';
import { FIRST_ROWS, grown } from './id-rows.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';

/** In place of a caller: no ancestor in the trace has a node. */
const TOP = -3;
/** Shifts numbers of nodes so that they count from 0, including those with a special meaning. */
const SHIFT = 3;
const NODES = 2 ** 26;
const TYPES = 16;

/** The node of a run's agent, and whether any of its spans is an agent's: then a span without a caller hangs under nothing. */
export interface MapAgent {
  readonly node: number;
  readonly hasSpan: boolean;
}

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
  /** For those: a list of the spans with a node that it calls, or, for a root, that nobody calls. */
  #firstCalled = new Int32Array(FIRST_ROWS);
  #lastCalled = new Int32Array(FIRST_ROWS);
  #nextCalled = new Int32Array(FIRST_ROWS);
  #rows = 0;
  readonly #sums = new Sums();
  /** What changed since {@link settled}. */
  readonly #changes = new Sums();
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

  /** The parent of a span is known from now on. */
  linked(row: number): void {
    const parent = intAt(this.#columns.parents, row);
    this.#reach(parent);
    const above = this.#root(parent);
    const node = intAt(this.#columns.nodes, row);
    if (node !== NO_NODE) {
      this.#countCall(TOP, node, -1);
      this.#countCall(this.#symbol(above), node, 1);
      this.#call(above, row);
      return;
    }
    // A ring of parents without any node: nobody is above.
    if (above === row) return;
    this.#up[row] = above;
    const symbol = this.#symbol(above);
    if (symbol !== TOP) {
      for (const called of this.#calledBy(row)) {
        this.#countCall(TOP, intAt(this.#columns.nodes, called), -1);
        this.#countCall(symbol, intAt(this.#columns.nodes, called), 1);
      }
    }
    this.#handOver(row, above);
  }

  /** A span that had a node has another one now. */
  renamed(row: number, before: number): void {
    const node = intAt(this.#columns.nodes, row);
    const type = byteAt(this.#columns.types, row);
    this.#countNode(before, type, -1);
    this.#countNode(node, type, 1);
    const parent = intAt(this.#columns.parents, row);
    const caller = parent === NO_ROW ? NO_ROW : this.#root(parent);
    const symbol = caller === NO_ROW ? TOP : this.#symbol(caller);
    this.#countCall(caller === row ? before : symbol, before, -1);
    this.#countCall(symbol, node, 1);
    for (const called of this.#calledBy(row)) {
      if (called === row) continue;
      this.#countCall(before, intAt(this.#columns.nodes, called), -1);
      this.#countCall(node, intAt(this.#columns.nodes, called), 1);
    }
  }

  /** Everything that the run contributes: its spans, and the trace itself for its agent. */
  total(agent: MapAgent): HourSums {
    const sums = realized(this.#sums, agent);
    sums.node(agent.node, TYPE_CODES.agent, 0, 1);
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
    this.#countNode(node, type, 1);
    this.#countCall(TOP, node, 1);
    // It was known as a parent before, so it calls what lies below.
    for (const called of this.#calledBy(row)) {
      this.#countCall(TOP, intAt(this.#columns.nodes, called), -1);
      this.#countCall(node, intAt(this.#columns.nodes, called), 1);
    }
  }

  #countNode(node: number, type: number, spans: number): void {
    this.#sums.addNode(node, type, spans);
    this.#changes.addNode(node, type, spans);
  }

  #countCall(caller: number, node: number, spans: number): void {
    this.#sums.addCall(caller, node, spans);
    this.#changes.addCall(caller, node, spans);
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
    }
    for (; this.#rows <= row; this.#rows++) {
      this.#up[this.#rows] = this.#rows;
      this.#firstCalled[this.#rows] = NO_ROW;
      this.#lastCalled[this.#rows] = NO_ROW;
      this.#nextCalled[this.#rows] = NO_ROW;
    }
  }
}

/** Sums in which the agent of the run has no number yet. */
class Sums {
  readonly nodes = new Map<number, number>();
  readonly calls = new Map<number, number>();

  addNode(node: number, type: number, spans: number): void {
    add(this.nodes, (node + SHIFT) * TYPES + type, spans);
  }

  addCall(caller: number, node: number, spans: number): void {
    add(this.calls, (caller + SHIFT) * NODES + node + SHIFT, spans);
  }

  clear(): void {
    this.nodes.clear();
    this.calls.clear();
  }
}

function add(sums: Map<number, number>, key: number, count: number): void {
  const sum = (sums.get(key) ?? 0) + count;
  if (sum === 0) sums.delete(key);
  else sums.set(key, sum);
}

function realized({ nodes, calls }: Sums, agent: MapAgent): HourSums {
  const sums = new HourSums();
  const numberOf = (node: number): number => (node === AGENT_NODE || node === TOP ? agent.node : node);
  for (const [key, spans] of nodes) {
    sums.node(numberOf(Math.floor(key / TYPES) - SHIFT), key % TYPES, spans, 0);
  }
  for (const [key, spans] of calls) {
    const caller = Math.floor(key / NODES) - SHIFT;
    if (caller === TOP && agent.hasSpan) continue;
    const [source, target] = [numberOf(caller), numberOf((key % NODES) - SHIFT)];
    if (source !== target) sums.edge(source, target, spans);
  }
  return sums;
}
