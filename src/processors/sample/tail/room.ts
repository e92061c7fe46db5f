/** The memory for undecided runs. */
export class Room {
  readonly size: number;
  readonly #used: () => number;
  /** Bytes of parts that are being written and are not held yet. */
  #taken = 0;
  #waiting: (() => void)[] = [];

  /** @param size in bytes, like all numbers here @param used returns the bytes of held runs */
  constructor(size: number, used: () => number) {
    this.size = size;
    this.#used = used;
  }

  get isTaken(): boolean {
    return this.#taken > 0;
  }

  /** @returns whether there was space. An item larger than the total size is accepted only if nothing else is held. */
  take(bytes: number): boolean {
    const used = this.#used() + this.#taken;
    if (used > 0 && used + bytes > this.size) return false;
    this.#taken += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
    this.changed();
  }

  /** Resolves at the next change. */
  async wait(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resumes all waiting callers. */
  end(): void {
    this.changed();
  }
}
