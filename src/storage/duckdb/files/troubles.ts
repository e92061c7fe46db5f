/** Problems that somebody should see although the store works, each in words, passed on whenever they change. */
export class Troubles {
  readonly #known = new Map<string, string>();
  readonly #changed: (messages: readonly string[]) => void;

  /** @param changed is called with all current ones; with none when all is well again */
  constructor(changed: (messages: readonly string[]) => void) {
    this.#changed = changed;
  }

  /**
   * @param about names the problem
   * @param message null when it is over
   */
  set(about: string, message: string | null): void {
    if ((this.#known.get(about) ?? null) === message) return;
    if (message === null) this.#known.delete(about);
    else this.#known.set(about, message);
    this.#changed([...this.#known.values()]);
  }
}
