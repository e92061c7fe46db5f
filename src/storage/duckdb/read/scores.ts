import { MOST_SCORES, type StoredScore } from '../../contracts/runs.js';
import { SCORES } from '../../schema/scores-table.js';
import { SPANS } from '../../schema/tables.js';
import { SHOWN_SCORE, storedScore } from '../../shared/stored-score.js';
import { literal } from '../files/database.js';
import type { Connection } from '../files/connection.js';
import { conditionsOn, narrowed } from '../segments/commit-ranges.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { SpansOfTrace } from './trace.js';

const SHOWN = ['response_key', ...SHOWN_SCORE].map((name) => `${sqlOf(name)} AS ${name}`).join(', ');

/**
 * The scores of a trace. Without an index: users have far fewer scores than spans. Two conditions, each on one column, take a third of the
 * time of one that joins.
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
  const responses = new Map<string, string>();
  if (spans !== null) {
    const where = conditionsOn([spans.commits]).map((seqs) =>
      narrowed(seqs, `${isOfTrace} AND call_key IS NOT NULL`),
    );
    // Of several spans that report one response, the one that counts.
    const found = await connection.rows(
      `SELECT split_part(call_key, '.', 4) AS key, arg_min(span_id, (same_as IS NOT NULL, started_at, span_id))::VARCHAR AS span_id
        FROM ${newest(capture, SPANS, where)} GROUP BY key HAVING key <> ''`,
    );
    for (const { key, span_id } of found) responses.set(String(key), String(span_id));
  }
  const parts = [relation(capture, SCORES, isOfTrace)];
  if (responses.size > 0) {
    const keys = [...responses.keys()].map(literal).join(', ');
    const isOfResponse = `tenant = ${tenant} AND trace_id IS NULL AND response_key IN (${keys})`;
    parts.push(relation(capture, SCORES, isOfResponse));
  }
  const all = parts.map((part) => `SELECT * FROM ${part}`).join(' UNION ALL ');
  const rows = await connection.rows(
    `SELECT ${SHOWN} FROM (${all}) QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1
      ORDER BY scored_at DESC, id DESC LIMIT ${MOST_SCORES}`,
  );
  return rows.map((row) => ({ ...storedScore(row), span_id: spanOf(row, responses) })).reverse();
}

function spanOf(
  { span_id, response_key }: Readonly<Record<string, unknown>>,
  responses: ReadonlyMap<string, string>,
): string | null {
  if (typeof span_id === 'string') return span_id;
  return responses.get(String(response_key)) ?? null;
}

function sqlOf(name: string): string {
  if (name === 'id' || name === 'span_id') return `${name}::VARCHAR`;
  return name === 'scored_at' ? 'epoch_us(scored_at)' : name;
}
