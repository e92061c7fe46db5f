/** The cold file's name in SQL. */
export const COLD = 'cold';

/** A hot segment: an attached, append-only file that is never checkpointed. */
export interface Segment {
  readonly number: number;
  /** Its name in SQL. */
  readonly catalog: string;
  readonly path: string;
  rows: number;
  bytes: number;
  /** The last commit in it; 0 while it is empty. */
  lastSeq: number;
  /** Number of rows per table that replace older versions. */
  readonly replacing: Map<string, number>;
  /** Number of running reads that captured it. */
  readers: number;
  /** Whether it was quarantined, so that later segments are compacted before it. */
  isQuarantined: boolean;
  /** Called when its last reader has finished. */
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
    isQuarantined: false,
    end: null,
  };
}

/**
 * What a read sees: certain hot segments, and the cold file up to a bound, both as committed when the read began. All statements of
 * one read see the same data.
 */
export interface Capture {
  /** Segments that are quarantined come first. */
  readonly hot: readonly Segment[];
  readonly bound: number;
  /** The last commit that is seen. */
  readonly lastSeq: number;
  /** The greatest small number (for example of an agent) that an unreadable segment may have used. */
  readonly lastNumber: number;
  /** Whether any segments are quarantined, including unreadable ones. */
  readonly isAnyQuarantined: boolean;
  release(): void;
}
