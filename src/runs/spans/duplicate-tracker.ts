import { byteAt, doubleAt, intAt, itemAt, invariant } from '../../signal/checked.js';
import type { Micros } from '../../signal/time.js';
import {
  COUNTS,
  endOf,
  judged,
  MOST_TELLERS,
  NOT_TOLD,
  SAYS,
  WHOLE,
  type Reporter,
  type DuplicateCall,
} from '../rules/duplicate-calls.js';
import { endOfPath } from './end-of-path.js';
import { FIRST_ROWS, grown } from './id-rows.js';
import { NO_ROW, type SpanColumns } from './span-columns.js';
import type { UsageTree } from './usage-tree.js';

/**
 * Finds duplicate calls (`rules/duplicate-calls.ts`) incrementally. Calls with the same place or response id form gapless intervals of
 * time; intervals that share a call form a group. Groups only grow, so a new span affects only its own group.
 */
export class DuplicateTracker {
  readonly #columns: SpanColumns;
  readonly #tokens: UsageTree;
  readonly #costs: UsageTree;
  /** Leads from a call to its place: the next row on the way, or the row itself. */
  #up = new Int32Array(FIRST_ROWS);
  /** Leads to the row that represents the call's group. */
  #parts = new Int32Array(FIRST_ROWS);
  /** Size of the group, at its representative row. */
  #sizes = new Int32Array(FIRST_ROWS);
  /** The next call of the group, as a circular list. */
  #next = new Int32Array(FIRST_ROWS);
  #rows = 0;
  readonly #places: Stretches;
  readonly #answers: Stretches;
  /** What counts, where that is not everything. */
  readonly #told = new Map<number, DuplicateCall<number>>();
  readonly #toJudge = new Set<number>();
  /** Calls whose stored rows are outdated. */
  readonly #news = new Set<number>();

  /** Adds the existing spans. */
  constructor(columns: SpanColumns, tokens: UsageTree, costs: UsageTree) {
    this.#columns = columns;
    this.#tokens = tokens;
    this.#costs = costs;
    const join = (one: number, other: number): void => {
      this.#join(one, other);
    };
    this.#places = new Stretches(columns, join);
    this.#answers = new Stretches(columns, join);
    for (let row = 0; row < columns.ids.size; row++) if (columns.isHere(row)) this.arrived(row);
  }

