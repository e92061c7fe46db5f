import type { SpanRow } from './rules/rows.js';

/** The span columns of a batch that the rules use; rows are created only when needed. */
export interface IncomingSpans {
  /** Their ids, four words for each row. */
  readonly spanIds: Uint32Array;
  /** The first row of a run. @param run its position in the batch */
  start(run: number): number;
  /** The row after its last one. */
  end(run: number): number;
}

/** The same, with access to whole spans. */
export interface IncomingRows extends IncomingSpans {
  span(row: number): SpanRow;
}
