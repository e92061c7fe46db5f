import type { Clock, Logger } from '../../../component/telemetry.js';
import { AttachedFiles, isDamage } from './attached-files.js';
import type { Connection } from '../files/connection.js';
import { findSegments, type Found } from './found-segments.js';
import type { RunningRead } from './connection-pool.js';
import { ReadsUnderWay } from './reads-under-way.js';
import type { Capture, Segment } from './segment.js';
import { ListedFiles } from '../files/listed-files.js';
import { SegmentFiles } from '../files/segment-files.js';
import type { HealthIssues } from '../files/health-issues.js';

/** Who hears of changes in the list of segments, and the clock. */
export interface SegmentParts {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly healthIssues: HealthIssues;
  /** Whether to go on without missing files. */
  readonly acceptsLoss?: boolean | undefined;
}

/** With this many sealed segments waiting a move is pressing, because their rows are in memory. */
const PRESSING_AT = 3;

/**
 * Which file holds which rows. New rows go to the current hot segment; sealed ones wait for the compactor, which takes them into the
 * cold file in order. Each change of this list happens in one JavaScript step, and every read takes one {@link Capture}, so it
 * sees each row exactly once, wherever the row goes meanwhile.
 */
export class Segments {
  readonly #logger: Logger;
  readonly #files: AttachedFiles;
  readonly #reads: ReadsUnderWay;
  /** Quarantined segments that can be read, and how many cannot. */
  #quarantined: readonly Segment[];
  #unreadable: number;
  #hot: readonly Segment[];
  #prepared: Segment | null = null;
  #preparing: Promise<void> = Promise.resolve();
  #bound: number;
  /** The last commit that may lie in a segment that cannot be read, and the greatest number that may have been given there. */
  readonly #unread: Found['unread'];
  #nextNumber: number;

  private constructor(files: AttachedFiles, found: Found, { logger, clock }: SegmentParts) {
    this.#files = files;
    this.#logger = logger;
    this.#reads = new ReadsUnderWay(clock);
    this.#quarantined = found.quarantined;
    this.#unreadable = found.unreadable;
    this.#hot = found.hot;
    this.#bound = found.bound;
    this.#unread = found.unread;
    this.#nextNumber = found.nextNumber;
  }

  /**
   * Attaches the cold file and what is left of the hot ones (replaying their logs), and starts a new current segment.
   *
   * @param mainPath path of the main file; the others lie beside it under its name
   * @param connection used for attaching only
   */
  static async open(connection: Connection, mainPath: string, parts: SegmentParts): Promise<Segments> {
    const names = new SegmentFiles(mainPath);
    const listed = await ListedFiles.read(connection, mainPath);
    const files = new AttachedFiles({ connection, listed }, names, parts.logger, parts.healthIssues);
    const { acceptsLoss = false } = parts;
    const found = await findSegments(connection, files, names, { ...parts, listed, acceptsLoss });
    const segments = new Segments(files, found, parts);
    segments.prepare();
    return segments;
  }

  /** The segment that takes new rows. */
  get current(): Segment {
    const segment = this.#hot.at(-1);
    if (segment === undefined) throw new Error('the store has no segment to write to');
    return segment;
  }

  /** Sealed segments, oldest first: the compactor's work. */
  get sealed(): readonly Segment[] {
    return this.#hot.slice(0, -1);
  }

  /** Segments that could not be moved and are read where they are, oldest first. */
  get quarantined(): readonly Segment[] {
    return this.#quarantined;
  }

  /** How many segments are quarantined, including those that cannot be read. */
  get quarantinedCount(): number {
    return this.#quarantined.length + this.#unreadable;
  }

  /** Whether rows that others replace may lie in quarantined segments, or in files whose loss was accepted. */
  get isAnyQuarantined(): boolean {
    return this.quarantinedCount > 0 || this.#unread.lastSeq > 0;
  }

