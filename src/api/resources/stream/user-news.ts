import type { LogRecord } from '../../../signal/log-record.js';
import type { Arrivals } from '../../../storage/arrivals.js';

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

/** A run that changed. */
interface Change {
  readonly traceId: string;
  readonly number: number;
}

/**
 * Which runs of a user changed lately, each with the number of its last change: one list for all streams of the user, of which each
 * knows how far it is, so that a slow one costs no memory.
 */
export class UserNews {
  readonly #changes = new Map<string, number>();
  readonly #readers = new Set<NewsReader>();
  readonly #unwatch: () => void;
  #last = 0;
  /** The number of the last change that was forgotten. */
  #forgotten = 0;

  constructor(arrivals: Arrivals, userId: string) {
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
    return this.#last;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** Whether all that changed after this one is still known. */
  remembers(number: number): boolean {
    return number >= this.#forgotten && number <= this.#last;
  }

  /** @returns a function that ends it */
  enter(reader: NewsReader): () => void {
    this.#readers.add(reader);
    return () => {
      this.#readers.delete(reader);
    };
  }

  /** What changed after a number, in order. */
  since(number: number): readonly Change[] {
    if (number === this.#last) return [];
    return [...this.#changes].flatMap(([traceId, changed]) =>
      changed > number ? [{ traceId, number: changed }] : [],
    );
  }

  close(): void {
    this.#unwatch();
  }

  #add(traceIds: ReadonlySet<string>): void {
    for (const id of traceIds) {
      this.#last += 1;
      // What changed last stands last.
      this.#changes.delete(id);
      this.#changes.set(id, this.#last);
      if (this.#changes.size > MOST_RUNS) this.#forgetFirst();
    }
    for (const reader of this.#readers) reader.wake();
  }

  #forgetFirst(): void {
    for (const [id, number] of this.#changes) {
      this.#changes.delete(id);
      this.#forgotten = number;
      for (const reader of this.#readers) reader.forgot(number);
      return;
    }
  }
}
