/** The cold file's name in SQL. */
export const COLD = 'cold';

/** A hot segment: an attached file that only ever grows, and is never checkpointed. */
export interface Segment {
  readonly number: number;
  /** Its name in SQL. */
  readonly catalog: string;
  readonly path: string;
  rows: number;
  bytes: number;
  /** The last commit in it; 0 while it is empty. */
  lastSeq: number;
  /** Rows of each table that replace older versions. */
  readonly replacing: Map<string, number>;
  /** Reads that have captured it and are not finished. */
  readers: number;
  /** Whether it was set aside: later ones are moved before it. */
  isAside: boolean;
  /** What becomes of it when its last reader is gone. */
  end: 'remove' | 'detach' | null;
}

export function newSegment(number: number, path: string): Segment {
  return {
    number,
    catalog: `g${number}`,
    path,
    rows: 0,
    bytes: 0,
    lastSeq: 0,
    replacing: new Map(),
    readers: 0,
    isAside: false,
    end: null,
  };
}

/**
 * What a read sees: of these hot segments, and of what the cold file has up to the bound, all that was committed when the
 * read began. So all statements of one read see the same.
 */
export interface Capture {
  /** Those that are set aside come first. */
  readonly hot: readonly Segment[];
  readonly bound: number;
  /** The last commit that is seen. */
  readonly lastSeq: number;
  /** Small numbers (of agents, say) up to this one may be given in a segment that cannot be read. */
  readonly lastNumber: number;
  /** Whether there are segments that are set aside, those that cannot be read included. */
  readonly isAnyAside: boolean;
  release(): void;
}
