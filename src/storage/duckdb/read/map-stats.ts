import {
  COARSE_MICROS,
  COARSE_PER_OCTAVE,
  FINE_GRADES,
  FINE_PER_OCTAVE,
} from '../../../signal/span-grade.js';

/** The number of failed spans, over rows with `grade` and `spans`, one per grade; null if some spans were counted without a grade. */
export const ERRORS = `CASE WHEN coalesce(bool_or(grade IS NULL AND spans <> 0), FALSE) THEN NULL
  ELSE coalesce(sum(spans) FILTER (grade & 1 = 1), 0) END`;

/** `microsOf` (signal/span-grade.ts) in SQL. */
const MICROS = `CASE WHEN grade < ${FINE_GRADES} THEN ${COARSE_MICROS} * pow(2, (grade // 2 - 0.5) / ${COARSE_PER_OCTAVE})
  WHEN grade < ${FINE_GRADES + 2} THEN 0
  ELSE pow(2, ((grade - ${FINE_GRADES}) // 2 - 0.5) / ${FINE_PER_OCTAVE}) END`;

/**
 * Stats of nodes or edges: `keys`, `error_count`, and `p95_ms` as JSON in the format of the API.
 *
 * @param graded a relation with `keys`, `grade` and `spans`, one row for each grade
 * @param keys columns
 */
export function statsOf(graded: string, keys: string): string {
  const durations = `SELECT ${keys}, ${MICROS} AS micros, sum(spans) AS n FROM ${graded} WHERE grade > 1 GROUP BY ALL HAVING n > 0`;
  const ranked = `SELECT *, sum(n) OVER (PARTITION BY ${keys} ORDER BY micros ROWS UNBOUNDED PRECEDING) - n AS below,
      0.95::DOUBLE * (sum(n) OVER (PARTITION BY ${keys}) - 1) AS rank FROM (${durations})`;
  // Interpolates between the values at the two nearest ranks, as quantile_cont does.
  const nearest = `SELECT ${keys}, rank, max(micros) FILTER (below <= floor(rank)) AS lower, max(micros) FILTER (below <= ceil(rank)) AS upper
    FROM (${ranked}) GROUP BY ALL`;
  const p95 = `SELECT ${keys}, round((lower + (upper - lower) * (rank - floor(rank))) / 1000, 3) AS p95 FROM (${nearest})`;
  const errors = `SELECT ${keys}, (${ERRORS})::BIGINT AS error_count FROM ${graded} GROUP BY ALL`;
  return `SELECT *, CASE WHEN error_count IS NOT NULL THEN regexp_replace(p95::VARCHAR, '\\.0$', '')::JSON END AS p95_ms
    FROM (${errors}) LEFT JOIN (${p95}) USING (${keys})`;
}
