import type { Clock } from '../../component/telemetry.js';
import { abandoned, closing, timedOut, tooManyWaiting, waitedTooLong } from '../contracts/errors.js';
import { FairReadQueue, type QueuedRead } from './fair-read-queue.js';

/** The share and the kind of a read. */
export interface Reader extends QueuedRead {
  /**
   * Whether it may be stopped when it exceeds its time limit or blocks other work. `in parts`: while it runs, the limit applies to each
   * part ({@link PoolRead.part}), because between parts it waits for its consumer.
   */
  readonly mayBeEnded: boolean | 'in parts';
  /** Aborted when the client disconnected. */
  readonly abort?: AbortSignal | undefined;
}

/** The resource of a running read: a connection, or the right to one. */
export interface ReadPlace {
  /**
   * Stops its current statement with an error.
   *
   * @param reason null if all reads are stopped
   * @returns whether a statement was running and had not been stopped before
   */
  stop(error: Error, reason: EndedFor | null): boolean;
  /** Called after the read, before the next read uses the resource. */
  goOn(): void;
}

export interface ReadPoolOptions {
  /** Reads that may wait, of all shares together and of one. */
  readonly maxWaiting: number;
  readonly maxWaitingOfShare: number;
  /** Time limit of a read, and of waiting before it, in milliseconds. */
  readonly timeoutMs: number;
  /** The configuration key of the limit, for errors. */
  readonly timeoutKey: string;
  readonly clock: Clock;
}

/** Why a waiting or running read was stopped. */
export const ENDED_FOR = ['abandoned', 'timed_out', 'held_up_move'] as const;
type EndedFor = (typeof ENDED_FOR)[number];

/** Counts of reads since the start. */
export interface ReadStats {
  readonly waiting: number;
  readonly running: number;
  /** Rejected because the queue was full. */
  readonly refused: number;
  readonly ended: Readonly<Record<EndedFor, number>>;
}

/**
 * Runs a part of a read in parallel in a second place, which counts as another read of its share. The caller must await both parts
 * before the read ends.
 *
 * @returns null if no place is free: the read then does that part itself
 */
export type RunParallel<Place> = <T>(work: (place: Place) => Promise<T>) => Promise<T> | null;

/** A running read. */
export interface PoolRead<Place> {
  readonly mayBeEnded: Reader['mayBeEnded'];
  readonly runParallel: RunParallel<Place>;
  /** Runs a part of the read, with the time limit of a whole read. */
  part<T>(work: () => Promise<T>): Promise<T>;
  /** Stops its statements, including parallel ones, and fails the read with an error. */
  end(reason: EndedFor | null, error: Error): void;
}

interface Waiting<Place> extends Reader {
  readonly take: (place: Place) => void;
  readonly refuse: (reason: Error) => void;
}

/** Maximum number of waiting reads per store, in total and per user. */
export const WAITING_READS = { maxWaiting: 1000, maxWaitingOfUser: 100 } as const;

/**
 * The places that reads share, with a bounded queue: {@link FairReadQueue} selects the next read. A read whose client disconnected, or that
 * exceeds its time limit, is removed from the queue or has its statement stopped.
 */
export class ReadPool<Place extends ReadPlace> {
  readonly #options: ReadPoolOptions;
  readonly #free: Place[];
  readonly #queue: FairReadQueue<Waiting<Place>>;
  readonly #running = new Set<PoolRead<Place>>();
  #refused = 0;
  readonly #ended: Record<EndedFor, number> = { abandoned: 0, timed_out: 0, held_up_move: 0 };
  #isClosed = false;
  /** Called when a read is over. */
  #onDone: () => void = () => undefined;

  /** @param places one for each concurrent read */
  constructor(places: readonly Place[], options: ReadPoolOptions) {
    this.#options = options;
    this.#free = [...places];
    this.#queue = new FairReadQueue(places.length);
  }

