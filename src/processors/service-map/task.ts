/**
 * A batch on its way to the thread. Few names stand for most spans, so each text crosses once, as a string: the thread makes a
 * name of it once, and nobody writes or reads UTF-8.
 */
export interface MapTaskBatch {
  readonly traces: number;
  /**
   * Trace by trace: number of spans; then, span by span: position of its parent in the trace, type (a position in `SPAN_TYPES`),
   * source of its node. Sources are positions in `texts`, or `NO_NODE`, `AGENT_NODE`, or {@link URLS}, after which come the number
   * of URLs, the URLs, and the name.
   */
  readonly numbers: Int32Array<ArrayBuffer>;
  readonly texts: readonly string[];
}

/** What travels to the thread: batches that are derived one by one. */
export type MapTask = readonly MapTaskBatch[];

/** In place of a source: the span's node is the host of the first of some URLs that has one, otherwise its name. */
export const URLS = -3;

/** What travels back. */
export interface MapAnswer {
  /** For each batch {@link LENGTHS} numbers; then, batch by batch, its `nodes` and `callers`. */
  readonly numbers: Int32Array<ArrayBuffer>;
  /** Batch by batch. */
  readonly names: readonly string[];
}

/** How many names a batch has, and how many spans. */
export const LENGTHS = 2;
