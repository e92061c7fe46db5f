import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type * as api from '@duckdb/node-api';
import type { DuckDBDataChunk, DuckDBMaterializedResult, DuckDBResult, DuckDBValue } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { plainRows, toPlain, wordsOf, type Parameter, type Row, type RowColumns } from './plain-rows.js';

// Required, not imported: for an import Node first searches the package's sixty CommonJS files for exported names, which takes
// half as long as loading them, in a thread that delays the start.
const { DuckDBConnection } = createRequire(import.meta.url)('@duckdb/node-api') as typeof api;

/** Code that processes a large result yields after this long. */
const SLICE_MS = 4;

/** Rows that a copy keeps in memory for each thread before it writes them. */
const COPIED_ROWS = 16_384;

/** How often a statement is interrupted until it ends: one that has not begun yet does not notice. */
const STOP_EVERY_MS = 25;

/** A chunk of a large result, as in DuckDB's memory. Valid only until the next chunk is requested. */
export interface FixedChunk {
  readonly rows: number;
  /** The 32-bit words of a column whose values take `width` bytes each. */
  words(column: number, width: number): Uint32Array;
  /** The entries of all lists in a column of lists, `width` bytes each. */
  listEntries(column: number, width: number): Uint8Array;
  /** The text in a row of a column of texts, decoded at each call. */
  text(column: number, row: number): string;
  /** The bytes in a row of a column of bytes: a copy. */
  bytes(column: number, row: number): Uint8Array;
}

/**
 * Files that stay open for reading as long as their database is. POSIX ends all locks that a process has of a file as soon as it
 * closes any descriptor of it (fcntl(2)), and DuckDB's lock is what keeps other processes away.
 */
export class OpenFiles {
  readonly #descriptors = new Map<string, number>();

  at(path: string): number {
    let descriptor = this.#descriptors.get(path);
    if (descriptor === undefined) this.#descriptors.set(path, (descriptor = openSync(path, 'r')));
    return descriptor;
  }

  /** To be called when the database is closed. */
  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }
}

/** One connection to DuckDB. Its statements run one after the other in Node's thread pool, so the JavaScript thread is not blocked. */
export class Connection {
  /** Value types of the bindings' appender. */
  readonly raw: duckdb.Connection;
  /** The open files of its database. */
  readonly files: OpenFiles;
  readonly #connection: api.DuckDBConnection;
  /** How many statements {@link stop} may have to end. */
  #underWay = 0;
  #stopped: Error | null = null;
  #stopping: NodeJS.Timeout | undefined;

  readonly #onError: (error: unknown) => void;

  /** @param onError called with the error of each statement that failed */
  constructor(raw: duckdb.Connection, files: OpenFiles, onError: (error: unknown) => void = () => undefined) {
    this.#onError = onError;
    this.raw = raw;
    this.files = files;
    this.#connection = new DuckDBConnection(raw);
  }

  async run(sql: string, values: readonly Parameter[] = []): Promise<void> {
    await this.#result(sql, values);
  }

  /** All rows of a small result. The query must cast integers that may exceed 2^53. */
  async rows(sql: string, values: readonly Parameter[] = []): Promise<Row[]> {
    const result = await this.#result(sql, values);
    const columns = columnsOf(result);
    const rows: Row[] = [];
    // The result is fetched as a whole: each separate chunk would need a round trip to the thread pool, queued behind commits and
    // the compactor.
    for (let i = 0; i < result.chunkCount; i++) {
      for (const row of plainRows(columns, result.getChunk(i))) rows.push(row);
    }
    return rows;
  }

