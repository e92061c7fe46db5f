import { MOST_SCORES, type StoredScore } from '../../contracts/runs.js';
import { IS_GIVEN } from '../../shared/score-groups.js';
import { SHOWN_SCORE, storedScore } from '../../shared/stored-score.js';
import { quoted } from '../client/literals.js';
import type { Reads } from '../client/reads.js';
import { NO_TRACE } from '../tables/score-tables.js';
import type { ScoreCondition } from '../../contracts/scores.js';
import { effectiveSpans } from './effective-spans-sql.js';

const SHOWN = SHOWN_SCORE.filter((name) => name !== 'span_id')
  .map((name) => `s.${name} AS ${name}`)
  .join(', ');

/**
 * The scores of a trace.
 *
 * @param spans SQL condition for the rows of its spans; null for a trace that is not stored
 */
export async function readScores(
  reads: Reads,
  {
    tenant,
    traceId,
    spans,
  }: { readonly tenant: number; readonly traceId: string; readonly spans: string | null },
  abort?: AbortSignal,
): Promise<readonly StoredScore[]> {
  const isOfTrace = `trace_id = '${traceId}' AND trace_id != '${NO_TRACE}'`;
  // Most users have no such scores; then the spans are not read.
  const [one] =
    spans === null
      ? []
      : await reads.rows(
          `SELECT 1 FROM scores WHERE tenant = ${String(tenant)} AND trace_id = '${NO_TRACE}' AND isNotNull(response_key) LIMIT 1`,
          abort,
        );
  // If several spans report one response, the counted one is judged.
  const responses = `SELECT splitByChar('.', ifNull(call_key, ''))[4] AS key, argMin(span_id, (isNotNull(same_as), started_at, toUInt128(span_id))) AS span_id
    FROM (SELECT span_id, call_key, same_as, started_at FROM spans WHERE ${one === undefined ? 'false' : String(spans)} ORDER BY seq, version DESC LIMIT 1 BY span_id)
    WHERE key != '' GROUP BY key`;
  const isOfResponse = `trace_id = '${NO_TRACE}' AND response_key IN (SELECT key FROM (${responses}))`;
  const where = one === undefined ? isOfTrace : `(${isOfTrace}) OR (${isOfResponse})`;
  // `PREWHERE`: otherwise, `FINAL` reads all columns of the user's scores of responses. Rows with the same id have the same response.
  const found = `SELECT * FROM scores FINAL PREWHERE tenant = ${String(tenant)} AND (${where})`;
  const rows = await reads.rows(
    `SELECT ${SHOWN}, if(isNull(s.span_id) AND r.key != '', toNullable(r.span_id), s.span_id) AS span_id
     FROM (${found}) AS s LEFT JOIN (${responses}) AS r ON r.key = ifNull(s.response_key, '')
     ORDER BY s.scored_at DESC, toUInt128(s.id) DESC LIMIT 1 BY s.id LIMIT ${String(MOST_SCORES)}`,
    abort,
  );
  return rows.map(storedScore).reverse();
}

/** The scores of a session that name no run and no response. */
export async function readSessionScores(
  reads: Reads,
  { tenant, sessionId }: { readonly tenant: number; readonly sessionId: string },
  abort?: AbortSignal,
): Promise<readonly StoredScore[]> {
  const isOfSession = `trace_id = '${NO_TRACE}' AND isNull(response_key) AND session_id = ${quoted(sessionId)}`;
  const rows = await reads.rows(
    `SELECT ${SHOWN}, s.span_id AS span_id FROM scores AS s FINAL PREWHERE tenant = ${String(tenant)} AND ${isOfSession}
     ORDER BY s.scored_at DESC, toUInt128(s.id) DESC LIMIT 1 BY s.id LIMIT ${String(MOST_SCORES)}`,
    abort,
  );
  return rows.map(storedScore).reverse();
}

/** Selects scores. */
interface WantedScores {
  readonly name?: string;
  /** Any other condition on the columns of `scores`. */
  readonly test?: string;
  /** SQL for the ids of the runs. */
  readonly runs?: string;
}

/** The conditions for runs with certain scores; none without such a filter. */
export function hasScores(tenant: number, conditions: readonly ScoreCondition[] = []): string[] {
  return conditions.map((condition) => {
    const scores = scoresOfRuns(tenant, { name: condition.name, test: testOf(condition) });
    return `trace_id ${condition.kind === 'none' ? 'NOT IN' : 'IN'} (SELECT trace_id FROM ${scores})`;
  });
}

function testOf(condition: ScoreCondition): string {
  switch (condition.kind) {
    case 'value':
      return `value ${condition.operator} toFloat64(${condition.value})`;
    case 'label':
      return `label ${condition.operator} ${quoted(condition.label)}`;
    default:
      return 'true';
  }
}

/**
 * The scores of runs, of their spans and of their responses, each in its newest form and without failed ones: a relation of `trace_id`, `span_id`, `id`, `name`,
 * `value`, `label`, `scored_at` and `received_at`.
 */
export function scoresOfRuns(tenant: number, { name, test = 'true', runs }: WantedScores): string {
  const where = `tenant = ${tenant} AND ${name === undefined ? 'true' : `name = ${quoted(name)}`} AND ${IS_GIVEN} AND ${test}`;
  const isOf = runs === undefined ? 'true' : `trace_id IN (${runs})`;
  const columns = 'id, name, value, label, scored_at, received_at';
  const ofResponses = `SELECT ${columns}, span_id, ifNull(response_key, '') AS key FROM scores FINAL WHERE ${where} AND trace_id = '${NO_TRACE}' AND isNotNull(response_key)`;
  // Constant, so that the spans are not read for the many users without such scores.
  const isAny = `(SELECT count() FROM scores WHERE tenant = ${tenant} AND trace_id = '${NO_TRACE}' AND isNotNull(response_key)) > 0`;
  // If several spans of a run report one response, the counted one is judged.
  const spans = `SELECT trace_id, splitByChar('.', ifNull(call_key, ''))[4] AS key, argMin(span_id, (isNotNull(same_as), started_at, toUInt128(span_id))) AS span_id
    FROM ${effectiveSpans(tenant, {}, ['call_key', 'same_as'], `${isAny} AND ${isOf}`)} WHERE key != '' GROUP BY trace_id, key`;
  return `(SELECT trace_id, span_id, ${columns} FROM scores FINAL WHERE ${where} AND trace_id != '${NO_TRACE}' AND ${isOf}
    UNION ALL SELECT p.trace_id, toNullable(p.span_id), ${columns} FROM (${ofResponses}) AS s INNER JOIN (${spans}) AS p ON p.key = s.key)`;
}
