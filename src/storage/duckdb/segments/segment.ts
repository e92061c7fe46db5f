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
  /** For each table, how many of its rows replace older versions. */
  readonly replacing: Map<string, number>;
  /** How many reads that are not finished have captured it. */
  readers: number;
  /** Whether it was quarantined, so that later ones are moved before it. */
  isQuarantined: boolean;
  /** What happens to it when its last reader is gone. */
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
 * What a read sees: certain hot segments, and the cold file up to a bound, as far as it was committed when the read began. So all
 * statements of one read see the same.
 */
export interface Capture {
  /** Segments that are quarantined come first. */
  readonly hot: readonly Segment[];
  readonly bound: number;
  /** The last commit that is seen. */
  readonly lastSeq: number;
  /** The greatest small number (of an agent, say) that may have been given in a segment that cannot be read. */
  readonly lastNumber: number;
  /** Whether any segments are quarantined, also ones that cannot be read. */
  readonly isAnyQuarantined: boolean;
  release(): void;
}
