/** The owner of what was asked for without a key. */
export const NOBODY = '';

/**
 * Something of which there is only so much, such as slots or bytes, shared out so that no owner can take all of it: whoever
 * holds some already gets more only while a fair part stays free for others. One owner alone holds at most `share` of all;
 * where several want much, each holds less, and something is always left for who comes next. (The rule is that of dynamic
 * thresholds in switches: Choudhury and Hahne, 1998.)
 */
export class Shares {
  #max: number;
  /** How much an owner may hold for each part that stays free. */
  #weight = Infinity;
  readonly #held = new Map<string, number>();
  #used = 0;

  /** @param share of all that one owner may hold, above 0; with 1 there is no bound but that of all together */
  constructor(limits: { readonly max: number; readonly share: number }) {
    this.#max = limits.max;
    this.shareOut(limits.share);
  }

  /** @param share as of the constructor */
  shareOut(share: number): void {
    this.#weight = share < 1 ? share / (1 - share) : Infinity;
  }

  get used(): number {
    return this.#used;
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Raises what there is where it is less. */
  atLeast(max: number): void {
    this.#max = Math.max(this.#max, max);
  }

  /** Whether an owner may have that much more. Who holds nothing gets whatever is free; so does what is {@link NOBODY}'s. */
  fits(owner: string, amount: number): boolean {
    const free = this.#max - this.#used - amount;
    if (free < 0) return false;
    const held = this.held(owner);
    if (owner === NOBODY) return true;
    return held === 0 || this.#weight === Infinity || held + amount <= this.#weight * free;
  }

  /** @returns false, and gives nothing, where it does not fit. */
  take(owner: string, amount: number): boolean {
    if (!this.fits(owner, amount)) return false;
    this.add(owner, amount);
    return true;
  }

  /** Takes whether or not it fits. */
  add(owner: string, amount: number): void {
    this.#used += amount;
    this.#held.set(owner, this.held(owner) + amount);
  }

  give(owner: string, amount: number): void {
    this.#used -= amount;
    const left = this.held(owner) - amount;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
  }
}

/** One request's way to something that is shared. */
export class Holding {
  readonly #shares: Shares;
  #owner = NOBODY;

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  get owner(): string {
    return this.#owner;
  }

  /** Says whose it is, before anything is taken. Until then it is nobody's. */
  belongTo(owner: string): void {
    this.#owner = owner;
  }

  fits(amount: number): boolean {
    return this.#shares.fits(this.#owner, amount);
  }

  /** @returns false, and takes nothing, where it does not fit. */
  take(amount: number): boolean {
    return this.#shares.take(this.#owner, amount);
  }

  give(amount: number): void {
    this.#shares.give(this.#owner, amount);
  }
}
