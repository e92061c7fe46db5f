import { SCORES } from '../../schema/scores-table.js';
import { ROW_BYTES } from '../../contracts/telemetry-writer.js';
import type { ScoreRow } from '../../incoming/score-rows.js';
import type { Append } from './change.js';
import { objectRows, type Rows } from './rows.js';

/** The rows of scores in the commit `seq`. */
export function scoreRows(seq: number, tenant: number, scores: readonly ScoreRow[]): Rows[] {
  return objectRows(
    SCORES,
    scores.map((score) => ({ seq, tenant, ...score })),
  );
}

/** Scores that come without spans or log records. */
export class IncomingScores implements Append {
  readonly bytes: number;
  readonly weight: number;
  readonly counted = null;
  readonly items = 0;
  readonly buffers = [];
  readonly #tenant: number;
  readonly #scores: readonly ScoreRow[];

  constructor(tenant: number, scores: readonly ScoreRow[]) {
    this.#tenant = tenant;
    this.#scores = scores;
    this.weight = scores.length;
    this.bytes = scores.reduce((sum, { comment }) => sum + ROW_BYTES.score + (comment?.length ?? 0), 0);
  }

  rows(seq: number): Rows[] {
    return scoreRows(seq, this.#tenant, this.#scores);
  }

  committed(): void {
    // Nothing in memory depends on scores.
  }

  rolledBack(): void {
    // Nothing in memory depends on scores.
  }
}
