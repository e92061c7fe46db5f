import { idOf, keyOf } from '../../../runs/rules/span-facts.js';
import type { SpanVerdict } from '../../../runs/rules/verdicts.js';
import { verdictIn } from '../../../signal/score.js';
import { SCORES } from '../../schema/scores-table.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** The SQL condition for scores that may decide about the success of their runs. */
export const IS_VERDICT = `lower(name) = 'success' AND trace_id IS NOT NULL`;

/** Rows that are read for each run or span: the newest ones that say something decide. */
const MOST_READ = 20;

/**
 * The verdicts about some traces of a user and their spans, in order of arrival, by trace.
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
  const where = `tenant = ${tenant} AND ${IS_VERDICT} AND trace_id IN (${listed(traceIds)}) AND ${counts}`;
  const rows = await connection.rows(
    `SELECT trace_id::VARCHAR AS trace_id, span_id::VARCHAR AS span_id, name, value, label, epoch_us(scored_at) AS at FROM ${relation(capture, SCORES, where)}
      QUALIFY row_number() OVER (PARTITION BY trace_id, span_id ORDER BY scored_at DESC, seq DESC, id DESC) <= ${MOST_READ} ORDER BY seq, id`,
  );
  const found = new Map<string, SpanVerdict[]>();
  for (const { trace_id, span_id, name, value, label, at } of rows) {
    const verdict = verdictIn({
      name: String(name),
      value: typeof value === 'number' ? value : null,
      label: typeof label === 'string' ? label : null,
    });
    if (verdict === null) continue;
    const span = typeof span_id === 'string' ? keyOf(span_id) : null;
    const known = found.get(String(trace_id)) ?? [];
    found.set(String(trace_id), [...known, { ...verdict, span, at: Number(at) }]);
  }
  return found;
}
