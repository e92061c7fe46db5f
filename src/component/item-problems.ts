/** How much of a pointer or a value an answer repeats: senders choose their length. */
const MAX_SHOWN = 200;

/**
 * Collects what is wrong with one item of a batch and words it for the sender, in the one form that every refusal has:
 * `/spans/3/started_at: must be … (and 2 more problems)`. Cheap while nothing is wrong.
 */
export class ItemProblems {
  #first: string | undefined;
  #count = 0;

  /**
   * @param pointer a JSON Pointer relative to the item; empty for the item itself.
   * @param message what is wrong there, as the rest of a sentence: `must be a UUID`.
   */
  add(pointer: string, message: string): void {
    this.#first ??= pointer === '' ? message : `${shorten(pointer)}: ${message}`;
    this.#count++;
  }

  /** The refusal's reason; undefined where nothing was found. */
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
