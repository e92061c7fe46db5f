import { idOf, keyOf } from '../../../runs/rules/span-facts.js';
import type { SpanVerdict } from '../../../runs/rules/verdicts.js';
import { VERDICT_LABELS, verdictIn } from '../../../signal/score.js';
import { NEWEST_FORM_FIRST, SCORES } from '../../schema/scores-table.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** The SQL condition for scores that may decide about the success of their runs. */
export const IS_VERDICT = `lower(name) = 'success' AND trace_id IS NOT NULL`;

/** The scores that {@link verdictIn} accepts. Any other correction leaves the success of its run unchanged. */
const DECIDES = `(value IN (0, 1) OR lower(label) IN (${VERDICT_LABELS.map(literal).join(', ')}))`;

/**
 * The newest verdict about each of some traces of a user and each of their spans, in order of arrival, by trace.
 *
 * @param traceIds in the store's own format
 * @param spans keys of the spans that count, because a trace may have any number of scores
 */
export async function readVerdicts(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceIds: readonly string[],
  spans: readonly string[],
): Promise<ReadonlyMap<string, readonly SpanVerdict[]>> {
  const listed = (ids: readonly string[]): string => ids.map((id) => `'${id}'::UUID`).join(', ');
  const counts =
    spans.length === 0 ? 'span_id IS NULL' : `(span_id IS NULL OR span_id IN (${listed(spans.map(idOf))}))`;
  const where = `tenant = ${tenant} AND ${IS_VERDICT} AND ${DECIDES} AND trace_id IN (${listed(traceIds)}) AND ${counts}`;
  const rows = await connection.rows(
    `WITH scores AS (SELECT * FROM ${relation(capture, SCORES, where)} QUALIFY row_number() OVER (PARTITION BY id ORDER BY ${NEWEST_FORM_FIRST}) = 1)
      SELECT id::VARCHAR AS id, trace_id::VARCHAR AS trace_id, span_id::VARCHAR AS span_id, name, value, label, epoch_us(scored_at) AS at FROM scores
      QUALIFY row_number() OVER (PARTITION BY trace_id, span_id ORDER BY scores.scored_at DESC, scores.seq DESC, scores.id DESC) = 1 ORDER BY scores.seq, scores.id`,
  );
  const found = new Map<string, SpanVerdict[]>();
  for (const { id, trace_id, span_id, name, value, label, at } of rows) {
    const verdict = verdictIn({
      name: String(name),
      value: typeof value === 'number' ? value : null,
      label: typeof label === 'string' ? label : null,
    });
    if (verdict === null) continue;
    const span = typeof span_id === 'string' ? keyOf(span_id) : null;
    const known = found.get(String(trace_id)) ?? [];
    found.set(String(trace_id), [...known, { ...verdict, id: String(id), span, at: Number(at) }]);
  }
  return found;
}
