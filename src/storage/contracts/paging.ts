/** The part of a list that is asked for. */
export interface PageRange {
  readonly offset: number;
  readonly limit: number;
}

/** A part of a list, and how long all of it is. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** All that match, on any page. */
  readonly count: number;
}

/**
 * A long list, read page by page as somebody takes it, so that it need never be held as a whole. A page is some rows; or, where an engine has
 * measured that to be cheaper, their text, as the API prints them: the inside of a JSON array, `{…},{…}`. Whoever reads takes both.
 */
export type Pages<Row> = AsyncIterable<readonly Row[] | Uint8Array>;