  /**
   * Writes the rows of a query into a Parquet file. The file may be on another disk, so a full disk here does not mark the
   * database's disk as full.
   *
   * @param path absolute
   * @returns the number of rows
   */
  async copyTo(path: string, query: string): Promise<number> {
    const file = path.replaceAll("'", "''");
    const copy = `COPY (${query}) TO '${file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${COPIED_ROWS})`;
    const result = await this.#whileNotStopped(
      () => this.#connection.run(copy),
      (error) => !(error instanceof Error && error.message.startsWith('IO') && error.message.includes(path)),
    );
    const [row] = plainRows(columnsOf(result), result.getChunk(0));
    return Number(row?.['Count'] ?? 0);
  }

  /** All rows of a result of any size, in pages of at most 2048, as DuckDB finds them. Do not call within a transaction. */
  async *rowPages(sql: string): AsyncGenerator<Row[]> {
    const result = await this.#whileNotStopped(() => this.#connection.stream(sql));
    const columns = columnsOf(result);
    for (;;) {
      const chunk = await this.#whileNotStopped(() => result.fetchChunk());
      if (chunk === null || chunk.rowCount === 0) return;
      yield plainRows(columns, chunk);
    }
  }

  /** Runs statements on one snapshot, regardless of other commits. They must leave no scan open between them: see {@link wholeChunks}. */
  async asOfNow<T>(statements: () => Promise<T>): Promise<T> {
    await this.run('BEGIN TRANSACTION READ ONLY');
    try {
      return await statements();
    } finally {
      // The rollback must also run after a stop.
      await this.#connection.run('ROLLBACK').catch(() => undefined);
    }
  }

  /**
   * A very large result of columns that are never null, in chunks of at most 2048 rows, as DuckDB finds them. Not to be called
   * within a transaction: it has its own. DuckDB 1.5.5 prepares a streamed statement in one step and runs it in another, and
   * leaves out conditions that the statistics of the first step make always true (`seq <= …`); without a transaction it would
   * then also find what others commit in between.
   */
  async *chunks(sql: string): AsyncGenerator<FixedChunk> {
    await this.run('BEGIN TRANSACTION READ ONLY');
    try {
      const result = await this.#whileNotStopped(() => this.#connection.stream(sql));
      for (;;) {
        const chunk = await this.#whileNotStopped(() => result.fetchChunk());
        if (chunk === null || chunk.rowCount === 0) return;
        yield fixedChunk(chunk);
        // Frees its memory now; the bindings would do so when the chunk is garbage collected.
        duckdb.data_chunk_reset(chunk.chunk);
      }
    } finally {
      await this.#connection.run('ROLLBACK').catch(() => undefined);
    }
  }

  /**
   * The same, but DuckDB completes the result before the first chunk. Then no scan stays open, which would block a checkpoint of
   * its tables and everything queued after it.
   */
  async *wholeChunks(sql: string, values: readonly Parameter[] = []): AsyncGenerator<FixedChunk> {
    const result = await this.#result(sql, values);
    let sliceEnd = performance.now() + SLICE_MS;
    for (let i = 0; i < result.chunkCount; i++) {
      if (performance.now() > sliceEnd) {
        await yieldToOthers();
        if (this.#stopped !== null) throw this.#stopped;
        sliceEnd = performance.now() + SLICE_MS;
      }
      const chunk = result.getChunk(i);
      yield fixedChunk(chunk);
      duckdb.data_chunk_reset(chunk.chunk);
    }
  }

  /** Without values nothing is prepared: preparing would parse the statement on this thread first. */
  async #result(sql: string, values: readonly Parameter[]): Promise<DuckDBMaterializedResult> {
    return await this.#whileNotStopped(() =>
      values.length === 0 ? this.#connection.run(sql) : this.#connection.run(sql, toDuckDB(values)),
    );
  }

  /**
   * Interrupts the running statement, and makes all others fail with the same reason until {@link goOn}. Other connections
   * continue. DuckDB checks for interrupts every 2048 rows, so it takes some milliseconds; a sort or an aggregate first completes
   * its result.
   *
   * @returns false if it was already stopped for another reason
   */
  stop(reason: Error): boolean {
    if (this.#stopped !== null) return false;
    this.#stopped = reason;
    const interrupt = (): void => {
      if (this.#underWay > 0) this.#connection.interrupt();
    };
    interrupt();
    this.#stopping = setInterval(interrupt, STOP_EVERY_MS);
    return true;
  }

  /** Accepts statements again. Call it only while no statement is running. */
  goOn(): void {
    clearInterval(this.#stopping);
    this.#stopped = null;
  }

  /** @param isOurs whether an error is one of the database */
  async #whileNotStopped<T>(
    statement: () => Promise<T>,
    isOurs: (error: unknown) => boolean = () => true,
  ): Promise<T> {
    if (this.#stopped !== null) throw this.#stopped;
    this.#underWay++;
    try {
      return await statement();
    } catch (error) {
      if (isOurs(error)) this.#onError(error);
      throw this.#reasonFor(error);
    } finally {
      this.#underWay--;
    }
  }

  /** An interrupted statement fails with the reason for which it was interrupted. */
  #reasonFor(error: unknown): unknown {
    return this.#stopped ?? error;
  }

  /** Reports a failure of other work on the database's files, as if it had been a statement. */
  failed(error: unknown): void {
    this.#onError(error);
  }

  /** Ends the running statement with an error. */
  interrupt(): void {
    this.#connection.interrupt();
  }

  close(): void {
    this.#connection.closeSync();
  }
}

function columnsOf(result: DuckDBResult): RowColumns {
  const names = result.columnNames();
  return { names, types: names.map((_, column) => result.columnTypeId(column)) };
}

function fixedChunk(chunk: DuckDBDataChunk): FixedChunk {
  return {
    rows: chunk.rowCount,
    words: (column, width) => {
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, column);
      return wordsOf(duckdb.vector_get_data(vector, chunk.rowCount * width));
    },
    listEntries: (column, width) => {
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, column);
      const entries = duckdb.list_vector_get_size(vector);
      return duckdb.vector_get_data(duckdb.list_vector_get_child(vector), entries * width);
    },
    text: (column, row) => String(chunk.getColumnVector(column).getItem(row)),
    bytes: (column, row) => {
      const value = toPlain(chunk.getColumnVector(column).getItem(row));
      return value instanceof Uint8Array ? value : new Uint8Array(0);
    },
  };
}

/** Integers are bound as 64 bits: a plain number would be bound as a double. */
function toDuckDB(values: readonly Parameter[]): DuckDBValue[] {
  return values.map((value) =>
    typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value,
  );
}

/** Removes rows. @param which what follows `DELETE FROM` @returns how many there were */
export async function removeRows(connection: Connection, which: string): Promise<number> {
  const [row] = await connection.rows(`DELETE FROM ${which}`);
  return Number(row?.['Count'] ?? 0);
}
