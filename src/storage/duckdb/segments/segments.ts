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

/** Dependencies of {@link Segments}. */
export interface SegmentParts {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly healthIssues: HealthIssues;
  /** Whether to continue without missing files. */
  readonly acceptsLoss?: boolean | undefined;
}

/** With this many sealed segments compaction is urgent, because their rows are in memory. */
const PRESSING_AT = 3;

/**
 * Tracks which file holds which rows. New rows go to the current hot segment; the compactor copies sealed segments into the cold
 * file in order. Each change of this list is synchronous, and every read takes one {@link Capture}, so it sees each row exactly
 * once, even if the row is compacted during the read.
 */
export class Segments {
  readonly #logger: Logger;
  readonly #files: AttachedFiles;
  readonly #reads: ReadsUnderWay;
  /** Readable quarantined segments, and the number of unreadable ones. */
  #quarantined: readonly Segment[];
  #unreadable: number;
  #hot: readonly Segment[];
  #prepared: Segment | null = null;
  #preparing: Promise<void> = Promise.resolve();
  #bound: number;
  /** The last commit and the greatest small number that an unreadable segment may have used. */
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
   * Attaches the cold file and the existing hot segments (replaying their logs), and starts a new current segment.
   *
   * @param mainPath path of the main file; the other files are in the same directory and have its name as prefix
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

  /** Segments that could not be compacted but are still read, oldest first. */
  get quarantined(): readonly Segment[] {
    return this.#quarantined;
  }

  /** How many segments are quarantined, including those that cannot be read. */
  get quarantinedCount(): number {
    return this.#quarantined.length + this.#unreadable;
  }

  /** Whether superseded rows may be in quarantined segments or in files whose loss was accepted. */
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

  /** Resolves when a capture may be taken: immediately, except during {@link withoutReads}. */
  async ready(): Promise<void> {
    await this.#reads.ready();
  }

  /**
   * Takes a capture. Call synchronously after {@link ready} resolved, and release the capture.
   *
   * @param read ended if it delays others for too long
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
   * Seals the current segment and switches to the prepared one. If none is ready, for example on a full disk, the current segment
   * keeps growing.
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

  /** Resolves when the next segment is ready or could not be created. */
  async prepared(): Promise<void> {
    this.prepare();
    await this.#preparing;
  }

  /** Creates the next segment in advance, so that no write waits for it. */
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
   * Resolves when every read that began before a commit is over. Such a read may still need rows that later commits replaced. Reads
   * are ended only if many sealed segments wait.
   */
  async readsBefore(seq: number): Promise<void> {
    await this.#reads.before(seq, () => this.sealed.length >= PRESSING_AT);
  }

  /** Runs work without concurrent reads: waits for the running reads and delays new ones. */
  async withoutReads(work: () => Promise<void>): Promise<void> {
    await this.#reads.without(work);
  }

  /** Like {@link withoutReads}, if that does not delay others for long. @throws Error if it would */
  async withoutReadsIfSoon(work: () => Promise<void>): Promise<void> {
    await this.#reads.withoutIfSoon(work);
  }

  /**
   * Reattaches the cold file after DuckDB invalidated it. All committed data is in the file and its log. Call within {@link
   * withoutReads}.
   */
  async reattachCold(): Promise<void> {
    const turn = this.#preparing.then(() => this.#files.reattachCold());
    this.#preparing = turn.catch(() => undefined);
    await turn;
  }

  /**
   * Whether every value of a segment can be read.
   *
   * @throws Error for causes other than damage of its file, such as too little memory
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
   * Called by the compactor after the commit that copied the rows of a segment into the cold file. For a segment that was
   * quarantined, call it within {@link withoutReads}.
   *
   * @param stuck segments that this commit quarantined, and whether each can be read
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

  /** Runs work while no file is created, detached or removed. */
  async whileUnchanged<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#preparing.then(work);
    this.#preparing = turn.then(
      () => undefined,
      () => undefined,
    );
    return await turn;
  }

  /** Waits until a segment that is being prepared is ready. */
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
