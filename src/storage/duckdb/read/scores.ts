import { MOST_SCORES, type StoredScore } from '../../contracts/runs.js';
import { NEWEST_FORM_FIRST, SCORES } from '../../schema/scores-table.js';
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
 * The scores of a trace. There is no index, because users have far fewer scores than spans. Two conditions on one column each take a third
 * of the time of a join.
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
  const ofResponses = `tenant = ${tenant} AND trace_id IS NULL AND response_key IS NOT NULL`;
  // Most users have no such scores; then the spans are not read.
  const [one] =
    spans === null
      ? []
      : await connection.rows(`SELECT 1 FROM ${relation(capture, SCORES, ofResponses)} LIMIT 1`);
  if (spans !== null && one !== undefined) {
    const where = conditionsOn([spans.commits]).map((seqs) =>
      narrowed(seqs, `${isOfTrace} AND call_key IS NOT NULL`),
    );
    // If several spans report one response, the counted one is judged.
    const found = await connection.rows(
      `SELECT split_part(call_key, '.', 4) AS key, arg_min(span_id, (same_as IS NOT NULL, started_at, span_id))::VARCHAR AS span_id
        FROM ${newest(capture, SPANS, where)} GROUP BY key HAVING key <> ''`,
    );
    for (const { key, span_id } of found) responses.set(String(key), String(span_id));
  }
  const parts = [relation(capture, SCORES, isOfTrace)];
  if (responses.size > 0) {
    const keys = [...responses.keys()].map(literal).join(', ');
    parts.push(relation(capture, SCORES, `${ofResponses} AND response_key IN (${keys})`));
  }
  const rows = await newestScores(connection, parts);
  return rows.map((row) => ({ ...storedScore(row), span_id: spanOf(row, responses) }));
}

/** The scores of a session that name no run and no response. */
export async function readSessionScores(
  connection: Connection,
  capture: Capture,
  tenant: number,
  sessionId: string,
): Promise<readonly StoredScore[]> {
  const where = `tenant = ${tenant} AND trace_id IS NULL AND response_key IS NULL AND session_id = ${literal(sessionId)}`;
  return (await newestScores(connection, [relation(capture, SCORES, where)])).map(storedScore);
}

/** The newest scores of some relations, by time, then id; of rows with the same id the newest. */
async function newestScores(
  connection: Connection,
  relations: readonly string[],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const all = relations.map((part) => `SELECT * FROM ${part}`).join(' UNION ALL ');
  const rows = await connection.rows(
    `SELECT ${SHOWN} FROM (${all}) QUALIFY row_number() OVER (PARTITION BY id ORDER BY ${NEWEST_FORM_FIRST}) = 1
      ORDER BY scored_at DESC, id DESC LIMIT ${MOST_SCORES}`,
  );
  return rows.reverse();
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
