import type { Topic, Watch } from '../contracts/coordination.js';

/** Listeners by topic. */
export class TopicListeners implements Watch {
  readonly #listeners = new Map<Topic, Set<() => void>>();

  /** All topics with listeners so far. */
  get topics(): ReadonlySet<Topic> {
    return new Set(this.#listeners.keys());
  }

  watch(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    // The same function may be registered several times.
    const own = (): void => {
      listener();
    };
    listeners.add(own);
    return () => {
      listeners.delete(own);
    };
  }

  /** The listeners of a topic. */
  of(topic: Topic): Iterable<() => void> {
    return this.#listeners.get(topic) ?? [];
  }

  clear(): void {
    this.#listeners.clear();
  }
}
