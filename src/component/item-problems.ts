/** How much of a pointer or a value an answer repeats: senders choose their length. */
const MAX_SHOWN = 200;

/**
 * Collects the problems of one item of a batch and formats them for the sender, in the common form of refusals: `/spans/3/started_at:
 * must be … (and 2 more problems)`. Cheap if there are no problems.
 */
export class ItemProblems {
  #first: string | undefined;
  #count = 0;

  /**
   * @param pointer a JSON Pointer relative to the item; empty for the item itself.
   * @param message the problem, as the rest of a sentence: `must be a UUID`.
   */
  add(pointer: string, message: string): void {
    this.#first ??= pointer === '' ? message : `${shorten(pointer)}: ${message}`;
    this.#count++;
  }

  /** The refusal's reason; undefined if nothing was found. */
  get reason(): string | undefined {
    const more = this.#count - 1;
    if (this.#first === undefined || more === 0) return this.#first;
    return `${this.#first} (and ${more} more ${more === 1 ? 'problem' : 'problems'})`;
  }
}

/** Text of the sender as an answer may repeat it: shortened, but never in the middle of a character. */
export function shorten(text: string, max = MAX_SHOWN): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
}
