/**
  * Sends a user's writes in the order of their calls, although some call the control store first: a span's first message must not be sent
 * after its second one.
 */
export class CallOrder {
  /** For each user with waiting calls: resolves when the last of them was sent or has failed. */
  readonly #waiting = new Map<string, Promise<void>>();

  /**
    * @param prepare returns the data to send; a promise only if it must call the control store
   * @param send sends the data synchronously, and returns the answer
   * @throws the errors of both; later calls continue
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

  /** Resolves when every waiting call was sent or has failed. */
  async sent(): Promise<void> {
    await Promise.all(this.#waiting.values());
  }

  /** The array keeps the answer from being awaited: only sending must happen in order. */
  async #sendAfter<Made, Answer>(
    before: Promise<void> | undefined,
    made: Made | Promise<Made>,
    send: (made: Made) => Promise<Answer>,
  ): Promise<[Promise<Answer>]> {
    // Awaited together, so that a failure of `made` is not an unhandled rejection.
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
