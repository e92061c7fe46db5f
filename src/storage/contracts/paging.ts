/** The requested part of a list. */
export interface PageRange {
  readonly offset: number;
  readonly limit: number;
}

/** A part of a list, and the length of the whole list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Number of matches on all pages. */
  readonly count: number;
}

/**
 * A long list that is read page by page, so that it is never held in memory as a whole. A page is an array of rows or, if the engine
 * measured that to be cheaper, their JSON as the API returns it: the inside of an array, `{…},{…}`. Consumers must accept both.
 */
export type Pages<Row> = AsyncIterable<readonly Row[] | Uint8Array>;
