import type { Topic, Watch } from '../../watch.js';

/**
 * Hints that come from another thread. Listeners are called in the step in which a hint arrives, before the answer that follows
 * it.
 */
export class RemoteWatch implements Watch {
  readonly #listeners = new Map<Topic, Set<() => void>>();

  watch(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    // The same function may watch several times.
    const own = (): void => {
      listener();
    };
    listeners.add(own);
    return () => {
      listeners.delete(own);
    };
  }

  tell(topic: Topic): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener();
  }
}
