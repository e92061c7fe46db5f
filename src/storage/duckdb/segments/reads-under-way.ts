import type { Clock } from '../../../component/telemetry.js';
import { heldUpMove } from '../../contracts/errors.js';
import type { RunningRead } from './connection-pool.js';

/** What a running read sees. */
interface Seen {
  /** The last commit that it sees. */
  readonly lastSeq: number;
  /** The last commit that it expects in the cold file. */
  readonly bound: number;
}

/** A read that is not over. */
interface Held extends Seen {
  readonly released: Promise<void>;
  /** The read itself, where it may be ended. */
  readonly read: RunningRead | undefined;
}

/** How long reads may hold up a move, or work that needs no reads to run, once that is pressing. */
const PATIENCE_MS = 5000;
/** How long commits and further reads wait for the running ones, for work that could be done later. */
const SHORT_PATIENCE_MS = 500;

/** How to wait for reads. */
interface WaitingForReads {
  /** After how long they are ended. */
  readonly patienceMs: number;
  readonly isPressing: () => boolean;
  readonly mayEnd: (read: RunningRead | undefined) => boolean;
  /** Whether to give up with an error where a read must not be ended. */
  readonly givesUp?: boolean;
}

/** The reads that have captured segments, for whoever has to wait for some of them, or for all. */
export class ReadsUnderWay {
  readonly #clock: Clock;
  readonly #held = new Set<Held>();
  /** Resolves when reads may begin again; null while they may. */
  #without: Promise<void> | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a read may begin: at once, except during {@link without}. */
  async ready(): Promise<void> {
    while (this.#without !== null) await this.#without;
  }

  /**
   * Notes a read that begins.
   *
   * @param read ended when it holds up others for too long
   * @returns a function that notes that it is over; it gives false where that was noted before
   */
  begin(seen: Seen, read: RunningRead | undefined): () => boolean {
    let tell = (): void => undefined;
    const held = { ...seen, read, released: new Promise<void>((resolve) => (tell = resolve)) };
    this.#held.add(held);
    return () => {
      tell();
      return this.#held.delete(held);
    };
  }

  /** The least bound of all running reads; `bound` where none is lower. */
  oldestBound(bound: number): number {
    return Math.min(bound, ...[...this.#held].map((held) => held.bound));
  }

  /**
   * Resolves when no read is left that began before a commit.
   *
   * @param isPressing from when it says so, such reads are ended after a while
   */
  async before(seq: number, isPressing: () => boolean): Promise<void> {
    await this.#over(
      [...this.#held].filter(({ lastSeq }) => lastSeq < seq),
      { patienceMs: PATIENCE_MS, isPressing, mayEnd: isEndable },
    );
  }

  /**
   * Does work while nobody reads: waits for the running reads, and lets new ones wait. For cases in which no read could go on for
   * long: after {@link PATIENCE_MS} all are ended, even those that nobody would repeat.
   */
  async without(work: () => Promise<void>): Promise<void> {
    await this.#alone(work, { patienceMs: PATIENCE_MS, isPressing: always, mayEnd: always });
  }

  /**
   * The same for work that can wait. New reads and commits are held up only once the reads that run now are over or were ended:
   * for {@link SHORT_PATIENCE_MS}, and for as long as the work takes.
   *
   * @throws Error where a read goes on that must not be ended
   */
  async withoutIfSoon(work: () => Promise<void>): Promise<void> {
    const waiting = { isPressing: always, mayEnd: isEndable, givesUp: true };
    await this.#over([...this.#held], { ...waiting, patienceMs: PATIENCE_MS });
    await this.#alone(work, { ...waiting, patienceMs: SHORT_PATIENCE_MS });
  }

  async #alone(work: () => Promise<void>, waiting: WaitingForReads): Promise<void> {
    let end = (): void => undefined;
    this.#without = new Promise((resolve) => (end = resolve));
    try {
      await this.#over([...this.#held], waiting);
      await work();
    } finally {
      this.#without = null;
      end();
    }
  }

  /** Resolves when reads are over; reads that go on for too long are ended where it is pressing. */
  async #over(reads: readonly Held[], waiting: WaitingForReads): Promise<void> {
    const { patienceMs, isPressing, mayEnd, givesUp = false } = waiting;
    let cancel = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      const endReads = (): void => {
        if (!isPressing()) {
          cancel = this.#clock.after(patienceMs, endReads);
          return;
        }
        const left = reads.filter((held) => this.#held.has(held));
        if (givesUp && !left.every(({ read }) => mayEnd(read))) reject(new Error(READ_GOES_ON));
        else for (const { read } of left) if (mayEnd(read)) read?.end('held_up_move', heldUpMove());
      };
      cancel = this.#clock.after(patienceMs, endReads);
    });
    try {
      await Promise.race([late, Promise.all(reads.map(({ released }) => released))]);
    } finally {
      cancel();
    }
  }
}

const READ_GOES_ON = 'a read of the store itself, of retention or a rebuild of the map, goes on';

function always(): true {
  return true;
}

function isEndable(read: RunningRead | undefined): boolean {
  return read?.mayBeEnded === true;
}
