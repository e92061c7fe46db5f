import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConsumeError } from '../../../component/consume-error.js';
import { EXPORTED, fileOf, TABLE_NAMES, type TableName } from '../../transfer/exported-tables.js';
import { FILE_SIZE, type FileSize } from '../../transfer/table-files.js';
import {
  type ExportProgress,
  type MissingRows,
  NO_PROGRESS,
  type WrittenFile,
  type WrittenTables,
} from '../../contracts/transfer.js';
import type { EventReads } from '../write/event-reads.js';
import { factsStore } from '../write/facts.js';
import type { Connection } from '../files/connection.js';
import { isUnreadable } from '../files/damage.js';
import { memoryThatIsShort } from '../files/storage-failure.js';
import { closing } from '../../contracts/errors.js';
import { ofCommitsBetween, type CommitRange, type OfCommits } from '../segments/commit-ranges.js';
import type { Reads } from '../segments/read.js';
import type { Capture } from '../segments/segment.js';
import { describeMissing, isSkippable, readAround, type SkippedTable } from './damaged-rows.js';
import { exportPages } from './export-pages.js';
import { EXPORT_QUERIES, EXPORT_ROWS, EXPORT_WEIGHTS } from './export-queries.js';
import { PagePayloads } from './page-payloads.js';

/** A running export and its snapshot. */
interface Underway {
  readonly connection: Connection;
  readonly capture: Capture;
  readonly end: () => void;
  /** Resolves when the capture is released. */
  readonly ended: Promise<void>;
  progress: ExportProgress;
  /** The work that uses the connection. */
  writing: Promise<unknown>;
}

interface ExportParts {
  readonly reads: Reads;
  readonly events: EventReads;
  /** Whether waiting segments slow down commits; the export is then aborted. */
  readonly isPressing: () => boolean;
  /** Directory next to the store for the file being written: DuckDB may not write anywhere else. */
  readonly scratch: string;
  /** `memory_limit` of DuckDB. */
  readonly memoryLimit: string;
}

/**
 * Writes a snapshot of the store into Parquet files while the store keeps running: one long read over one of the connections for
 * internal work. Compaction waits for it, so it is aborted before commits are delayed.
 */
export class StoreExport {
  readonly #reads: Reads;
  readonly #events: EventReads;
  readonly #isPressing: () => boolean;
  readonly #scratch: string;
  readonly #memoryLimit: string;
  readonly #size: FileSize;
  #isTaken = false;
  #isClosing = false;
  #underway: Underway | null = null;

  constructor({ reads, events, isPressing, scratch, memoryLimit }: ExportParts, size: FileSize = FILE_SIZE) {
    this.#scratch = scratch;
    this.#reads = reads;
    this.#events = events;
    this.#isPressing = isPressing;
    this.#memoryLimit = memoryLimit;
    this.#size = size;
  }

