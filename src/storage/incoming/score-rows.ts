import { responseKey } from '../../signal/call-key.js';
import { serializeJson } from '../../signal/json.js';
import type { LogRecord } from '../../signal/log-record.js';
import { loggedScore, SCORE_SOURCES, verdictIn, type ScoreRecord, type Verdict } from '../../signal/score.js';
import type { Micros } from '../../signal/time.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { RowOf } from '../../worker/columns.js';
import { SCORE_WIRE } from '../schema/scores-table.js';

/** A score as every engine stores it. */
export type ScoreRow = RowOf<typeof SCORE_WIRE>;

/** The scores that came with the spans of a batch. Of several with the same id, the last. */
export function scoresOfTraces(items: readonly TraceRecord[]): readonly ScoreRow[] {
  const rows: ScoreRow[] = [];
  for (const { spans } of items)
    for (const { scores } of spans) if (scores !== null) rows.push(...scores.map(rowOf));
  return lastOfIds(rows);
}

/** The scores that the records of a batch report. Of several with the same id, the last. */
export function scoresOfLogs(items: readonly LogRecord[], receivedAt: Micros): readonly ScoreRow[] {
  const rows = items.flatMap((record) => {
    const score = loggedScore(record, receivedAt);
    return score === null ? [] : rowOf(score);
  });
  return lastOfIds(rows);
}

/** The traces that some scores name. */
export function tracesOfScores(rows: readonly ScoreRow[]): ReadonlySet<string> {
  return new Set(rows.flatMap(({ trace_id }) => trace_id ?? []));
}

/** The approximate size of the texts of a score that may be long. */
export function textBytes({ comment, metadata }: Pick<ScoreRow, 'comment' | 'metadata'>): number {
  return (comment?.length ?? 0) + (metadata?.length ?? 0);
}

function rowOf({ source, at, metadata, ...score }: ScoreRecord): ScoreRow {
  const { response_id } = score;
  return {
    ...score,
    metadata: metadata === null ? null : serializeJson(metadata),
    response_key: response_id === null ? null : responseKey(response_id),
    source: SCORE_SOURCES.indexOf(source),
    scored_at: at,
  };
}

/** Rows of an export, which have other columns as well. Of several with the same id, the last. */
export function exportedScores(rows: readonly Readonly<Record<string, unknown>>[]): readonly ScoreRow[] {
  const scores = rows.map((row) => SCORE_WIRE.map(({ name }) => [name, row[name] ?? null]));
  return lastOfIds(scores.map((fields) => Object.fromEntries(fields) as unknown as ScoreRow));
}

/** Rows of one write have no order in the store, so each id is written once. */
function lastOfIds(rows: readonly ScoreRow[]): readonly ScoreRow[] {
  const last = new Map(rows.map((row) => [row.id, row]));
  return last.size === rows.length ? rows : rows.filter((row) => last.get(row.id) === row);
}

/** A verdict about a run. */
export interface RunVerdict extends Verdict {
  /** Of its score. */
  readonly id: string;
  readonly traceId: string;
  /** Counts if this is the root. Null: for the run. */
  readonly spanId: string | null;
  readonly at: Micros;
}

/** The verdicts among scores. */
export function verdictsIn(scores: readonly ScoreRow[]): readonly RunVerdict[] {
  return scores.flatMap((score) => {
    const { id, trace_id: traceId, span_id: spanId, scored_at: at } = score;
    const verdict = traceId === null ? null : verdictIn(score);
    return verdict === null || traceId === null ? [] : { ...verdict, id, traceId, spanId, at };
  });
}