  /** A span has arrived, or has become a call. */
  arrived(row: number): void {
    if (this.#columns.voice(row) === null) return;
    this.linked(row);
    this.changed(row);
  }

  /** The parent of a span has become known. */
  linked(row: number): void {
    const parent = intAt(this.#columns.parents, row);
    if (parent === NO_ROW || this.#columns.voice(row) === null) return;
    this.#reach(row);
    const place = this.#placeOf(parent);
    // In a cycle of calls.
    if (place === row) return;
    this.#up[row] = place;
    this.#places.unite(row, place);
  }

  /** It has ended, or says more of its call. */
  changed(row: number): void {
    if (this.#columns.voice(row) === null) return;
    const end = endOf({
      started_at: doubleAt(this.#columns.starts, row),
      ended_at: doubleAt(this.#columns.ends, row) || null,
    });
    this.#places.add(this.#placeOf(row), row, end);
    const response = doubleAt(this.#columns.responses, row);
    if (response !== 0) this.#answers.add(response, row, end);
    this.#toJudge.add(row);
  }

  /** A span below it reports tokens or a cost. */
  covered(row: number): void {
    if (this.#columns.isHere(row) && this.#columns.voice(row) !== null) this.#toJudge.add(row);
  }

  /** Updates both sums with the parts that count. */
  judge(): void {
    const parts = new Set<number>();
    for (const row of this.#toJudge) parts.add(this.#partOf(row));
    this.#toJudge.clear();
    for (const part of parts) {
      if (intAt(this.#sizes, part) > MOST_TELLERS) continue;
      const rows = [...this.#rowsOf(part)].sort((a, b) => (this.#columns.isBefore(a, b) ? -1 : 1));
      const told = rows.length < 2 ? undefined : judged(rows.map((row) => this.#teller(row)));
      for (const row of rows) this.#tell(row, told?.get(row));
    }
  }

  /** Calls whose stored rows are outdated. Call it after {@link judge}. */
  *news(): Generator<readonly [row: number, told: DuplicateCall<number>]> {
    for (const row of this.#news) yield [row, this.#told.get(row) ?? NOT_TOLD];
  }

  #teller(row: number): Reporter<number> {
    const columns = this.#columns;
    const says = (value: number, tree: UsageTree) =>
      Number.isNaN(value) ? SAYS.nothing : tree.isAbove(row) ? SAYS.covered : SAYS.first;
    const start = doubleAt(columns.starts, row);
    return {
      id: row,
      ...invariant(columns.voice(row), 'voice of a call'),
      response: doubleAt(columns.responses, row),
      place: this.#placeOf(row),
      start,
      end: endOf({ started_at: start, ended_at: doubleAt(columns.ends, row) || null }),
      tokens: says(doubleAt(columns.tokens, row), this.#tokens),
      cost: says(doubleAt(columns.costs, row), this.#costs),
    };
  }

  #tell(row: number, told: DuplicateCall<number> | undefined): void {
    if (told === undefined) this.#told.delete(row);
    else this.#told.set(row, told);
    const counted = told?.counted ?? WHOLE;
    this.#tokens.leaveOut(row, (counted & COUNTS.call) === 0);
    this.#costs.leaveOut(row, (counted & COUNTS.cost) === 0);
    const { sames, counts } = this.#columns;
    const isKept = intAt(sames, row) === (told?.same_as ?? NO_ROW) && byteAt(counts, row) === counted;
    if (isKept) this.#news.delete(row);
    else this.#news.add(row);
  }

  #join(one: number, other: number): void {
    const [a, b] = [this.#partOf(one), this.#partOf(other)];
    // Both are judged again even if already in one group: they may have the same place only now.
    this.#toJudge.add(a);
    if (a === b) return;
    const [sizeA, sizeB] = [intAt(this.#sizes, a), intAt(this.#sizes, b)];
    // The group is now too large to be judged.
    if (sizeA + sizeB > MOST_TELLERS) {
      for (const part of [a, b])
        if (intAt(this.#sizes, part) <= MOST_TELLERS)
          for (const row of this.#rowsOf(part)) this.#tell(row, undefined);
    }
    const [large, small] = sizeA < sizeB ? [b, a] : [a, b];
    this.#parts[small] = large;
    this.#sizes[large] = sizeA + sizeB;
    const next = intAt(this.#next, a);
    this.#next[a] = intAt(this.#next, b);
    this.#next[b] = next;
  }

  *#rowsOf(part: number): Generator<number> {
    let row = part;
    do {
      yield row;
      row = intAt(this.#next, row);
    } while (row !== part);
  }

  #placeOf(row: number): number {
    this.#reach(row);
    return endOfPath(this.#up, row);
  }

  #partOf(row: number): number {
    this.#reach(row);
    return endOfPath(this.#parts, row);
  }

  #reach(row: number): void {
    while (row >= this.#up.length) {
      this.#up = grown(this.#up, Int32Array);
      this.#parts = grown(this.#parts, Int32Array);
      this.#sizes = grown(this.#sizes, Int32Array);
      this.#next = grown(this.#next, Int32Array);
    }
    for (; this.#rows <= row; this.#rows++) {
      this.#up[this.#rows] = this.#rows;
      this.#parts[this.#rows] = this.#rows;
      this.#sizes[this.#rows] = 1;
      this.#next[this.#rows] = this.#rows;
    }
  }
}

/** Calls in groups, and in each the stretches of time without a gap that they fill. A stretch is known by the call that begins it. */
class Stretches {
  readonly #columns: SpanColumns;
  readonly #join: (one: number, other: number) => void;
  /** Of each group the first calls of its stretches, in the order of their starts. */
  readonly #groups = new Map<number, number[]>();
  /** When they end, by these calls. */
  readonly #ends = new Map<number, Micros>();

  /** @param join called with two calls of the same interval */
  constructor(columns: SpanColumns, join: (one: number, other: number) => void) {
    this.#columns = columns;
    this.#join = join;
  }

  /** @param end may be later than when the call was added before */
  add(group: number, row: number, end: Micros): void {
    const firsts = this.#groups.get(group);
    if (firsts === undefined) {
      this.#groups.set(group, [row]);
      this.#ends.set(row, end);
    } else this.#fill(firsts, row, end);
  }

  /** Both groups are one from now on. @param into the one that stays */
  unite(group: number, into: number): void {
    const firsts = this.#groups.get(group);
    if (firsts === undefined) return;
    this.#groups.delete(group);
    const others = this.#groups.get(into) ?? [];
    const [few, many] = firsts.length < others.length ? [firsts, others] : [others, firsts];
    this.#groups.set(into, many);
    for (const row of few) this.#fill(many, row, invariant(this.#ends.get(row), 'end of a stretch'));
  }

  #fill(firsts: number[], row: number, end: Micros): void {
    const start = doubleAt(this.#columns.starts, row);
    let from = this.#beginningUpTo(firsts, start);
    const before = firsts[from - 1];
    if (before !== undefined && this.#endOf(before) > start) from--;
    let to = from;
    let until = end;
    for (let other = firsts[to]; other !== undefined; other = firsts[++to]) {
      if (doubleAt(this.#columns.starts, other) >= end) break;
      until = Math.max(until, this.#endOf(other));
      this.#join(row, other);
      this.#ends.delete(other);
    }
    const known = to > from ? firsts[from] : undefined;
    const first = known !== undefined && doubleAt(this.#columns.starts, known) <= start ? known : row;
    this.#ends.set(first, until);
    if (to === from + 1) firsts[from] = first;
    else firsts.splice(from, to - from, first);
  }

  #endOf(first: number): Micros {
    return invariant(this.#ends.get(first), 'end of a stretch');
  }

  /** How many stretches begin no later. */
  #beginningUpTo(firsts: readonly number[], start: Micros): number {
    let [low, high] = [0, firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (doubleAt(this.#columns.starts, itemAt(firsts, middle)) <= start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