  /** Takes the snapshot. @returns false if another export is running @throws ConsumeError */
  async begin(): Promise<boolean> {
    if (this.#isTaken) return false;
    if (this.#isClosing) throw closing();
    this.#isTaken = true;
    let end = (): void => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    await new Promise<void>((resolve, reject) => {
      const ended = this.#reads.forWork('export')(async (connection, capture) => {
        this.#underway = {
          ...{ connection, capture, end, ended },
          progress: NO_PROGRESS,
          writing: Promise.resolve(),
        };
        resolve();
        await held;
      });
      ended.catch(reject);
    }).catch((error: unknown) => {
      this.#isTaken = false;
      throw error;
    });
    return true;
  }

  /** Whether the event log, which is complete up to a mark, lacks facts of the snapshot. */
  async lacksFacts(mark: string | null): Promise<boolean> {
    return await factsStore(this.#events, mark, this.#begun().capture.lastSeq);
  }

  /** Writes all tables. @param directory absolute */
  async write(
    directory: string,
    { skipsDamaged, abort }: { readonly skipsDamaged: boolean; readonly abort?: AbortSignal | undefined },
  ): Promise<WrittenTables> {
    const underway = this.#begun();
    const writing = this.#write(underway, { directory, skipsDamaged }, () => {
      if (this.#isClosing) throw closing();
      if (abort?.aborted === true) throw abandonedExport();
      if (this.#isPressing()) throw gaveWay();
    });
    underway.writing = writing.catch(() => undefined);
    try {
      return await writing;
    } catch (error) {
      if (isUnreadable(error)) throw damaged(error);
      const memory = memoryThatIsShort(error);
      throw memory === null ? error : shortOfMemory(memory, error);
    }
  }

  /** The progress of the export. */
  get progress(): ExportProgress {
    return this.#underway?.progress ?? NO_PROGRESS;
  }

  /** Releases its capture after the current statement. May be called at any time. */
  async end(): Promise<void> {
    const underway = this.#underway;
    if (underway === null) return;
    await underway.writing;
    this.#underway = null;
    underway.end();
    await underway.ended.catch(() => undefined);
    this.#isTaken = false;
  }

  /** Accepts no more exports, and aborts the running one. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.end();
  }

  #begun(): Underway {
    if (this.#underway === null) throw closing();
    return this.#underway;
  }

  async #write(
    underway: Underway,
    { directory, skipsDamaged }: { readonly directory: string; readonly skipsDamaged: boolean },
    throwIfStopped: () => void,
  ): Promise<WrittenTables> {
    const { connection, capture } = underway;
    const files: WrittenFile[] = [];
    const memory = await ReturnedMemory.begin(connection, this.#memoryLimit);
    const missing: MissingRows[] = [];
    const around = async (
      table: SkippedTable,
      range: CommitRange,
      read: (part: OfCommits) => Promise<void>,
    ): Promise<void> => {
      const part = ({ first, last }: CommitRange): Promise<void> => read(ofCommitsBetween(first, last));
      if (!skipsDamaged) await part(range);
      else
        for (const lost of await readAround(range, part))
          missing.push(await describeMissing(connection, capture, table, lost));
    };
    const written = new Map<TableName, number>();
    const copy = async (table: TableName, query: string): Promise<void> => {
      throwIfStopped();
      const file = (written.get(table) ?? 0) + 1;
      const name = fileOf(table, isPaged(table) ? file : undefined);
      underway.progress = { ...underway.progress, table };
      const scratch = join(this.#scratch, name);
      const rows = await connection.copyTo(scratch, query).catch(async (error: unknown) => {
        await rm(scratch, { force: true });
        throw error;
      });
      await moveFile(scratch, join(directory, name));
      written.set(table, file);
      await memory.trim();
      if (isPaged(table)) underway.progress = { ...underway.progress, rows: underway.progress.rows + rows };
      files.push({ name, rows });
    };
    const payloads = new PagePayloads(connection, capture);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    try {
      const paged = new Map<TableName, readonly OfCommits[]>();
      let total = 0;
      for (const table of TABLE_NAMES.filter(isPaged)) {
        throwIfStopped();
        const { pages, rows } = await this.#pagesOf(underway, table, skipsDamaged);
        paged.set(table, pages);
        total += rows;
      }
      underway.progress = { ...underway.progress, total };
      for (const table of TABLE_NAMES) {
        const query = EXPORT_QUERIES[table];
        if (!isPaged(table)) {
          try {
            await copy(table, query(capture, 'TRUE'));
          } catch (error) {
            if (!skipsDamaged || !isSkippable(table) || !isUnreadable(error)) throw error;
            // The table is exported as one file, so the readable rows are collected first.
            await connection.run(
              `CREATE OR REPLACE TABLE ${SALVAGED} AS ${query(capture, ofCommitsBetween(0, 0))}`,
            );
            await around(table, { first: 0, last: capture.lastSeq }, (part) =>
              connection.run(`INSERT INTO ${SALVAGED} ${query(capture, part)}`),
            );
            await copy(table, `SELECT * FROM ${SALVAGED}`);
          }
          continue;
        }
        for (const page of paged.get(table) ?? []) {
          throwIfStopped();
          const range = rangeOf(page);
          if (table === 'spans') {
            await payloads.begin();
            await around('payloads', range, (part) => payloads.load(part));
          }
          await around(table, range, (part) => copy(table, query(capture, part)));
        }
      }
    } finally {
      await rm(this.#scratch, { recursive: true, force: true });
      await payloads.clear();
      await connection.run(`DROP TABLE IF EXISTS ${SALVAGED}`);
      await memory.trim();
    }
    return { files, missing };
  }

  /** Uses coarser pages if the columns that determine the pages are damaged. */
  async #pagesOf(
    { connection, capture }: Underway,
    table: keyof typeof EXPORT_WEIGHTS,
    skipsDamaged: boolean,
  ): ReturnType<typeof exportPages> {
    const all = ofCommitsBetween(0, capture.lastSeq);
    const cut = (weights: (page: OfCommits | 'TRUE') => string): ReturnType<typeof exportPages> =>
      exportPages(connection, weights, this.#size);
    try {
      return await cut((page) => EXPORT_WEIGHTS[table](capture, page));
    } catch (error) {
      if (!skipsDamaged || !isUnreadable(error)) throw error;
    }
    try {
      return await cut((page) => EXPORT_ROWS[table](capture, page));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { pages: [all], rows: 0 };
    }
  }
}

