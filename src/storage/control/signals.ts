import type { Topic, Watch } from '../contracts/coordination.js';
import { ChangedIds } from './changed-ids.js';
import { TopicListeners } from './topic-listeners.js';

/** Sends and receives hints. */
export interface Signals extends Watch {
  /** Recently changed deliveries. */
  readonly deliveries: ChangedIds;
  /** Announces a commit. @param deliveries that it changed */
  notify(topics: ReadonlySet<Topic>, deliveries: readonly string[]): void;
  close(): Promise<void>;
}

/** Hints within the process. */
export class LocalSignals implements Signals {
  readonly deliveries = new ChangedIds();
  readonly #listeners = new TopicListeners();

  watch(topic: Topic, listener: () => void): () => void {
    return this.#listeners.watch(topic, listener);
  }

  notify(topics: ReadonlySet<Topic>, deliveries: readonly string[] = []): void {
    this.deliveries.note(deliveries);
    for (const topic of topics) for (const listener of this.#listeners.of(topic)) queueMicrotask(listener);
  }

  /** Notifies all watchers of all topics. */
  notifyAll(): void {
    this.notify(this.#listeners.topics);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }
}
