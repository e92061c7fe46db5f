/** How many times as much as is left free a user may have who has more than an equal part: one alone nine tenths. */
const TIMES_FREE = 9;

/**
 * Who has how much of a queue. Where more than one user sends, nobody may fill it so far that the others find no room: beyond an
 * equal part each may have some times what is free (after Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
 * packet switches", 1998). Whoever is alone may have all of it.
 */
export class UserShares {
  readonly #max: number;
  readonly #amounts = new Map<string, number>();
  #sum = 0;
  #first: string | undefined;
  #isShared = false;

  /** @param max of all users together */
  constructor(max: number) {
    this.#max = max;
  }

  /** @param amount below zero: that much less */
  add(user: string, amount: number): void {
    this.#sum += amount;
    const left = (this.#amounts.get(user) ?? 0) + amount;
    if (left > 0) this.#amounts.set(user, left);
    else this.#amounts.delete(user);
  }

  /**
   * Whether a user who wants more has to leave it to others. Whoever asks is one who sends, also where it is refused.
   *
   * @param besides what nobody in particular has
   */
  crowdsOut(user: string, amount: number, besides = 0): boolean {
    this.#first ??= user;
    if (user !== this.#first) this.#isShared = true;
    if (!this.#isShared) return false;
    const had = this.#amounts.get(user) ?? 0;
    // The others may have nothing in it at the moment: just that is what it is about.
    const users = Math.max(2, this.#amounts.size + (had > 0 ? 0 : 1));
    const wanted = had + amount;
    return wanted > this.#max / users && wanted > TIMES_FREE * (this.#max - this.#sum - besides - amount);
  }
}
