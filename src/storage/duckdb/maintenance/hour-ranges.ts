import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import { TRACES } from '../../schema/tables.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { hourOf } from '../../../signal/trace-map.js';

/** Hours since 1970, from the first (included) to the second (excluded); infinite at the ends. */
export interface HourRange {
  readonly from: number;
  readonly before: number;
}

/**
 * Divides time into ranges of hours by the size of the mapped traces that started in them.
 *
 * @param size spans and traces per range; more if one hour has more
 * @returns the ranges, and the number of all traces, mapped or not
 */
export async function hourRanges(
  connection: Connection,
  capture: Capture,
  size: number,
): Promise<{ readonly ranges: readonly HourRange[]; readonly traces: number }> {
  const bounds = [-Infinity];
  let traces = 0;
  let weight = 0;
  const chunks = connection.wholeChunks(
    `SELECT date_trunc('hour', started_at) AS start, count(*), coalesce(sum(span_count + 1) FILTER (WHERE is_mapped), 0)::BIGINT
     FROM ${newest(capture, TRACES)} GROUP BY start ORDER BY start`,
  );
  for await (const chunk of chunks) {
    const starts = chunk.words(0, 8);
    const counts = chunk.words(1, 8);
    const weights = chunk.words(2, 8);
    for (let row = 0; row < chunk.rows; row++) {
      traces += int64At(counts, row);
      const more = int64At(weights, row);
      if (weight > 0 && weight + more > size) {
        bounds.push(hourOf(int64At(starts, row)));
        weight = 0;
      }
      weight += more;
    }
  }
  const ranges = bounds.map((from, i) => ({ from, before: bounds[i + 1] ?? Infinity }));
  return { ranges, traces };
}
