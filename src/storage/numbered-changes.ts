/** What changed lately, by id, each with the number of its last change. Of too many the longest ago are forgotten. */
export class NumberedChanges {
  readonly #most: number;
  /** What changed last stands last. */
  readonly #changes = new Map<string, number>();
  #last = 0;
  #forgotten = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The number of the newest change. */
  get last(): number {
    return this.#last;
  }

  /** The number of the last change that was forgotten; 0: none was. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** @returns the number of a change that was forgotten for this one, if one was */
  add(id: string): number | undefined {
    this.#last += 1;
    this.#changes.delete(id);
    this.#changes.set(id, this.#last);
    if (this.#changes.size <= this.#most) return undefined;
    for (const [first, number] of this.#changes) {
      this.#changes.delete(first);
      this.#forgotten = number;
      break;
    }
    return this.#forgotten;
  }

  /** Whether all that changed after this one is still known. */
  remembers(number: number): boolean {
    return number >= this.#forgotten && number <= this.#last;
  }

  /** What changed after a number, in order. */
  since(number: number): readonly { readonly id: string; readonly number: number }[] {
    if (number === this.#last) return [];
    return [...this.#changes].flatMap(([id, changed]) => (changed > number ? [{ id, number: changed }] : []));
  }
}
