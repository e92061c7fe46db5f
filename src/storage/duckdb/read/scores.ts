import { MOST_SCORES, type StoredScore } from '../../contracts/runs.js';
import { SCORES } from '../../schema/scores-table.js';
import { SPANS } from '../../schema/tables.js';
import { SHOWN_SCORE, storedScore } from '../../shared/stored-score.js';
import type { Connection } from '../files/connection.js';
import { conditionsOn, narrowed } from '../segments/commit-ranges.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { SpansOfTrace } from './trace.js';

const SHOWN = SHOWN_SCORE.map((name) => `${sqlOf(name)} AS ${name}`).join(', ');

/**
 * The scores of a trace. Without an index: users have far fewer scores than spans.
 *
 * @param spans null for a trace that is not stored
 */
export async function readScores(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  spans: Pick<SpansOfTrace, 'commits'> | null,
): Promise<readonly StoredScore[]> {
  const isOfTrace = `tenant = ${tenant} AND trace_id = '${traceId}'::UUID`;
  const where =
    spans &&
    conditionsOn([spans.commits]).map((seqs) => narrowed(seqs, `${isOfTrace} AND call_key IS NOT NULL`));
  // Of several spans that report one response, the one that counts.
  const responses =
    where === null
      ? '(SELECT NULL::VARCHAR AS key, NULL::UUID AS span_id)'
      : `(SELECT split_part(call_key, '.', 4) AS key, arg_min(span_id, (same_as IS NOT NULL, started_at, span_id)) AS span_id
          FROM ${newest(capture, SPANS, where)} GROUP BY key)`;
  const found = relation(
    capture,
    SCORES,
    `tenant = ${tenant} AND (trace_id IS NULL OR trace_id = '${traceId}'::UUID)`,
  );
  const rows = await connection.rows(
    `SELECT ${SHOWN}, coalesce(s.span_id, r.span_id)::VARCHAR AS span_id FROM ${found} s
      LEFT JOIN ${responses} r ON r.key = s.response_key
      WHERE s.trace_id IS NOT NULL OR r.key IS NOT NULL
      QUALIFY row_number() OVER (PARTITION BY s.id ORDER BY s.seq DESC) = 1
      ORDER BY s.scored_at DESC, s.id DESC LIMIT ${MOST_SCORES}`,
  );
  return rows.map(storedScore).reverse();
}

function sqlOf(name: (typeof SHOWN_SCORE)[number]): string {
  if (name === 'id') return 's.id::VARCHAR';
  return name === 'scored_at' ? 'epoch_us(s.scored_at)' : `s.${name}`;
}
