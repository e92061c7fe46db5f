/** The memory that runs may take. */
export class Room {
  readonly size: number;
  readonly #used: () => number;
  /** By parts that are being written, and are not held yet. */
  #taken = 0;
  #waiting: (() => void)[] = [];

  /** @param used bytes held now @param size in bytes, like all numbers here */
  constructor(size: number, used: () => number) {
    this.size = size;
    this.#used = used;
  }

  get isTaken(): boolean {
    return this.#taken > 0;
  }

  /** @returns whether there was room. An item larger than the whole room is accepted only if the room is empty. */
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

  /** Resolves when something has changed. */
  async wait(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Releases all waiting callers. */
  end(): void {
    this.changed();
  }
}
