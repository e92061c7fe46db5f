/** The memory that runs may take. */
export class Room {
  readonly size: number;
  readonly #used: () => number;
  /** By parts that are being written, and are not held yet. */
  #taken = 0;
  #waiting: (() => void)[] = [];

  /** @param used by what is held @param size in bytes, like all of this */
  constructor(size: number, used: () => number) {
    this.size = size;
    this.#used = used;
  }

  get isTaken(): boolean {
    return this.#taken > 0;
  }

  /** @returns whether there was room. What is larger than everything has it where nothing else is there. */
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

  /** Nobody waits any more. */
  end(): void {
    this.changed();
  }
}
