import type { Topic, Watch } from '../watch.js';
import { TopicListeners } from './topic-listeners.js';

/** Where hints come from and go to. */
export interface Signals extends Watch {
  /** Something was committed. */
  tell(topics: ReadonlySet<Topic>): void;
  close(): Promise<void>;
}

/** Hints within the process. */
export class LocalSignals implements Signals {
  readonly #listeners = new TopicListeners();

  watch(topic: Topic, listener: () => void): () => void {
    return this.#listeners.watch(topic, listener);
  }

  tell(topics: ReadonlySet<Topic>): void {
    for (const topic of topics) for (const listener of this.#listeners.of(topic)) queueMicrotask(listener);
  }

  /** Tells all, whatever they watch. */
  tellAll(): void {
    this.tell(this.#listeners.topics);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }
}
