/** Tracks the running calls of a thread, whose resources must not be closed before they end. */
export class CallsUnderWay {
  readonly #calls = new Set<Promise<unknown>>();

  /** Wraps a method so that its running calls are tracked. */
  known<Args extends readonly unknown[], Result>(
    method: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      const call = method(...args);
      this.#calls.add(call);
      try {
        return await call;
      } finally {
        this.#calls.delete(call);
      }
    };
  }

  /** Resolves when no call is running. */
  async over(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }
}
