import { SCORES } from '../../schema/scores-table.js';
import { ROW_BYTES } from '../../contracts/telemetry-writer.js';
import { textBytes, verdictsIn, type ScoreRow } from '../../incoming/score-rows.js';
import { TraceId } from '../segments/trace-id.js';
import type { Append, TraceChange } from './change.js';
import { objectRows, type Rows } from './rows.js';

/** Records traces with data that arrived separately from their spans. */
export interface NotedTraces {
  /** @param words the trace's id, from `offset` on */
  put(tenant: number, words: Uint32Array, offset: number, seq: number): void;
}

/** The rows of scores in the commit `seq`. */
export function scoreRows(seq: number, tenant: number, scores: readonly ScoreRow[]): Rows[] {
  return objectRows(
    SCORES,
    scores.map((score) => ({ seq, tenant, ...score })),
  );
}

/** Notes the traces of scores that decide about the success of a run. */
export function noteVerdicts(
  noted: NotedTraces,
  tenant: number,
  scores: readonly ScoreRow[],
  seq: number,
): void {
  for (const { traceId } of verdictsIn(scores)) noted.put(tenant, new TraceId(traceId).words, 0, seq);
}

interface Judging {
  readonly writer: { write(change: TraceChange): Promise<unknown> };
  /** The stored traces. */
  readonly traces: { find(tenant: number, words: Uint32Array, offset: number): number };
}

/** Applies scores, once stored, to the success of their runs. Runs that are not stored yet are judged when they arrive. */
export async function judgeRuns(
  { writer, traces }: Judging,
  tenant: number,
  scores: readonly ScoreRow[],
): Promise<void> {
  const judged = new Set(verdictsIn(scores).map(({ traceId }) => traceId));
  const stored = [...judged]
    .map((id) => new TraceId(id).words)
    .filter((words) => traces.find(tenant, words, 0) > 0);
  await Promise.all(stored.map((words) => writer.write({ kind: 'judge', tenant, words })));
}

/** Scores written alone, without spans or log records. */
export class IncomingScores implements Append {
  readonly bytes: number;
  readonly weight: number;
  readonly counted = null;
  readonly items = 0;
  readonly buffers = [];
  readonly #tenant: number;
  readonly #scores: readonly ScoreRow[];
  readonly #verdicts: NotedTraces;
  #seq = 0;

  /** @param verdicts records traces with scores that decide about their success */
  constructor(tenant: number, scores: readonly ScoreRow[], verdicts: NotedTraces) {
    this.#verdicts = verdicts;
    this.#tenant = tenant;
    this.#scores = scores;
    this.weight = scores.length;
    this.bytes = scores.reduce((sum, score) => sum + ROW_BYTES.score + textBytes(score), 0);
  }

  rows(seq: number): Rows[] {
    this.#seq = seq;
    return scoreRows(seq, this.#tenant, this.#scores);
  }

  committed(): void {
    noteVerdicts(this.#verdicts, this.#tenant, this.#scores, this.#seq);
  }

  rolledBack(): void {
    // Nothing in memory depends on scores.
  }
}
