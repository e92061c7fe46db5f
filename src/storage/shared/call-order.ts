/**
 * Keeps the writes of a user in the order of their calls, though some have to ask the control plane before they can be sent: what a span
 * said first must not become news because its second message had nothing to ask for.
 */
export class CallOrder {
  /** Of users of whom a call waits: the promise that the last of them was sent, or could not be. */
  readonly #waiting = new Map<string, Promise<void>>();

  /**
   * @param prepare gives what is to be sent; a promise only where it has to be asked for
   * @param send hands it over before it returns, and gives the answer
   * @throws whatever these throw; the calls behind go on
   */
  async send<Made, Answer>(
    userId: string,
    prepare: () => Made | Promise<Made>,
    send: (made: Made) => Promise<Answer>,
  ): Promise<Answer> {
    const before = this.#waiting.get(userId);
    const made = prepare();
    if (before === undefined && !(made instanceof Promise)) return await send(made);
    const [sending] = await this.#inTurn(userId, this.#sendAfter(before, made, send));
    return await sending;
  }

  /** Resolves when every call that waits now was sent, or could not be. */
  async sent(): Promise<void> {
    await Promise.all(this.#waiting.values());
  }

  /** In an array: only that it was handed over is waited for, not the answer. */
  async #sendAfter<Made, Answer>(
    before: Promise<void> | undefined,
    made: Made | Promise<Made>,
    send: (made: Made) => Promise<Answer>,
  ): Promise<[Promise<Answer>]> {
    // Together: a question that fails while others wait is nobody's unhandled rejection.
    const [own] = await Promise.all([made, before]);
    return [send(own)];
  }

  async #inTurn<T>(userId: string, sent: Promise<T>): Promise<T> {
    const settled = sent.then(
      () => undefined,
      () => undefined,
    );
    this.#waiting.set(userId, settled);
    try {
      return await sent;
    } finally {
      if (this.#waiting.get(userId) === settled) this.#waiting.delete(userId);
    }
  }
}
