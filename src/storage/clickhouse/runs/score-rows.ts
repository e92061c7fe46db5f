import type { Micros } from '../../../signal/time.js';
import { ROW_BYTES } from '../../contracts/telemetry-writer.js';
import { textBytes, type ScoreRow } from '../../incoming/score-rows.js';
import { dayOf } from '../tables/days.js';
import { NO_TRACE } from '../tables/score-tables.js';
import type { NewRow } from '../tables/table.js';

/** Scores as rows of `SCORES`, and their approximate bytes. */
export function scoreRows(
  tenant: number,
  scores: readonly ScoreRow[],
  arrived: Micros,
): { readonly rows: readonly NewRow[]; readonly bytes: number } {
  let all = 0;
  const rows = scores.map(({ trace_id, ...score }): NewRow => {
    const bytes = textBytes(score);
    all += ROW_BYTES.score + bytes;
    return {
      tenant,
      day: dayOf(score.scored_at, arrived),
      trace_id: trace_id ?? NO_TRACE,
      received_at: arrived,
      bytes,
      ...score,
    };
  });
  return { rows, bytes: all };
}
