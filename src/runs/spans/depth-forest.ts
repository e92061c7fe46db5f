import { intAt, invariant } from '../../signal/checked.js';
import { FIRST_ROWS, grown } from './id-rows.js';
import { Heap } from './heap.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';

/**
 * Among candidate spans, finds the one with the fewest known ancestors, then the first (`headerOf`, the agent's name), while parents become
 * known one after the other. A tree is hung under another only by its root, which changes all its depths alike: so depths are kept relative
 * to the root, paths to it are shortened when they are walked (union-find with weights), and each tree keeps its best candidate. In a cycle
 * of parents each span has all of the cycle above it.
 */
export class DepthForest {
  readonly #columns: SpanColumns;
  readonly #rank: (row: number) => number;
  /** The next row towards the root; a root points to itself. */
  #up = new Int32Array(FIRST_ROWS);
  /** How much deeper it is than the row above. */
  #deeper = new Int32Array(FIRST_ROWS);
  /** For a root, its own depth. A row that is only known as a parent does not count as an ancestor: -1. */
  #depths = new Int32Array(FIRST_ROWS);
  /** For a root, the best candidate of its tree. */
  #best = new Int32Array(FIRST_ROWS);
  /** The next span of the same tree; these links form a ring. */
  #next = new Int32Array(FIRST_ROWS);
  #rows = 0;
  /** The best candidates of all trees, and some former ones, by the depths that they had. */
  readonly #heap: Heap<Candidate>;

  /** @param rank which spans are candidates: those that have the same as the best one */
  constructor(columns: SpanColumns, rank: (row: number) => number) {
    this.#columns = columns;
    this.#rank = rank;
    this.#heap = new Heap((a, b) => this.#isBetter(a, b));
  }

  /** The best candidate; {@link NO_ROW} if there is none. */
  get best(): number {
    for (let first = this.#heap.first; first !== undefined; first = this.#heap.first) {
      const { row, depth } = first;
      if (this.#best[this.#root(row)] === row && this.depth(row) === depth) return row;
      this.#heap.shift();
    }
    return NO_ROW;
  }

  /** How many known ancestors a span has. */
  depth(row: number): number {
    const root = this.#root(row);
    return intAt(this.#depths, root) + (row === root ? 0 : intAt(this.#deeper, row));
  }

  /** A row that was perhaps only known as a parent is now a span. */
  arrived(row: number): void {
    this.#reach(row);
    this.#depths[row] = 0;
    this.#offer(row);
  }

  /** The parent of a span that has arrived is known from now on. */
  linked(row: number): void {
    const parent = intAt(this.#columns.parents, row);
    this.#reach(parent);
    const root = this.#root(parent);
    if (root === row) this.#closeRing(row);
    else {
      const best = intAt(this.#best, row);
      this.#deeper[row] = (parent === root ? 0 : intAt(this.#deeper, parent)) + 1;
      this.#up[row] = root;
      this.#joinRings(row, root);
      if (best !== NO_ROW) this.#compete(root, best);
    }
  }

  addCandidate(row: number): void {
    this.#compete(this.#root(row), row);
  }

  #compete(root: number, row: number): void {
    const best = intAt(this.#best, root);
    const isBetter =
      best === NO_ROW ||
      this.#isBetter({ row, depth: this.depth(row) }, { row: best, depth: this.depth(best) });
    if (!isBetter) return;
    this.#best[root] = row;
    this.#offer(root);
  }

  /** Puts the best candidate of a tree among those of the others, with the depth that it has now. */
  #offer(root: number): void {
    const row = intAt(this.#best, root);
    if (row === NO_ROW) return;
    this.#heap.push({ row, depth: this.depth(row) });
  }

  #isBetter(a: Candidate, b: Candidate): boolean {
    return a.depth === b.depth ? this.#columns.isBefore(a.row, b.row) : a.depth < b.depth;
  }

  /** The root hangs under a span of its own tree, so nothing will come above it. Each tree closes at most once. */
  #closeRing(root: number): void {
    const parents = this.#columns.parents;
    const ring = new Set<number>([root]);
    for (let row = intAt(parents, root); row !== root && row !== NO_ROW; row = intAt(parents, row))
      ring.add(row);
    const depths = new Map<number, number>();
    for (const row of ring) depths.set(row, ring.size);
    const members = this.#members(root);
    for (const member of members) {
      const path: number[] = [];
      let row = member;
      for (; !depths.has(row); row = intAt(parents, row)) path.push(row);
      let depth = invariant(depths.get(row), 'depth of a span of the ring');
      for (const below of path.reverse()) depths.set(below, ++depth);
    }
    this.#depths[root] = ring.size;
    for (const member of members) {
      if (member === root) continue;
      this.#up[member] = root;
      this.#deeper[member] = invariant(depths.get(member), 'depth of a span below the ring') - ring.size;
    }
    const rank = this.#rank(intAt(this.#best, root));
    if (this.#best[root] === NO_ROW) return;
    this.#best[root] = NO_ROW;
    for (const member of members) if (this.#rank(member) === rank) this.#compete(root, member);
  }

  #members(of: number): number[] {
    const members = [of];
    for (let row = intAt(this.#next, of); row !== of; row = intAt(this.#next, row)) members.push(row);
    return members;
  }

  #joinRings(a: number, b: number): void {
    const next = intAt(this.#next, a);
    this.#next[a] = intAt(this.#next, b);
    this.#next[b] = next;
  }

  #root(row: number): number {
    const up = this.#up;
    let root = row;
    let deeper = 0;
    while (up[root] !== root) {
      deeper += intAt(this.#deeper, root);
      root = intAt(up, root);
    }
    for (let at = row; at !== root;) {
      const above = intAt(up, at);
      const step = intAt(this.#deeper, at);
      up[at] = root;
      this.#deeper[at] = deeper;
      deeper -= step;
      at = above;
    }
    return root;
  }

  /** Makes rows up to this one. */
  #reach(row: number): void {
    while (row >= this.#up.length) {
      this.#up = grown(this.#up, Int32Array);
      this.#deeper = grown(this.#deeper, Int32Array);
      this.#depths = grown(this.#depths, Int32Array);
      this.#best = grown(this.#best, Int32Array);
      this.#next = grown(this.#next, Int32Array);
    }
    for (; this.#rows <= row; this.#rows++) {
      this.#up[this.#rows] = this.#rows;
      this.#depths[this.#rows] = -1;
      this.#best[this.#rows] = NO_ROW;
      this.#next[this.#rows] = this.#rows;
    }
  }
}

interface Candidate {
  readonly row: number;
  readonly depth: number;
}
