import type { Clock } from '../../component/telemetry.js';
import { heldUpMove } from './read-errors.js';
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
      isPressing,
    );
  }

  /** Does something while nobody reads: waits for the reads under way, and lets the others wait. */
  async without(work: () => Promise<void>): Promise<void> {
    let end = (): void => undefined;
    this.#without = new Promise((resolve) => (end = resolve));
    try {
      await this.#over([...this.#held], () => true);
      await work();
    } finally {
      this.#without = null;
      end();
    }
  }

  /** Resolves when reads are over; those that go on for too long are ended where that is pressing. */
  async #over(reads: readonly Held[], isPressing: () => boolean): Promise<void> {
    const endReads = (): void => {
      if (!isPressing()) cancel = this.#clock.after(PATIENCE_MS, endReads);
      else
        for (const { read } of reads) if (read?.mayBeEnded === true) read.end('held_up_move', heldUpMove());
    };
    let cancel = this.#clock.after(PATIENCE_MS, endReads);
    try {
      await Promise.all(reads.map(({ released }) => released));
    } finally {
      cancel();
    }
  }
}
