/** Commits that follow each other, both ends included. */
export interface CommitRange {
  readonly first: number;
  readonly last: number;
}

/** Of a trace that came in more places the nearest ones count as one, with what lies between them. */
const MOST_RANGES = 32;
/** A query asks for so many single commits by their numbers: each row is compared with all of them. */
const MOST_SINGLE = 64;
/** And for so many ranges, each of which is a scan of every file of its own. */
const MOST_SCANS = 6;
/** Up to so many commits of a range are asked for one by one. */
const NARROW = 3;

/** The commits that brought rows of a trace: where to look for them. May name more, never fewer. Unchangeable. */
export class CommitRanges {
  static readonly NONE = new CommitRanges([]);

  /** Ascending; there are other commits between two of them. */
  readonly list: readonly CommitRange[];

  private constructor(list: readonly CommitRange[]) {
    this.list = list;
  }

  static of(seq: number): CommitRanges {
    return new CommitRanges([{ first: seq, last: seq }]);
  }

  /** As it is stored: by the first and the last commit, and what {@link print} gave. */
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

  /** The first commit, and the last one; 0 where there is none. */
  get first(): number {
    return this.list[0]?.first ?? 0;
  }

  get last(): number {
    return this.list.at(-1)?.last ?? 0;
  }

  /** With a further commit, which comes after all of these. */
  with(seq: number): CommitRanges {
    const last = this.list.at(-1);
    if (last?.last === seq) return this;
    if (last?.last === seq - 1) return new CommitRanges([...this.list.slice(0, -1), { ...last, last: seq }]);
    return new CommitRanges(joinNearest([...this.list, { first: seq, last: seq }], MOST_RANGES));
  }

  /** Those of them that are not after this one. */
  upTo(seq: number): CommitRanges {
    const list = this.list.filter(({ first }) => first <= seq);
    return new CommitRanges(list.map(({ first, last }) => ({ first, last: Math.min(last, seq) })));
  }

  /** A text for {@link stored}; null where the first and the last commit say all. */
  print(): string | null {
    if (this.list.length <= 1) return null;
    return this.list
      .map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`))
      .join(',');
  }
}

/** A condition on rows that those of some commits alone fulfil: a file that has none of these need not be asked. */
export interface OfCommits {
  /** Ascending. */
  readonly commits: readonly CommitRange[];
  readonly sql: string;
}

/** The rows of some commits. */
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

/** Those of the rows that fulfil a further condition, too. */
export function narrowed({ commits, sql }: OfCommits, further: string): OfCommits {
  return { commits, sql: `${sql} AND ${further}` };
}

/**
 * Conditions on `seq`, which together take the rows of all these commits, each row by one of them. Each lets a scan skip what
 * it does not ask for: DuckDB 1.5.6 does not look at zone maps for ranges with OR between them. At least one.
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
  // What two ranges that were joined have between them is asked for there.
  single = single.filter((seq) => !scans.some(({ first, last }) => seq >= first && seq <= last));
  const conditions = scans.map(({ first, last }) => ofCommitsBetween(first, last));
  if (single.length > 0 || conditions.length === 0) conditions.push(ofCommits(single));
  return conditions;
}

/** Ranges that overlap or touch, as one. */
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

/** So many at most: the gaps that stay are the widest. @param ranges ascending */
export function joinNearest(ranges: readonly CommitRange[], most: number): readonly CommitRange[] {
  if (ranges.length <= most) return ranges;
  const gapBefore = (i: number): number => (ranges[i]?.first ?? 0) - (ranges[i - 1]?.last ?? 0);
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

function isNarrow({ first, last }: CommitRange): boolean {
  return last - first < NARROW;
}

function commitsOf({ first, last }: CommitRange): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
