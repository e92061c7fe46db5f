import type { SpanRow } from './rules/rows.js';

/** The spans of the runs in a batch, as far as the rules look at them: columns, of which rows are made only where needed. */
export interface SentSpans {
  /** Their ids, four words for each row. */
  readonly spanIds: Uint32Array;
  /** The first row of a run. @param run its position in the batch */
  start(run: number): number;
  /** The row after its last one. */
  end(run: number): number;
}

/** The same, where whole spans can be taken out. */
export interface SentRows extends SentSpans {
  span(row: number): SpanRow;
}
