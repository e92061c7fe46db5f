import type { Clock } from '../../component/telemetry.js';
import { abandoned, closing, timedOut, tooManyWaiting, waitedTooLong } from '../contracts/errors.js';
import { ReadTurns, type Turn } from './read-turns.js';

/** Who asks for a read, and what kind it is. */
export interface Reader extends Turn {
  /**
   * Whether it may be ended when it takes too long, or holds up what must go on. `in parts`: once it runs it takes too long where one of
   * its parts does ({@link PoolRead.part}), as between them it waits for whoever takes them.
   */
  readonly mayBeEnded: boolean | 'in parts';
  /** Aborted when the client disconnected. */
  readonly abort?: AbortSignal | undefined;
}

/** What a read has while it runs: a connection, or the right to one. */
export interface ReadPlace {
  /**
   * Ends what is done with it, with an error.
   *
   * @param reason null where all reads end
   * @returns whether there was something to end, and it was not ended before
   */
  stop(error: Error, reason: EndedFor | null): boolean;
  /** It is another's from now on. */
  goOn(): void;
}

export interface ReadPoolOptions {
  /** Reads that may wait, of all shares together and of one. */
  readonly maxWaiting: number;
  readonly maxWaitingOfShare: number;
  /** How long a read may take, and how long it may wait before that, in milliseconds. */
  readonly timeoutMs: number;
  /** The key of a configuration that says so, for errors. */
  readonly timeoutKey: string;
  readonly clock: Clock;
}

/** Why a waiting or running read was ended. */
export const ENDED_FOR = ['abandoned', 'timed_out', 'held_up_move'] as const;
type EndedFor = (typeof ENDED_FOR)[number];

/** What became of reads since the start. */
export interface ReadStats {
  readonly waiting: number;
  readonly running: number;
  /** Because the queue was full. */
  readonly refused: number;
  readonly ended: Readonly<Record<EndedFor, number>>;
}

/**
 * Does a part of a running read at the same time in a place of its own, which counts as another read of its share. Whoever
 * calls it waits for both parts before the read is over.
 *
 * @returns null where it would have to wait for one: the read then does that part itself
 */
export type PartBeside<Place> = <T>(work: (place: Place) => Promise<T>) => Promise<T> | null;

/** A read that has a place. */
export interface PoolRead<Place> {
  readonly mayBeEnded: Reader['mayBeEnded'];
  readonly beside: PartBeside<Place>;
  /** Does a part of it, which may take as long as a whole read: then the read is ended. */
  part<T>(work: () => Promise<T>): Promise<T>;
  /** Ends its statements, also those beside it, and with them the read, with an error. */
  end(reason: EndedFor | null, error: Error): void;
}

interface Waiting<Place> extends Reader {
  readonly take: (place: Place) => void;
  readonly refuse: (reason: Error) => void;
}

/** How many reads may wait in front of a store, of all users together and of one. */
export const WAITING_READS = { maxWaiting: 1000, maxWaitingOfUser: 100 } as const;

/**
 * The places that reads share, and the bounded queue in front of them: {@link ReadTurns} says whose turn it is. A read that
 * nobody waits for any more, or that takes too long, leaves the queue or has its statement ended.
 */
export class ReadPool<Place extends ReadPlace> {
  readonly #options: ReadPoolOptions;
  readonly #free: Place[];
  readonly #turns: ReadTurns<Waiting<Place>>;
  readonly #running = new Set<PoolRead<Place>>();
  #refused = 0;
  readonly #ended: Record<EndedFor, number> = { abandoned: 0, timed_out: 0, held_up_move: 0 };
  #isClosed = false;
  /** Called when a read is over. */
  #onDone: () => void = () => undefined;

  /** @param places as many as may read at a time */
  constructor(places: readonly Place[], options: ReadPoolOptions) {
    this.#options = options;
    this.#free = [...places];
    this.#turns = new ReadTurns(places.length);
  }

  get stats(): ReadStats {
    return {
      waiting: this.#turns.waiting,
      running: this.#turns.running,
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
        if (this.#turns.remove(waiting)) {
          this.#ended[reason]++;
          waiting.refuse(error(waitedTooLong));
        }
      });
      this.#turns.add(waiting);
      this.#next();
    });
  }

  /** The same for a part of a running read, at once or not at all. */
  #useIfFree<T>(
    reader: Reader,
    work: (place: Place, running: PoolRead<Place>) => Promise<T>,
  ): Promise<T> | null {
    if (this.#isClosed || this.#turns.waiting > 0) return null;
    const turn: Waiting<Place> = { ...reader, take: () => undefined, refuse: () => undefined };
    this.#turns.add(turn);
    if (this.#turns.next() === undefined) {
      this.#turns.remove(turn);
      return null;
    }
    return this.#run(turn, this.#takeFree(), work);
  }

  /** Takes no more reads, and resolves when the running ones are done: closing a connection in use would end the process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#turns.running + this.#turns.waiting > 0) {
      await new Promise<void>((resolve) => (this.#onDone = resolve));
    }
  }

  /** Refuses the reads that wait, and ends the running ones. */
  abortPending(): void {
    for (const waiting of this.#turns.all()) {
      this.#turns.remove(waiting);
      waiting.refuse(closing());
    }
    for (const running of this.#running) running.end(null, closing());
    this.#onDone();
  }

  /** Whether the queue has room; where others take more of it than this read's share, the last of them gives up its place. */
  #hasRoom({ share }: Waiting<Place>): boolean {
    const { maxWaiting, maxWaitingOfShare } = this.#options;
    const own = this.#turns.waitingOf(share);
    if (own >= maxWaitingOfShare) return false;
    if (this.#turns.waiting < maxWaiting) return true;
    const last = this.#turns.lastOfLongest();
    if (last === undefined || this.#turns.waitingOf(last.share) <= own + 1) return false;
    this.#turns.remove(last);
    this.#refused++;
    last.refuse(tooManyWaiting());
    return true;
  }

  #next(): void {
    for (let turn = this.#turns.next(); turn !== undefined; turn = this.#turns.next()) {
      turn.take(this.#takeFree());
    }
  }

  #takeFree(): Place {
    const place = this.#free.pop();
    if (place === undefined) throw new Error('a read was to begin without a place');
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
      beside: (part) => {
        if (isEnded) return null;
        // It is ended with this one.
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
      this.#turns.done(waiting, performance.now() - begun);
      this.#next();
      this.#onDone();
    }
  }

  /**
   * Calls back when nobody waits for a read any more, or its time is up.
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
