import type { ArrivalListener, ChangeFeed } from '../../../storage/contracts/telemetry-writer.js';
import { NumberedChanges } from '../../../storage/shared/numbered-changes.js';

/** Maximum number of changed runs kept for streams; the oldest are dropped. */
const MOST_RUNS = 2000;

/** A stream that reads changes. */
export interface FeedReader {
  /** Signals possible changes. */
  wake(): void;
  /** Called when a change is dropped. @param number its number */
  forgot(number: number): void;
  /** As `ArrivalListener.logs`. */
  readonly logs?: ArrivalListener['logs'];
}

/**
 * Recently changed runs of a user, each with the number of its last change. One list serves all streams of the user; each stream
 * keeps its own position, so a slow one uses no extra memory.
 */
export class UserFeed {
  readonly #changes = new NumberedChanges(MOST_RUNS);
  readonly #readers = new Set<FeedReader>();
  readonly #watch: (listener: ArrivalListener) => () => void;
  readonly #unwatch: () => void;

  constructor(arrivals: ChangeFeed, userId: string) {
    this.#watch = (listener) => arrivals.watch(userId, listener);
    this.#unwatch = this.#watch({
      traces: (ids) => {
        this.#add(ids);
      },
    });
  }

  /** The number of the newest change. */
  get last(): number {
    return this.#changes.last;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** Whether all changes after this number are still in the list. */
  remembers(number: number): boolean {
    return this.#changes.remembers(number);
  }

  /** @returns a function that ends it */
  enter(reader: FeedReader): () => void {
    this.#readers.add(reader);
    // Log records are copied between threads only for users with such a reader.
    const endLogs = reader.logs === undefined ? undefined : this.#watch({ logs: reader.logs });
    return () => {
      this.#readers.delete(reader);
      endLogs?.();
    };
  }

  /** The ids of runs that changed after a number, in order. */
  since(number: number): ReturnType<NumberedChanges['since']> {
    return this.#changes.since(number);
  }

  close(): void {
    this.#unwatch();
  }

  #add(traceIds: ReadonlySet<string>): void {
    for (const id of traceIds) {
      const forgotten = this.#changes.add(id);
      if (forgotten !== undefined) for (const reader of this.#readers) reader.forgot(forgotten);
    }
    for (const reader of this.#readers) reader.wake();
  }
}
