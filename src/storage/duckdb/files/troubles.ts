/** What somebody should see to although the store works, each in words, told whenever it changes. */
export class Troubles {
  readonly #known = new Map<string, string>();
  readonly #changed: (messages: readonly string[]) => void;

  /** @param changed is told all there are; none when all is well again */
  constructor(changed: (messages: readonly string[]) => void) {
    this.#changed = changed;
  }

  /** @param about which trouble it is @param message null: it is over */
  set(about: string, message: string | null): void {
    if ((this.#known.get(about) ?? null) === message) return;
    if (message === null) this.#known.delete(about);
    else this.#known.set(about, message);
    this.#changed([...this.#known.values()]);
  }
}
