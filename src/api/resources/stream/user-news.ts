import type { LogRecord } from '../../../signal/log-record.js';
import type { ChangeFeed } from '../../../storage/contracts/telemetry-writer.js';
import { NumberedChanges } from '../../../storage/shared/numbered-changes.js';

/** Runs that changed and that streams may still have to be told of; of more, the longest ago are forgotten. */
const MOST_RUNS = 2000;

/** A stream, as far as news concern it. */
export interface NewsReader {
  /** Something may have come. */
  wake(): void;
  /** A change was forgotten. @param number of it */
  forgot(number: number): void;
  /** As `ArrivalListener.logs`. */
  readonly logs?: (records: readonly LogRecord[]) => (() => void) | undefined;
}

/**
 * Which runs of a user changed lately, each with the number of its last change: one list for all streams of the user, of which each
 * knows how far it is, so that a slow one costs no memory.
 */
export class UserNews {
  readonly #changes = new NumberedChanges(MOST_RUNS);
  readonly #readers = new Set<NewsReader>();
  readonly #unwatch: () => void;

  constructor(arrivals: ChangeFeed, userId: string) {
    this.#unwatch = arrivals.watch(userId, {
      traces: (ids) => {
        this.#add(ids);
      },
      logs: (records) => {
        const kept = [...this.#readers].flatMap((reader) => reader.logs?.(records) ?? []);
        if (kept.length === 0) return undefined;
        return () => {
          for (const tell of kept) tell();
        };
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

  /** Whether all that changed after this one is still known. */
  remembers(number: number): boolean {
    return this.#changes.remembers(number);
  }

  /** @returns a function that ends it */
  enter(reader: NewsReader): () => void {
    this.#readers.add(reader);
    return () => {
      this.#readers.delete(reader);
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
