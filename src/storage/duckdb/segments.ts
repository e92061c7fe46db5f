import type { Clock, Logger } from '../../component/telemetry.js';
import type { Table } from '../table.js';
import { SEGMENT_TABLES } from '../tables.js';
import { literal, type Connection } from './database.js';
import { restoreMetadata } from './metadata-copy.js';
import { migrate, schemaVersion, SEGMENT_SCHEMA } from './migrations.js';
import { heldUpMove } from './read-errors.js';
import type { RunningRead } from './read-pool.js';
import { isTorn, removeFiles, SegmentFiles } from './segment-files.js';
import { openError } from './store-open-error.js';
import type { Troubles } from './troubles.js';
import { describeUnusable, setUnusableAside } from './unusable-rows.js';

/** A hot segment: an attached file that only ever grows, and is never checkpointed. */
export interface Segment {
  readonly number: number;
  /** Its name in SQL. */
  readonly catalog: string;
  readonly path: string;
  rows: number;
  bytes: number;
  /** The last commit in it; 0 while it is empty. */
  lastSeq: number;
  /** Rows of each table that replace older versions. */
  readonly replacing: Map<string, number>;
  /** Reads that have captured it and are not finished. */
  readers: number;
  retired: boolean;
}

/**
 * What a read sees: of these hot segments, and of what the cold file has up to the bound, all that was committed when the
 * read began. So all statements of one read see the same.
 */
export interface Capture {
  readonly hot: readonly Segment[];
  readonly bound: number;
  /** The last commit that is seen. */
  readonly lastSeq: number;
  release(): void;
}

/** Whom the list of segments tells, and what it measures time by. */
interface SegmentParts {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly troubles: Troubles;
}

/** A capture that is not released yet. */
interface Held {
  readonly lastSeq: number;
  readonly bound: number;
  readonly released: Promise<void>;
  /** The read that it is for, where that is one that may be ended. */
  readonly read: RunningRead | undefined;
}

/** How long reads hold up a move, or what is to be done without reads, once that is pressing. */
const PATIENCE_MS = 5000;
/** With this many sealed segments waiting it is: what they hold is in memory. */
const PRESSING_AT = 3;

/** The cold file's name in SQL. */
export const COLD = 'cold';
/** Row groups of 8192: a slice of the mover then is written at once, and look-ups by commit read little. */
const ATTACH_OPTIONS = "ROW_GROUP_SIZE 8192, STORAGE_VERSION 'v1.2.0'";

/**
 * Which file holds which rows. New rows go to the current hot segment; sealed ones wait for the mover, which takes them
 * into the cold file in order. All changes of this list happen in one JavaScript step, and every read takes one
 * {@link Capture}, so that it sees each row exactly once wherever the row is meanwhile.
 */
export class Segments {
  readonly #connection: Connection;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #files: SegmentFiles;
  #hot: Segment[] = [];
  #prepared: Segment | null = null;
  #preparing: Promise<void> = Promise.resolve();
  readonly #troubles: Troubles;
  readonly #captures = new Set<Held>();
  /** Ends when reads may begin again; null: they may. */
  #withoutReads: Promise<void> | null = null;
  #bound = 0;
  #nextNumber = 1;

  private constructor(
    connection: Connection,
    files: SegmentFiles,
    { logger, clock, troubles }: SegmentParts,
  ) {
    this.#clock = clock;
    this.#troubles = troubles;
    this.#connection = connection;
    this.#files = files;
    this.#logger = logger;
  }

  /**
   * Attaches the cold file and what is left of the hot ones (replaying their logs), and starts a new current segment.
   *
   * @param mainPath path of the main file; the others lie beside it under its name
   * @param connection used for attaching only
   */
  static async open(connection: Connection, mainPath: string, parts: SegmentParts): Promise<Segments> {
    const segments = new Segments(connection, new SegmentFiles(mainPath), parts);
    await segments.#attachAll();
    return segments;
  }

  /** Where new rows go. */
  get current(): Segment {
    const segment = this.#hot.at(-1);
    if (segment === undefined) throw new Error('the store has no segment to write to');
    return segment;
  }

