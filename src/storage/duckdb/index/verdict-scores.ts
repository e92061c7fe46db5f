import { keyOf } from '../../../runs/rules/span-facts.js';
import type { SpanVerdict } from '../../../runs/run-messages.js';
import { verdictIn } from '../../../signal/score.js';
import { SCORES } from '../../schema/scores-table.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** The SQL condition for scores that may decide about the success of their runs. */
export const IS_VERDICT = `lower(name) = 'success' AND trace_id IS NOT NULL`;

/**
 * The verdicts about some traces of a user, in order of arrival, by trace.
 *
 * @param traceIds in the store's own format
 */
export async function readVerdicts(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SpanVerdict[]>> {
  const ids = traceIds.map((id) => `'${id}'::UUID`).join(', ');
  const rows = await connection.rows(
    `SELECT trace_id::VARCHAR AS trace_id, span_id::VARCHAR AS span_id, name, value, label
      FROM ${relation(capture, SCORES, `tenant = ${tenant} AND ${IS_VERDICT} AND trace_id IN (${ids})`)} ORDER BY seq, id`,
  );
  const found = new Map<string, SpanVerdict[]>();
  for (const { trace_id, span_id, name, value, label } of rows) {
    const verdict = verdictIn({
      name: String(name),
      value: typeof value === 'number' ? value : null,
      label: typeof label === 'string' ? label : null,
    });
    if (verdict === null) continue;
    const span = typeof span_id === 'string' ? keyOf(span_id) : null;
    const known = found.get(String(trace_id));
    if (known === undefined) found.set(String(trace_id), [{ ...verdict, span }]);
    else known.push({ ...verdict, span });
  }
  return found;
}