/** The readable rows of a table with damaged blocks. */
const SALVAGED = 'memory.main.export_salvaged';

/** The commits of a page. */
function rangeOf({ commits }: OfCommits): CommitRange {
  return { first: commits[0]?.first ?? 0, last: commits.at(-1)?.last ?? 0 };
}

/** Moves a file, also to another file system. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    await copyFile(from, to);
    await rm(from);
  }
}

function isPaged(table: TableName): table is keyof typeof EXPORT_WEIGHTS {
  return EXPORTED[table].isPaged;
}

function gaveWay(): ConsumeError {
  return new ConsumeError(
    'Export aborted: it blocks compaction, and too many segments are waiting. Export at a time with less traffic, stop the daemon and export with --offline, or raise extensions.duckdb.max_waiting_segments.',
    { code: 'overloaded', retryable: true, retryAfterMs: 60_000 },
  );
}

function damaged(cause: unknown): ConsumeError {
  return new ConsumeError(
    'A block of the store is damaged and cannot be read. Export with --skip-damaged (API: skip_damaged) to skip damaged rows and list them.',
    { code: 'store_damaged', retryable: false, cause },
  );
}

/** @param memory the limit as DuckDB formats it */
function shortOfMemory(memory: string, cause: unknown): ConsumeError {
  return new ConsumeError(
    `The export needs more memory than the ${memory} that DuckDB may use for reads, writes and exports: raise extensions.duckdb.memory_limit, restart the daemon, and export again.`,
    { code: 'overloaded', retryable: true, retryAfterMs: 60_000, cause },
  );
}

function abandonedExport(): ConsumeError {
  return new ConsumeError('Export cancelled: the client disconnected.', {
    code: 'storage_unavailable',
    retryable: true,
  });
}

/** Blocks of files that an export may add to DuckDB's cache. */
const CACHED_BYTES = 32 * 1024 * 1024;

/**
 * Keeps the memory of a long read small: drops blocks that it brought into DuckDB's cache, and returns freed memory to the system.
 * Setting `memory_limit` is the only statement of DuckDB 1.5.5 that does either.
 */
class ReturnedMemory {
  readonly #connection: Connection;
  readonly #limit: string;
  readonly #mostCached: number;

  private constructor(connection: Connection, limit: string, mostCached: number) {
    this.#connection = connection;
    this.#limit = limit;
    this.#mostCached = mostCached;
  }

  /** @param limit `memory_limit` as configured */
  static async begin(connection: Connection, limit: string): Promise<ReturnedMemory> {
    const { cached } = await usage(connection);
    return new ReturnedMemory(connection, limit, cached + CACHED_BYTES);
  }

  /** To be called between two statements. */
  async trim(): Promise<void> {
    const { cached, used } = await usage(this.#connection);
    const usual = `SET GLOBAL memory_limit = '${this.#limit}'`;
    if (cached <= this.#mostCached) {
      await this.#connection.run(usual);
      return;
    }
    // The lower limit holds for milliseconds. Other statements may evict blocks meanwhile, so they still get CACHED_BYTES.
    const lower = `SET GLOBAL memory_limit = '${used - cached + this.#mostCached}B'`;
    // DuckDB refuses a limit below the memory in use, and keeps the usual limit.
    await this.#connection.run(lower).catch(() => undefined);
    await this.#connection.run(usual);
  }
}

async function usage(connection: Connection): Promise<{ readonly cached: number; readonly used: number }> {
  const [row] = await connection.rows(
    `SELECT coalesce(sum(memory_usage_bytes) FILTER (WHERE tag = 'BASE_TABLE'), 0)::BIGINT AS cached, sum(memory_usage_bytes)::BIGINT AS used FROM duckdb_memory()`,
  );
  return { cached: Number(row?.['cached']), used: Number(row?.['used']) };
}