  /** Sealed segments, oldest first: the mover's work. */
  get sealed(): readonly Segment[] {
    return this.#hot.slice(0, -1);
  }

  /** Highest commit number in any file. */
  get lastSeq(): number {
    return Math.max(this.#bound, ...this.#hot.map((segment) => segment.lastSeq));
  }

  /** The last commit that the oldest read under way, and every later one, expects in the cold file. */
  get oldestBound(): number {
    return Math.min(this.#bound, ...[...this.#captures].map(({ bound }) => bound));
  }

  /** Resolves when a capture may be taken, which is at once except during {@link withoutReads}. */
  async ready(): Promise<void> {
    while (this.#withoutReads !== null) await this.#withoutReads;
  }

  /**
   * What a read sees, to be taken in the same step in which {@link ready} resolved, and to be released.
   *
   * @param read is ended when it holds up others for too long
   */
  capture(read?: RunningRead): Capture {
    const hot = this.#hot;
    const lastSeq = this.lastSeq;
    for (const segment of hot) segment.readers++;
    let tell = (): void => undefined;
    const held = {
      lastSeq,
      bound: this.#bound,
      released: new Promise<void>((resolve) => (tell = resolve)),
      read,
    };
    this.#captures.add(held);
    return {
      hot,
      bound: this.#bound,
      lastSeq,
      release: () => {
        if (!this.#captures.delete(held)) return;
        tell();
        for (const segment of hot) {
          segment.readers--;
          this.#detachIfDone(segment);
        }
      },
    };
  }

  /**
   * Seals the current segment and goes on with the one prepared. Where none is ready (the disk is full, say) the current
   * one goes on growing. @returns whether it was sealed
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

  /** Makes the next segment ready, ahead of time and outside the way of the writes. */
  prepare(): void {
    if (this.#prepared !== null) return;
    this.#preparing = this.#preparing.then(async () => {
      if (this.#prepared !== null) return;
      try {
        this.#prepared = await this.#create();
      } catch (error) {
        this.#logger.error(
          { err: error },
          'The next hot segment cannot be made; the current one goes on growing.',
        );
      }
    });
  }

  /**
   * Resolves when no read is under way that began before a commit. Such a read may still look for the rows that later
   * commits have replaced. Reads may take their time as long as few segments wait; from then on they are ended.
   */
  async readsBefore(seq: number): Promise<void> {
    const older = [...this.#captures].filter((capture) => capture.lastSeq < seq);
    await this.#released(older, () => this.sealed.length >= PRESSING_AT);
  }

  /** Does something while nobody reads: waits for the reads under way, and lets the others wait. */
  async withoutReads(work: () => Promise<void>): Promise<void> {
    let end = (): void => undefined;
    this.#withoutReads = new Promise((resolve) => (end = resolve));
    try {
      await this.#released([...this.#captures], () => true);
      await work();
    } finally {
      this.#withoutReads = null;
      end();
    }
  }

  /**
   * Attaches the cold file anew, after DuckDB has declared it unusable. All that was committed is in the file and its
   * log. To be called within {@link withoutReads}.
   */
  async attachColdAnew(): Promise<void> {
    const turn = this.#preparing.then(async () => {
      await this.#connection.run(`DETACH DATABASE IF EXISTS ${COLD}`);
      await this.#attach(COLD, this.#files.cold);
    });
    this.#preparing = turn.catch(() => undefined);
    await turn;
  }

  /** In the mover's hands: its rows are in the cold file, by a commit that has just ended. */
  retire(segment: Segment): void {
    this.#bound = segment.lastSeq;
    this.#hot = this.#hot.filter((other) => other !== segment);
    segment.retired = true;
    this.#detachIfDone(segment);
  }

  /** Ends the preparation under way. */
  async close(): Promise<void> {
    await this.#preparing;
  }

  /** Resolves when reads are over; those that go on for too long are ended where that is pressing. */
  async #released(reads: readonly Held[], isPressing: () => boolean): Promise<void> {
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

  async #attachAll(): Promise<void> {
    await this.#attach(COLD, this.#files.cold);
    await migrate(this.#connection, COLD, SEGMENT_SCHEMA, this.#files.cold);
    await this.#setUnusableAside(COLD, this.#files.cold);
    const [moved] = await this.#connection.rows(
      `SELECT coalesce(max(segment), 0) AS segment, coalesce(max(last_seq), 0) AS last_seq FROM ${COLD}.main.moved`,
    );
    const lastMoved = Number(moved?.segment);
    this.#bound = Number(moved?.last_seq);
    this.#nextNumber = lastMoved + 1;
    for (const { number, path } of this.#files.list()) {
      this.#nextNumber = Math.max(this.#nextNumber, number + 1);
      // They are moved in the order of their numbers.
      if (number <= lastMoved) await removeFiles(path);
      else await this.#adopt(number, path);
    }
    this.#hot.push(await this.#create());
    this.prepare();
  }

  /** Takes over a segment that an earlier process left. */
  async #adopt(number: number, path: string): Promise<void> {
    if (isTorn(path)) {
      await removeFiles(path);
      return;
    }
    const segment = newSegment(number, path);
    await this.#attach(segment.catalog, path);
    // A file without schema was being made when the process ended: there is nothing in it.
    const isEmpty = (await schemaVersion(this.#connection, segment.catalog)) === null;
    if (!isEmpty) {
      await migrate(this.#connection, segment.catalog, SEGMENT_SCHEMA, path);
      await this.#setUnusableAside(segment.catalog, path);
    }
    for (const table of isEmpty ? [] : SEGMENT_TABLES) await this.#measure(segment, table);
    if (segment.rows === 0) await this.#detach(segment);
    else this.#hot.push(segment);
  }

  async #setUnusableAside(catalog: string, path: string): Promise<void> {
    const rows = await setUnusableAside(this.#connection, catalog);
    if (rows.size === 0) return;
    const message = describeUnusable(path, rows);
    this.#logger.error({ rows: Object.fromEntries(rows), file: path }, message);
    this.#troubles.set(`unusable rows of ${path}`, message);
  }

  async #measure(segment: Segment, table: Table): Promise<void> {
    const replacing = table.versionOf === undefined ? '0' : 'count(*) FILTER (WHERE replaces)';
    const [row] = await this.#connection.rows(
      `SELECT count(*) AS rows, coalesce(max(seq), 0) AS last_seq, ${replacing} AS replacing FROM ${segment.catalog}.main.${table.name}`,
    );
    segment.rows += Number(row?.rows);
    segment.lastSeq = Math.max(segment.lastSeq, Number(row?.last_seq));
    segment.replacing.set(table.name, Number(row?.replacing));
  }

  async #create(): Promise<Segment> {
    const number = this.#nextNumber++;
    const segment = newSegment(number, this.#files.hot(number));
    await this.#attach(segment.catalog, segment.path);
    await migrate(this.#connection, segment.catalog, SEGMENT_SCHEMA, segment.path);
    return segment;
  }

  async #attach(catalog: string, path: string): Promise<void> {
    try {
      // The main file is locked by now, and this one is ours with it.
      await restoreMetadata(path);
      await this.#connection.run(`ATTACH ${literal(path)} AS ${catalog} (${ATTACH_OPTIONS})`);
    } catch (error) {
      throw openError(path, error);
    }
  }

  #detachIfDone(segment: Segment): void {
    if (!segment.retired || segment.readers > 0) return;
    this.#preparing = this.#preparing
      .then(() => this.#detach(segment))
      .catch((error: unknown) => {
        this.#logger.warn(
          { err: error, segment: segment.number },
          'A moved segment could not be removed; the next start does it.',
        );
      });
  }

  async #detach(segment: Segment): Promise<void> {
    await this.#connection.run(`DETACH ${segment.catalog}`);
    await removeFiles(segment.path);
  }
}

function newSegment(number: number, path: string): Segment {
  return {
    number,
    catalog: `g${number}`,
    path,
    rows: 0,
    bytes: 0,
    lastSeq: 0,
    replacing: new Map(),
    readers: 0,
    retired: false,
  };
}
