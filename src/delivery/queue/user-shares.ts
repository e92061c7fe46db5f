/** Limit of a user above an equal part, as a multiple of the free amount: a single user gets at most nine tenths. */
const TIMES_FREE = 9;

/**
 * Amount of a queue held by each user. If more than one user sends, none may fill it so far that the others find no room: above an
 * equal part a user is limited to a multiple of the free amount (after Choudhury and Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches", 1998). A single user may hold all of it.
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
   * Whether a user would take the room of others. Every call marks its user as a sender, also if the batch is refused.
   *
   * @param reserved amount that belongs to no user
   */
  crowdsOut(user: string, amount: number, reserved = 0): boolean {
    this.#first ??= user;
    if (user !== this.#first) this.#isShared = true;
    if (!this.#isShared) return false;
    const had = this.#amounts.get(user) ?? 0;
    // The share of other users stays reserved even if they currently hold nothing.
    const users = Math.max(2, this.#amounts.size + (had > 0 ? 0 : 1));
    const wanted = had + amount;
    return wanted > this.#max / users && wanted > TIMES_FREE * (this.#max - this.#sum - reserved - amount);
  }
}