  /** The highest commit number in any file. */
  get lastSeq(): number {
    const hot = [...this.#quarantined, ...this.#hot].map((segment) => segment.lastSeq);
    return Math.max(this.#bound, this.#unread.lastSeq, ...hot);
  }

  /** The last commit that the oldest running read, and every later one, expects in the cold file. */
  get oldestBound(): number {
    return this.#reads.oldestBound(this.#bound);
  }

  /** Resolves when a capture may be taken: at once, except during {@link withoutReads}. */
  async ready(): Promise<void> {
    await this.#reads.ready();
  }

  /**
   * What a read sees; to be taken in the same step in which {@link ready} resolved, and to be released.
   *
   * @param read ended when it holds up others for too long
   */
  capture(read?: RunningRead): Capture {
    const hot = [...this.#quarantined, ...this.#hot];
    const seen = { lastSeq: this.lastSeq, bound: this.#bound };
    for (const segment of hot) segment.readers++;
    const end = this.#reads.begin(seen, read);
    return {
      hot,
      ...seen,
      lastNumber: this.#unread.lastNumber,
      isAnyQuarantined: this.isAnyQuarantined,
      release: () => {
        if (!end()) return;
        for (const segment of hot) {
          segment.readers--;
          this.#letGoIfDone(segment);
        }
      },
    };
  }

  /**
   * Seals the current segment and goes on with the prepared one. Where none is ready, on a full disk for instance, the current
   * one goes on growing.
   *
   * @returns whether it was sealed
   */
  rotate(): boolean {
    if (this.#prepared === null) {
      this.prepare();
      return false;
    }
    this.#hot = [...this.#hot, this.#prepared];
    this.#prepared = null;
    this.prepare();
    return true;
  }

  /** Resolves when the next segment is ready, or could not be made. */
  async prepared(): Promise<void> {
    this.prepare();
    await this.#preparing;
  }

  /** Makes the next segment ahead of time, so that no write waits for it. */
  prepare(): void {
    if (this.#prepared !== null) return;
    this.#preparing = this.#preparing.then(async () => {
      if (this.#prepared !== null) return;
      try {
        this.#prepared = await this.#files.create(this.#nextNumber++);
      } catch (error) {
        this.#logger.error({ err: error }, 'Could not create the next hot segment; keeping the current one.');
      }
    });
  }

  /**
   * Resolves when no read is running that began before a commit. Such a read may still look for rows that later commits have
   * replaced. Reads may take their time as long as few segments wait; then they are ended.
   */
  async readsBefore(seq: number): Promise<void> {
    await this.#reads.before(seq, () => this.sealed.length >= PRESSING_AT);
  }

  /** Does work while nobody reads: waits for the running reads, and lets new ones wait. */
  async withoutReads(work: () => Promise<void>): Promise<void> {
    await this.#reads.without(work);
  }

  /** The same, if that does not hold up others for long. @throws Error where it would */
  async withoutReadsIfSoon(work: () => Promise<void>): Promise<void> {
    await this.#reads.withoutIfSoon(work);
  }

  /**
   * Attaches the cold file anew, after DuckDB has declared it unusable. All that was committed is in the file and its
   * log. To be called within {@link withoutReads}.
   */
  async attachColdAnew(): Promise<void> {
    const turn = this.#preparing.then(() => this.#files.attachColdAnew());
    this.#preparing = turn.catch(() => undefined);
    await turn;
  }

  /**
   * Whether every value of a segment can be read.
   *
   * @throws Error for reasons that say nothing about its file, such as too little memory
   */
  async canBeRead(segment: Segment): Promise<boolean> {
    const turn = this.#preparing.then(() => this.#files.readAll(segment));
    this.#preparing = turn.catch(() => undefined);
    return await turn.then(
      () => true,
      (error: unknown) => {
        if (!isDamage(error)) throw error;
        return false;
      },
    );
  }

  /**
   * Called by the compactor: the rows of a segment are in the cold file now, by a commit that has just ended. For a segment that was
   * set aside it has to be called within {@link withoutReads}.
   *
   * @param stuck segments that this commit has quarantined, and whether each can be read
   */
  retire(segment: Segment, stuck: ReadonlyMap<Segment, boolean> = new Map()): void {
    this.#bound = Math.max(this.#bound, segment.lastSeq);
    this.#hot = this.#hot.filter((other) => other !== segment && !stuck.has(other));
    this.#quarantined = this.#quarantined.filter((other) => other !== segment);
    for (const [one, isRead] of stuck) {
      one.isQuarantined = true;
      if (isRead) this.#quarantined = [...this.#quarantined, one];
      else {
        this.#unreadable++;
        one.end = 'detach';
        this.#letGoIfDone(one);
      }
    }
    segment.end = 'remove';
    this.#letGoIfDone(segment);
  }

  /** Waits for the preparation under way. */
  async close(): Promise<void> {
    await this.#preparing;
  }

  #letGoIfDone(segment: Segment): void {
    const { end } = segment;
    if (end === null || segment.readers > 0) return;
    segment.end = null;
    this.#preparing = this.#preparing
      .then(() => (end === 'remove' ? this.#files.remove(segment) : this.#files.detach(segment)))
      .catch((error: unknown) => {
        this.#logger.warn(
          { err: error, segment: segment.number },
          'Could not release a segment; the next start retries.',
        );
      });
  }
}
