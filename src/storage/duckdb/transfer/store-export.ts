import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConsumeError } from '../../../component/consume-error.js';
import { EXPORTED, fileOf, TABLE_NAMES, type TableName } from '../../transfer/exported-tables.js';
import { FILE_SIZE, type FileSize } from '../../transfer/table-files.js';
import { NO_PROGRESS, type ExportProgress, type WrittenFile } from '../../telemetry-transfer.js';
import type { EventReads } from '../events/event-reads.js';
import { factsReach } from '../events/facts.js';
import type { Connection } from '../files/connection.js';
import { ReturnedMemory } from '../files/returned-memory.js';
import { memoryThatIsShort } from '../files/storage-failure.js';
import { closing } from '../../read-errors.js';
import type { OfCommits } from '../rows/commit-ranges.js';
import type { Reads } from '../reads/read.js';
import type { Capture } from '../rows/segment.js';
import { exportPages } from './export-pages.js';
import { EXPORT_QUERIES, EXPORT_WEIGHTS } from './export-queries.js';
import { PagePayloads } from './page-payloads.js';

/** An export under way: what it sees, from its beginning to its end. */
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
  /** Whether so much waits to be moved that commits are slowed down: then the export gives way. */
  readonly isPressing: () => boolean;
  /** Directory beside the store for the file that is being written: DuckDB may write nowhere else. */
  readonly scratch: string;
  /** `memory_limit` of DuckDB. */
  readonly memoryLimit: string;
}

/**
 * Writes everything that the store holds at one moment into Parquet files, while it goes on with its work: one read that lasts, over
 * one of the connections that the store's own work has. Moves wait for it, so it gives way before commits would.
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

  /** Fixes the moment. @returns false while another export is under way @throws ConsumeError */
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

  /** Whether the log of events, which has all up to a mark, lacks facts of the moment or before. */
  async lacksFacts(mark: string | null): Promise<boolean> {
    return await factsReach(this.#events, mark, this.#begun().capture.lastSeq);
  }

  /** Writes all tables. @param directory absolute @returns the files with their rows */
  async write(directory: string, abort?: AbortSignal): Promise<readonly WrittenFile[]> {
    const underway = this.#begun();
    const writing = this.#write(underway, directory, () => {
      if (this.#isClosing) throw closing();
      if (abort?.aborted === true) throw abandonedExport();
      if (this.#isPressing()) throw gaveWay();
    });
    underway.writing = writing.catch(() => undefined);
    try {
      return await writing;
    } catch (error) {
      const memory = memoryThatIsShort(error);
      throw memory === null ? error : shortOfMemory(memory, error);
    }
  }

  /** How far it has come. */
  get progress(): ExportProgress {
    return this.#underway?.progress ?? NO_PROGRESS;
  }

  /** Releases what it sees, once the statement under way is over. May be called at any time. */
  async end(): Promise<void> {
    const underway = this.#underway;
    if (underway === null) return;
    await underway.writing;
    this.#underway = null;
    underway.end();
    await underway.ended.catch(() => undefined);
    this.#isTaken = false;
  }

  /** Takes no more exports, and gives up the one under way. */
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
    directory: string,
    throwIfStopped: () => void,
  ): Promise<readonly WrittenFile[]> {
    const { connection, capture } = underway;
    const files: WrittenFile[] = [];
    const memory = await ReturnedMemory.begin(connection, this.#memoryLimit);
    const copy = async (table: TableName, query: string, page?: number): Promise<void> => {
      throwIfStopped();
      const name = fileOf(table, page);
      underway.progress = { ...underway.progress, table };
      const written = join(this.#scratch, name);
      const rows = await connection.copyTo(written, query);
      await moveFile(written, join(directory, name));
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
        const { pages, rows } = await exportPages(
          connection,
          (page) => EXPORT_WEIGHTS[table](capture, page),
          this.#size,
        );
        paged.set(table, pages);
        total += rows;
      }
      underway.progress = { ...underway.progress, total };
      for (const table of TABLE_NAMES) {
        const query = EXPORT_QUERIES[table];
        if (!isPaged(table)) {
          await copy(table, query(capture, 'TRUE'));
          continue;
        }
        for (const [i, page] of (paged.get(table) ?? []).entries()) {
          throwIfStopped();
          if (table === 'spans') await payloads.load(page);
          await copy(table, query(capture, page), i + 1);
        }
      }
    } finally {
      await rm(this.#scratch, { recursive: true, force: true });
      await payloads.clear();
      await memory.trim();
    }
    return files;
  }
}

/** Moves a file, to another file system, too. */
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
    'The export was given up for the sake of what comes in: while it lasts no segment is moved into the cold file, and so many wait now that writes would slow down. Export when less comes in, stop the daemon and export with --offline, or let more segments wait (extensions.duckdb.max_waiting_segments).',
    { code: 'overloaded', retryable: true, retryAfterMs: 60_000 },
  );
}

/** @param memory in DuckDB's words */
function shortOfMemory(memory: string, cause: unknown): ConsumeError {
  return new ConsumeError(
    `The export needs more memory than the ${memory} that DuckDB may take, which it shares with writes and reads: raise memory_limit of the extension duckdb in the configuration (extensions.duckdb.memory_limit), start the daemon anew, and export again.`,
    { code: 'overloaded', retryable: true, retryAfterMs: 60_000, cause },
  );
}

function abandonedExport(): ConsumeError {
  return new ConsumeError('Nobody waits for the export any more.', {
    code: 'storage_unavailable',
    retryable: true,
  });
}
