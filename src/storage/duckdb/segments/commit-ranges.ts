import { itemAt } from '../../../signal/checked.js';

/** Consecutive commits, both ends included. */
export interface CommitRange {
  readonly first: number;
  readonly last: number;
}

/** Ranges stored per trace. Beyond that, the nearest ranges are joined, including the gap between them. */
const MOST_RANGES = 32;
/** A query names at most this many single commits: each row is compared with all of them. */
const MOST_SINGLE = 64;
/** A query uses at most this many ranges: each is a separate scan of every file. */
const MOST_SCANS = 6;
/** A range of up to this many commits is queried as single commits. */
const NARROW = 3;

/** The commits that may contain rows of a trace: possibly too many, never too few. Immutable. */
export class CommitRanges {
  static readonly NONE = new CommitRanges([]);

  /** Ascending; never adjacent. */
  readonly list: readonly CommitRange[];

  private constructor(list: readonly CommitRange[]) {
    this.list = list;
  }

  static of(seq: number): CommitRanges {
    return new CommitRanges([{ first: seq, last: seq }]);
  }

  /** Restores ranges from the first and the last commit and the result of {@link print}. */
  static stored({ first, last, printed }: CommitRange & { readonly printed: string | null }): CommitRanges {
    if (last === 0) return CommitRanges.NONE;
    if (printed === null) return new CommitRanges([{ first, last }]);
    return new CommitRanges(
      printed.split(',').map((range) => {
        const [from = '', to = from] = range.split('-');
        return { first: Number(from), last: Number(to) };
      }),
    );
  }

  /** The first commit; 0 if empty. */
  get first(): number {
    return this.list[0]?.first ?? 0;
  }

  get last(): number {
    return this.list.at(-1)?.last ?? 0;
  }

  /** These commits and one more, which comes after all of them. */
  with(seq: number): CommitRanges {
    const last = this.list.at(-1);
    if (last?.last === seq) return this;
    if (last?.last === seq - 1) return new CommitRanges([...this.list.slice(0, -1), { ...last, last: seq }]);
    return new CommitRanges(joinNearest([...this.list, { first: seq, last: seq }], MOST_RANGES));
  }

  /** The commits up to and including the given one. */
  upTo(seq: number): CommitRanges {
    const list = this.list.filter(({ first }) => first <= seq);
    return new CommitRanges(list.map(({ first, last }) => ({ first, last: Math.min(last, seq) })));
  }

  /** These commits as far as they are in some ranges. @param ranges ascending, without overlaps */
  within(ranges: readonly CommitRange[]): CommitRanges {
    return new CommitRanges(
      this.list.flatMap(({ first, last }) =>
        ranges
          .filter((range) => range.first <= last && range.last >= first)
          .map((range) => ({ first: Math.max(first, range.first), last: Math.min(last, range.last) })),
      ),
    );
  }

  /** A text for {@link stored}; null if the first and the last commit are sufficient. */
  print(): string | null {
    if (this.list.length <= 1) return null;
    return this.list
      .map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`))
      .join(',');
  }
}

/** A condition that matches only rows of certain commits, so that files without these commits are skipped. */
export interface OfCommits {
  /** Ascending. */
  readonly commits: readonly CommitRange[];
  readonly sql: string;
}

/** The rows of certain commits. */
export function ofCommits(seqs: Iterable<number>): OfCommits {
  const list = [...new Set(seqs)].sort((a, b) => a - b);
  const sql = list.length === 1 ? `seq = ${String(list[0])}` : `seq IN (${list.join(', ') || '0'})`;
  return { commits: list.map((seq) => ({ first: seq, last: seq })), sql };
}

/** The rows of a range of commits. */
export function ofCommitsBetween(first: number, last: number): OfCommits {
  return { commits: [{ first, last }], sql: `seq BETWEEN ${first} AND ${last}` };
}

/** The rows of a commit and of all later ones. */
export function ofCommitsSince(first: number): OfCommits {
  return { commits: [{ first, last: Number.MAX_SAFE_INTEGER }], sql: `seq >= ${first}` };
}

/** Those rows that also meet a further condition. */
export function narrowed({ commits, sql }: OfCommits, further: string): OfCommits {
  return { commits, sql: `${sql} AND ${further}` };
}

/**
 * Conditions on `seq` that together select each row of all these commits once. They are separate because DuckDB 1.5.5 does not use
 * zone maps for ranges joined by OR. Returns at least one condition.
 */
export function conditionsOn(places: readonly CommitRanges[]): OfCommits[] {
  const ranges = union(places.flatMap(({ list }) => list));
  let single = ranges.filter(isNarrow).flatMap(commitsOf);
  let wide = ranges.filter((range) => !isNarrow(range));
  if (single.length > MOST_SINGLE) {
    single = [];
    wide = ranges;
  }
  const scans = joinNearest(wide, MOST_SCANS);
  // The scan of a joined range covers the commits in its gap.
  single = single.filter((seq) => !scans.some(({ first, last }) => seq >= first && seq <= last));
  const conditions = scans.map(({ first, last }) => ofCommitsBetween(first, last));
  if (single.length > 0 || conditions.length === 0) conditions.push(ofCommits(single));
  return conditions;
}

/** Joins ranges that overlap or touch. */
export function union(ranges: readonly CommitRange[]): CommitRange[] {
  const sorted = [...ranges].sort((a, b) => a.first - b.first);
  const joined: CommitRange[] = [];
  for (const range of sorted) {
    const before = joined.at(-1);
    if (before === undefined || before.last < range.first - 1) joined.push(range);
    else joined[joined.length - 1] = { first: before.first, last: Math.max(before.last, range.last) };
  }
  return joined;
}

/** Joins ranges until there are at most `most`; the widest gaps stay. @param ranges ascending */
export function joinNearest(ranges: readonly CommitRange[], most: number): readonly CommitRange[] {
  if (ranges.length <= most) return ranges;
  const gapBefore = (i: number): number => itemAt(ranges, i).first - itemAt(ranges, i - 1).last;
  const gaps = ranges.map((_, i) => i).slice(1);
  const kept = new Set(gaps.sort((a, b) => gapBefore(b) - gapBefore(a)).slice(0, most - 1));
  const joined: CommitRange[] = [];
  for (const [i, range] of ranges.entries()) {
    const before = joined.at(-1);
    if (before === undefined || kept.has(i)) joined.push(range);
    else joined[joined.length - 1] = { first: before.first, last: range.last };
  }
  return joined;
}

/** Joins the nearest ranges as long as their gaps together are no wider than the ranges: at most half of what is read is in vain. */
export function joinClose(ranges: readonly CommitRange[]): readonly CommitRange[] {
  let spare = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const gaps = ranges.slice(1).map(({ first }, i) => first - itemAt(ranges, i).last - 1);
  const joined = gaps.sort((a, b) => a - b).filter((gap) => (spare -= gap) >= 0).length;
  return joinNearest(ranges, ranges.length - joined);
}

function isNarrow({ first, last }: CommitRange): boolean {
  return last - first < NARROW;
}

function commitsOf({ first, last }: CommitRange): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
