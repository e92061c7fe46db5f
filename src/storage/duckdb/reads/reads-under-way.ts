import type { Clock } from '../../../component/telemetry.js';
import { heldUpMove } from '../files/read-errors.js';
import type { RunningRead } from './read-pool.js';

/** What a read under way sees. */
interface Seen {
  /** The last commit. */
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

/** How long reads hold up a move, or what is to be done without reads, once that is pressing. */
const PATIENCE_MS = 5000;
/** How long commits and further reads wait for those under way, where what is to be done could be done later. */
const SHORT_PATIENCE_MS = 500;

/** How reads are waited for. */
interface WaitingForReads {
  /** From when on they are ended. */
  readonly patienceMs: number;
  readonly isPressing: () => boolean;
  readonly mayEnd: (read: RunningRead | undefined) => boolean;
  /** Whether the waiting ends with an error where one may not be ended. */
  readonly givesUp?: boolean;
}

/** The reads that have captured segments, for whoever has to wait for some of them, or for all. */
export class ReadsUnderWay {
  readonly #clock: Clock;
  readonly #held = new Set<Held>();
  /** Ends when reads may begin again; null: they may. */
  #without: Promise<void> | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a read may begin, which is at once except during {@link without}. */
  async ready(): Promise<void> {
    while (this.#without !== null) await this.#without;
  }

  /**
   * Notes one that begins.
   *
   * @param read is ended when it holds up others for too long
   * @returns what notes that it is over; false where that was noted before
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

  /** The least bound of all; `bound` where there is none below it. */
  oldestBound(bound: number): number {
    return Math.min(bound, ...[...this.#held].map((held) => held.bound));
  }

  /** Resolves when none is left that began before a commit. @param isPressing from when on they are ended after a while */
  async before(seq: number, isPressing: () => boolean): Promise<void> {
    await this.#over(
      [...this.#held].filter(({ lastSeq }) => lastSeq < seq),
      { patienceMs: PATIENCE_MS, isPressing, mayEnd: isEndable },
    );
  }

  /**
   * Does something while nobody reads: waits for the reads under way, and lets the others wait. To be used where no read could
   * go on for long: from {@link PATIENCE_MS} on all are ended, also those that nobody would do again.
   */
  async without(work: () => Promise<void>): Promise<void> {
    await this.#alone(work, { patienceMs: PATIENCE_MS, isPressing: always, mayEnd: always });
  }

  /**
   * Likewise, for what can wait. Reads and commits that come are held up only from when the reads under way by now are over, or
   * were ended: for {@link SHORT_PATIENCE_MS}, and for as long as the work takes.
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

  /** Resolves when reads are over; those that go on for too long are ended where that is pressing. */
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
