const MINUTE = 60_000;

/** Bucket widths in milliseconds by API name. */
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

/** Limit for added buckets; larger responses are drawn as they are. */
const LIMIT = 5000;

interface Answer {
  readonly interval: keyof typeof WIDTHS;
  readonly start_time: string;
  readonly end_time: string;
}

/**
 * The starts of all buckets of a response in milliseconds, including empty ones, which the API omits.
 * Buckets start at multiples of their width since the epoch.
 */
export function bucketTimes({ interval, start_time, end_time }: Answer): readonly number[] {
  const width = WIDTHS[interval];
  const first = Math.floor(Date.parse(start_time) / width);
  const count = Math.min(LIMIT, Math.max(0, Math.ceil(Date.parse(end_time) / width) - first));
  return Array.from({ length: count }, (_, at) => (first + at) * width);
}

/**
 * One value per time.
 *
 * @param buckets in any order
 * @param none the value without a bucket: 0 for counts and sums, null for averages
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

/** The index of the bucket that contains a time, which is the last one that starts before it; null before the first one. */
export function bucketAt(times: readonly number[], ms: number): number | null {
  const next = times.findIndex((start) => start > ms);
  const at = (next < 0 ? times.length : next) - 1;
  return at < 0 ? null : at;
}
