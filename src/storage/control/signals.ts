import type { Topic, Watch } from '../watch.js';

/** Where hints come from and go to. */
export interface Signals extends Watch {
  /** Something was committed. */
  tell(topics: ReadonlySet<Topic>): void;
  close(): Promise<void>;
}

/** Hints within the process. */
export class LocalSignals implements Signals {
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

  tell(topics: ReadonlySet<Topic>): void {
    for (const topic of topics)
      for (const listener of this.#listeners.get(topic) ?? []) queueMicrotask(listener);
  }

  /** Tells all, whatever they watch. */
  tellAll(): void {
    this.tell(new Set(this.#listeners.keys()));
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }
}
