const MINUTE = 60_000;

/** Widths of buckets by the names that the API gives them, in milliseconds. */
const WIDTHS = {
  '1s': 1000,
  '10s': 10_000,
  '1m': MINUTE,
  '5m': 5 * MINUTE,
  '15m': 15 * MINUTE,
  '1h': 60 * MINUTE,
  '6h': 360 * MINUTE,
  '1d': 1440 * MINUTE,
} as const;

/** So many at most; an answer that asks for more is drawn as it is. */
const MOST = 5000;

interface Answer {
  readonly interval: keyof typeof WIDTHS;
  readonly start_time: string;
  readonly end_time: string;
}

/**
 * The starts of all buckets of an answer, in milliseconds, also of those in which nothing happened and which the API leaves
 * out. Buckets start at whole multiples of their width since the epoch.
 */
export function bucketTimes({ interval, start_time, end_time }: Answer): readonly number[] {
  const width = WIDTHS[interval];
  const first = Math.floor(Date.parse(start_time) / width);
  const count = Math.min(MOST, Math.max(0, Math.ceil(Date.parse(end_time) / width) - first));
  return Array.from({ length: count }, (_, at) => (first + at) * width);
}

/**
 * One value for each time.
 *
 * @param buckets in any order
 * @param none what stands where there is no bucket: 0 for counts and sums, null for what needs runs
 */
export function valuesAt<Bucket extends { readonly start: string }>(
  times: readonly number[],
  buckets: readonly Bucket[],
  value: (bucket: Bucket) => number | null,
  none: 0 | null,
): readonly (number | null)[] {
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  return times.map((time) => {
    const bucket = known.get(time);
    return bucket ? value(bucket) : none;
  });
}
