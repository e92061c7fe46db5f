/**
 * A batch in transit to the thread. Most spans share a few names, so each text is sent once, as a string, and no UTF-8 is encoded or
 * decoded.
 */
export interface MapTaskBatch {
  readonly traces: number;
  /**
   * Trace by trace: number of spans; then, span by span: position of its parent in the trace, type (a position in `SPAN_TYPES`),
   * source of its node. Sources are positions in `texts`, or `NO_NODE`, `AGENT_NODE`, or {@link URLS}, followed by the number of
   * URLs, the URLs, and the name.
   */
  readonly numbers: Int32Array<ArrayBuffer>;
  readonly texts: readonly string[];
}

/** A message to the thread: batches, derived one by one. */
export type MapTask = readonly MapTaskBatch[];

/** In place of a source: the span's node is the host of the first of some URLs that has one, otherwise its name. */
export const URLS = -3;

/** A message from the thread. */
export interface MapAnswer {
  /** For each batch {@link LENGTHS} numbers; then, batch by batch, its `nodes` and `callers`. */
  readonly numbers: Int32Array<ArrayBuffer>;
  /** Batch by batch. */
  readonly names: readonly string[];
}

/** Numbers per batch: of names and of spans. */
export const LENGTHS = 2;