  get stats(): ReadStats {
    return {
      waiting: this.#queue.waiting,
      running: this.#queue.running,
      refused: this.#refused,
      ended: { ...this.#ended },
    };
  }

  /**
   * @throws ConsumeError `overloaded` when the queue is full or the time is up, `storage_unavailable` when the pool is closed.
   */
  async use<T>(reader: Reader, work: (place: Place, running: PoolRead<Place>) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closing();
    if (reader.abort?.aborted === true) throw abandoned();
    return await new Promise<T>((resolve, reject) => {
      const waiting: Waiting<Place> = {
        ...reader,
        take: (place) => {
          leave();
          this.#run(waiting, place, work).then(resolve, reject);
        },
        refuse: (reason) => {
          leave();
          reject(reason);
        },
      };
      if (!this.#hasRoom(waiting)) {
        this.#refused++;
        reject(tooManyWaiting());
        return;
      }
      const leave = this.#watch(reader, (reason, error) => {
        if (this.#queue.remove(waiting)) {
          this.#ended[reason]++;
          waiting.refuse(error(waitedTooLong));
        }
      });
      this.#queue.add(waiting);
      this.#next();
    });
  }

  /** The same for a part of a running read; never waits. */
  #useIfFree<T>(
    reader: Reader,
    work: (place: Place, running: PoolRead<Place>) => Promise<T>,
  ): Promise<T> | null {
    if (this.#isClosed || this.#queue.waiting > 0) return null;
    const read: Waiting<Place> = { ...reader, take: () => undefined, refuse: () => undefined };
    this.#queue.add(read);
    if (this.#queue.next() === undefined) {
      this.#queue.remove(read);
      return null;
    }
    return this.#run(read, this.#takeFree(), work);
  }

  /** Accepts no more reads, and resolves when the running ones are done: closing a connection in use would end the process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#queue.running + this.#queue.waiting > 0) {
      await new Promise<void>((resolve) => (this.#onDone = resolve));
    }
  }

  /** Rejects waiting reads and stops running ones. */
  abortPending(): void {
    for (const waiting of this.#queue.all()) {
      this.#queue.remove(waiting);
      waiting.refuse(closing());
    }
    for (const running of this.#running) running.end(null, closing());
    this.#onDone();
  }

  /** Whether the queue has room; if another share uses more of it than this read's share, its last read is dropped. */
  #hasRoom({ share }: Waiting<Place>): boolean {
    const { maxWaiting, maxWaitingOfShare } = this.#options;
    const own = this.#queue.waitingOf(share);
    if (own >= maxWaitingOfShare) return false;
    if (this.#queue.waiting < maxWaiting) return true;
    const last = this.#queue.lastOfLongest();
    if (last === undefined || this.#queue.waitingOf(last.share) <= own + 1) return false;
    this.#queue.remove(last);
    this.#refused++;
    last.refuse(tooManyWaiting());
    return true;
  }

  #next(): void {
    for (let read = this.#queue.next(); read !== undefined; read = this.#queue.next()) {
      read.take(this.#takeFree());
    }
  }

  #takeFree(): Place {
    const place = this.#free.pop();
    if (place === undefined) throw new Error('a read started without a free place');
    return place;
  }

  async #run<T>(
    waiting: Waiting<Place>,
    place: Place,
    work: (place: Place, running: PoolRead<Place>) => Promise<T>,
  ): Promise<T> {
    const begun = performance.now();
    const parts = new Set<PoolRead<Place>>();
    let isEnded = false;
    const running: PoolRead<Place> = {
      mayBeEnded: waiting.mayBeEnded,
      runParallel: (part) => {
        if (isEnded) return null;
        // The part is stopped together with this read.
        return this.#useIfFree({ ...waiting, mayBeEnded: false, abort: undefined }, async (other, itself) => {
          parts.add(itself);
          try {
            return await part(other);
          } finally {
            parts.delete(itself);
          }
        });
      },
      end: (reason, error) => {
        isEnded = true;
        if (place.stop(error, reason) && reason !== null) this.#ended[reason]++;
        for (const part of parts) part.end(null, error);
      },
      part: async (work) => {
        const leave = watch({ mayBeEnded: true });
        return await work().finally(leave);
      },
    };
    this.#running.add(running);
    const watch = (reader: Pick<Reader, 'abort' | 'mayBeEnded'>): (() => void) =>
      this.#watch(reader, (reason, error) => {
        running.end(reason, error(timedOut));
      });
    const leave = watch({ ...waiting, mayBeEnded: waiting.mayBeEnded === true });
    try {
      return await work(place, running);
    } finally {
      leave();
      this.#running.delete(running);
      place.goOn();
      this.#free.push(place);
      this.#queue.done(waiting, performance.now() - begun);
      this.#next();
      this.#onDone();
    }
  }

  /**
   * Calls back when the client of a read disconnects, or its time is up.
   *
   * @returns a function that stops watching
   */
  #watch(
    { abort, mayBeEnded }: Pick<Reader, 'abort' | 'mayBeEnded'>,
    end: (reason: EndedFor, error: (late: typeof timedOut) => Error) => void,
  ): () => void {
    const { clock, timeoutMs, timeoutKey } = this.#options;
    const onAbort = (): void => {
      end('abandoned', abandoned);
    };
    abort?.addEventListener('abort', onAbort, { once: true });
    const cancel =
      mayBeEnded !== false
        ? clock.after(timeoutMs, () => {
            end('timed_out', (late) => late(timeoutMs, timeoutKey));
          })
        : undefined;
    return () => {
      abort?.removeEventListener('abort', onAbort);
      cancel?.();
    };
  }
}
