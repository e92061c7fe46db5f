import type { Clock } from '../../../component/telemetry.js';
import { heldUpMove } from '../../contracts/errors.js';
import type { RunningRead } from './connection-pool.js';

/** The commits that a running read sees. */
interface Seen {
  /** The last commit that it sees. */
  readonly lastSeq: number;
  /** The last commit that it expects in the cold file. */
  readonly bound: number;
}

/** A running read. */
interface Held extends Seen {
  readonly released: Promise<void>;
  /** The read itself, if it may be ended. */
  readonly read: RunningRead | undefined;
}

/** How long reads may delay an urgent compaction, or work that requires that no read runs. */
const PATIENCE_MS = 5000;
/** How long work that can be deferred may delay commits and new reads while it waits for running reads. */
const SHORT_PATIENCE_MS = 500;

/** How to wait for reads. */
interface WaitingForReads {
  /** Time after which the reads are ended. */
  readonly patienceMs: number;
  readonly isPressing: () => boolean;
  readonly mayEnd: (read: RunningRead | undefined) => boolean;
  /** Whether to fail if a read must not be ended. */
  readonly givesUp?: boolean;
}

/** The reads that have captured segments, so that other work can wait for some or all of them. */
export class ReadsUnderWay {
  readonly #clock: Clock;
  readonly #held = new Set<Held>();
  /** Resolves when reads may begin again; null if they may begin now. */
  #without: Promise<void> | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a read may begin: immediately, except during {@link without}. */
  async ready(): Promise<void> {
    while (this.#without !== null) await this.#without;
  }

  /**
   * Registers a read that begins.
   *
   * @param read ended if it delays others for too long
   * @returns a function that unregisters the read; it returns false if called before
   */
  begin(seen: Seen, read: RunningRead | undefined): () => boolean {
    let notify = (): void => undefined;
    const held = { ...seen, read, released: new Promise<void>((resolve) => (notify = resolve)) };
    this.#held.add(held);
    return () => {
      notify();
      return this.#held.delete(held);
    };
  }

  /** The lowest bound of all running reads, or `bound` if none is lower. */
  oldestBound(bound: number): number {
    return Math.min(bound, ...[...this.#held].map((held) => held.bound));
  }

  /**
   * Resolves when every read that began before a commit is over.
   *
   * @param isPressing once it returns true, such reads are ended after a while
   */
  async before(seq: number, isPressing: () => boolean): Promise<void> {
    await this.#over(
      [...this.#held].filter(({ lastSeq }) => lastSeq < seq),
      { patienceMs: PATIENCE_MS, isPressing, mayEnd: isEndable },
    );
  }

  /**
   * Runs work without concurrent reads: waits for the running reads and delays new ones. For cases in which no read could continue
   * for long: after {@link PATIENCE_MS} all reads are ended, even those that are not retried.
   */
  async without(work: () => Promise<void>): Promise<void> {
    await this.#alone(work, { patienceMs: PATIENCE_MS, isPressing: always, mayEnd: always });
  }

  /**
   * Like {@link without}, for work that can be deferred. First waits for the running reads and ends long ones. Only then delays new
   * reads and commits, for at most {@link SHORT_PATIENCE_MS} plus the time that the work takes.
   *
   * @throws Error if a read continues that must not be ended
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

  /** Resolves when the reads are over; if it is pressing, long reads are ended. */
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
