/** Owner of requests without a key. */
export const NOBODY = '';

/**
 * A limited amount, such as slots or bytes, shared so that no owner can take all of it: an owner that already holds some gets
 * more only while a fair part stays free for others. A single owner holds at most `share` of the total; if several want much,
 * each holds less, and some is always left for the next one. (Dynamic thresholds as in switches: Choudhury and Hahne, 1998.)
 */
export class Shares {
  #max: number;
  /** Ratio of the amount that an owner may hold to the free amount. */
  #weight = Infinity;
  readonly #held = new Map<string, number>();
  #used = 0;

  /** @param share of the total that one owner may hold, above 0; with 1 only the total is limited */
  constructor(limits: { readonly max: number; readonly share: number }) {
    this.#max = limits.max;
    this.shareOut(limits.share);
  }

  /** @param share as in the constructor */
  shareOut(share: number): void {
    this.#weight = share < 1 ? share / (1 - share) : Infinity;
  }

  get used(): number {
    return this.#used;
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Raises the total to at least this amount. */
  atLeast(max: number): void {
    this.#max = Math.max(this.#max, max);
  }

  /** Whether an owner may have this much more. An owner that holds nothing, and {@link NOBODY}, may have all that is free. */
  fits(owner: string, amount: number): boolean {
    const free = this.#max - this.#used - amount;
    if (free < 0) return false;
    const held = this.held(owner);
    if (owner === NOBODY) return true;
    return held === 0 || this.#weight === Infinity || held + amount <= this.#weight * free;
  }

  /** @returns false, without taking anything, if the amount does not fit */
  take(owner: string, amount: number): boolean {
    if (!this.fits(owner, amount)) return false;
    this.add(owner, amount);
    return true;
  }

  /** Takes an amount even if it does not fit. */
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

/** The amount of a shared resource that one request holds. */
export class SharedUse {
  readonly #shares: Shares;
  #owner = NOBODY;

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  get owner(): string {
    return this.#owner;
  }

  /** Sets the owner, before anything is taken. The initial owner is `NOBODY`. */
  belongTo(owner: string): void {
    this.#owner = owner;
  }

  fits(amount: number): boolean {
    return this.#shares.fits(this.#owner, amount);
  }

  /** @returns false, without taking anything, if the amount does not fit */
  take(amount: number): boolean {
    return this.#shares.take(this.#owner, amount);
  }

  give(amount: number): void {
    this.#shares.give(this.#owner, amount);
  }
}
