import { itemAt, doubleAt } from '../../../signal/checked.js';

/** Buckets are a 32nd of a natural logarithm wide, 3 %. */
const PER_LOGARITHM = 32;
/** Down to here buckets are told apart, in milliseconds. */
const SHORTEST_MS = 0.001;
const FIRST = -1000;
/** Behind the bucket of the longest duration that a double can hold. */
const END = 24_000;

/** How many durations lie where: numbers of buckets with how many each has, in no order. */
export interface DurationCounts {
  readonly buckets: Int16Array;
  readonly counts: Uint32Array;
}

/** Where a percentile lies. */
export interface DurationPlace {
  readonly bucket: number;
  /** How many durations the bucket has, and how many of them come before the percentile. */
  readonly count: number;
  readonly skip: number;
}

/** The bucket of a duration in SQL. A longer one is never in an earlier bucket. @param ms a column or the like */
export function durationBucket(ms: string): string {
  return `CASE WHEN ${ms} > ${SHORTEST_MS} THEN floor(ln(${ms}) * ${PER_LOGARITHM})::INTEGER ELSE ${FIRST} END`;
}

/** Adds up counts to find percentiles by nearest rank. One is used again and again, for it is large. */
export class DurationRanks {
  readonly #sums = new Float64Array(END - FIRST);
  #total = 0;
  #first = END;
  #last = FIRST;

  /** Takes some counts in place of those of before. */
  take(parts: readonly DurationCounts[]): void {
    this.#sums.fill(0, this.#first - FIRST, this.#last - FIRST + 1);
    this.#total = 0;
    this.#first = END;
    this.#last = FIRST;
    for (const { buckets, counts } of parts) {
      for (let i = 0; i < buckets.length; i++) {
        const [bucket, count] = [itemAt(buckets, i), itemAt(counts, i)];
        this.#sums[bucket - FIRST] = doubleAt(this.#sums, bucket - FIRST) + count;
        this.#total += count;
        if (bucket < this.#first) this.#first = bucket;
        if (bucket > this.#last) this.#last = bucket;
      }
    }
  }

  /** @param percent a whole number @returns null where there are no durations */
  find(percent: number): DurationPlace | null {
    if (this.#total === 0) return null;
    const rank = Math.max(1, Math.ceil((this.#total * percent) / 100));
    let before = 0;
    for (let bucket = this.#first; bucket <= this.#last; bucket++) {
      const count = doubleAt(this.#sums, bucket - FIRST);
      if (before + count >= rank) return { bucket, count, skip: rank - 1 - before };
      before += count;
    }
    throw new Error('the counts of durations do not add up');
  }
}
