import { BUCKETS_PER_OCTAVE, SHORTEST_MICROS } from '../../../signal/span-grade.js';

/** The number of failed spans, over rows with `grade` and `spans`, one per grade; null if some spans were counted without a grade. */
export const ERRORS = `CASE WHEN coalesce(bool_or(grade IS NULL AND spans <> 0), FALSE) THEN NULL
  ELSE coalesce(sum(spans) FILTER (grade & 1 = 1), 0) END`;

/** The share of spans that are at least as fast. */
const P95 = 0.95;

/**
 * Stats of nodes or edges: `keys`, `error_count`, and `p95_ms` as JSON in the format of the API.
 *
 * @param graded a relation with `keys`, `grade` and `spans`, one row for each grade
 * @param keys columns
 */
export function statsOf(graded: string, keys: string): string {
  const buckets = `SELECT ${keys}, grade // 2 AS bucket, sum(spans) AS n FROM ${graded} WHERE grade > 1 GROUP BY ALL HAVING n > 0`;
  const ranked = `SELECT *, sum(n) OVER (PARTITION BY ${keys} ORDER BY bucket ROWS UNBOUNDED PRECEDING) AS upto,
      ceil(${P95} * sum(n) OVER (PARTITION BY ${keys})) AS nth FROM (${buckets})`;
  // Assumes that the spans of a bucket are evenly distributed.
  const octaves = `(bucket - 1 + (nth - 0.5 - (upto - n)) / n) / ${BUCKETS_PER_OCTAVE}`;
  const p95 = `SELECT ${keys}, round(${SHORTEST_MICROS / 1000} * pow(2, ${octaves}), 3) AS p95 FROM (${ranked}) WHERE upto >= nth AND upto - n < nth`;
  const errors = `SELECT ${keys}, (${ERRORS})::BIGINT AS error_count FROM ${graded} GROUP BY ALL`;
  return `SELECT *, CASE WHEN error_count IS NOT NULL THEN regexp_replace(p95::VARCHAR, '\\.0$', '')::JSON END AS p95_ms
    FROM (${errors}) LEFT JOIN (${p95}) USING (${keys})`;
}
