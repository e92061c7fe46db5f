import type { JsonObject, JsonValue } from '../../../signal/attributes.js';

/** A range of values, and the number of values in it. */
interface Bucket {
  readonly low: number;
  readonly high: number;
  count: number;
}

/** The parsed value of a distribution point. */
export interface Distribution {
  readonly count: number;
  readonly sum: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly buckets: readonly Bucket[];
}

/**
 * Parses a stored histogram or exponential histogram; of a summary, only count and sum.
 *
 * @param isCumulative whether the extremes cover more than one step, so that they are ignored
 */
export function distributionOf(stored: JsonObject, isCumulative: boolean): Distribution {
  const min = isCumulative ? null : numberIn(stored.min);
  const max = isCumulative ? null : numberIn(stored.max);
  const range = { min: min ?? -Infinity, max: max ?? Infinity };
  const buckets = stored.scale === undefined ? explicitBuckets(stored, range) : exponentialBuckets(stored);
  return { count: numberIn(stored.count) ?? 0, sum: numberIn(stored.sum), min, max, buckets };
}

type Range = { readonly min: number; readonly max: number };

function explicitBuckets(stored: JsonObject, { min, max }: Range): Bucket[] {
  const bounds = numbersIn(stored.explicit_bounds);
  const counts = numbersIn(stored.bucket_counts);
  return counts.flatMap((count, at): Bucket[] => {
    if (count === 0) return [];
    const [below, above] = [bounds[at - 1], bounds[at]];
    // The outer buckets are open: they end at the extremes, if known.
    const low = below ?? (Number.isFinite(min) ? Math.min(min, above ?? min) : Math.min(0, above ?? 0));
    const high = above ?? (Number.isFinite(max) ? Math.max(max, low) : low);
    return [{ low, high, count }];
  });
}

function exponentialBuckets(stored: JsonObject): Bucket[] {
  const base = 2 ** (2 ** -(numberIn(stored.scale) ?? 0));
  const side = (value: JsonValue | undefined, sign: 1 | -1): Bucket[] => {
    const { offset, bucket_counts } = isObject(value) ? value : {};
    return numbersIn(bucket_counts).flatMap((count, at): Bucket[] => {
      if (count === 0) return [];
      const index = (numberIn(offset) ?? 0) + at;
      const [near, far] = [base ** index, base ** (index + 1)];
      return [sign === 1 ? { low: near, high: far, count } : { low: -far, high: -near, count }];
    });
  };
  const zeros = numberIn(stored.zero_count) ?? 0;
  const wide = numberIn(stored.zero_threshold) ?? 0;
  const zero = zeros === 0 ? [] : [{ low: -wide, high: wide, count: zeros }];
  return [...side(stored.negative, -1), ...zero, ...side(stored.positive, 1)];
}

/** The increase of a cumulative distribution since the previous point. If their bounds differ, the buckets are omitted. */
export function since(before: Distribution, now: Distribution): Distribution {
  const known = new Map(before.buckets.map((bucket) => [keyOf(bucket), bucket.count]));
  const buckets: Bucket[] = [];
  let isSame = true;
  for (const bucket of now.buckets) {
    const count = bucket.count - (known.get(keyOf(bucket)) ?? 0);
    known.delete(keyOf(bucket));
    if (count < 0) isSame = false;
    if (count > 0) buckets.push({ ...bucket, count });
  }
  const sum = now.sum === null || before.sum === null ? null : now.sum - before.sum;
  const isComplete = isSame && known.size === 0;
  return { count: now.count - before.count, sum, min: null, max: null, buckets: isComplete ? buckets : [] };
}

function keyOf({ low, high }: Bucket): string {
  return `${low} ${high}`;
}

/** Combined buckets of any number of distributions. */
export class BucketSums {
  readonly #buckets = new Map<string, Bucket>();

  add(buckets: readonly Bucket[]): void {
    for (const bucket of buckets) {
      const key = keyOf(bucket);
      const known = this.#buckets.get(key);
      if (known === undefined) this.#buckets.set(key, { ...bucket });
      else known.count += bucket.count;
    }
  }

  /**
   * The quantile of all values, assuming that values are evenly distributed within their bucket. An estimate if distributions had
   * different bounds.
   *
   * @returns null without values
   */
  quantile(share: number): number | null {
    const inOrder = [...this.#buckets.values()].sort((a, b) => a.high - b.high || a.low - b.low);
    const rank = share * inOrder.reduce((sum, { count }) => sum + count, 0);
    let below = 0;
    for (const { low, high, count } of inOrder) {
      if (below + count >= rank && count > 0) return low + (high - low) * ((rank - below) / count);
      below += count;
    }
    return inOrder.at(-1)?.high ?? null;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Numbers beyond 2^53 and those that JSON lacks are stored as strings. */
function numberIn(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function numbersIn(value: JsonValue | undefined): number[] {
  return Array.isArray(value) ? value.map((each) => numberIn(each) ?? 0) : [];
}
