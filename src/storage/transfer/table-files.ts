import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { furtherModule } from '../../config/built-module.js';
import type { ParquetWriter } from '../duckdb/files/parquet-files.js';
import type { Table } from '../schema/table.js';
import type { ExportedRow, WrittenFile } from '../contracts/transfer.js';
import { EXPORTED, fileOf, TABLE_NAMES, type TableName } from './exported-tables.js';
import { bytesOf } from './row-bytes.js';

/** Approximate maximum size of a file of a paged table: imports read a file as a whole. */
export interface FileSize {
  readonly rows: number;
  readonly bytes: number;
}

export const FILE_SIZE: FileSize = { rows: 10_000, bytes: 8 * 1024 * 1024 };

const WRITER = furtherModule(new URL('../duckdb/files/parquet-files.js', import.meta.url));
/** Temporary directory below the directory of the files. */
const SCRATCH = 'scratch';

/** Rows for the next file of a table. */
interface Waiting {
  rows: number;
  bytes: number;
  files: number;
}

/** Writes the Parquet files of an export for engines that cannot write them. */
export class TableFiles {
  readonly #writer: ParquetWriter;
  readonly #directory: string;
  readonly #size: FileSize;
  readonly #waiting = new Map<TableName, Waiting>(
    TABLE_NAMES.map((table) => [table, { rows: 0, bytes: 0, files: 0 }]),
  );
  readonly #files: WrittenFile[] = [];
  #table: TableName | null = null;
  #pagedRows = 0;

  private constructor(writer: ParquetWriter, directory: string, size: FileSize) {
    this.#writer = writer;
    this.#directory = directory;
    this.#size = size;
  }

  /** Loads DuckDB lazily. @param directory absolute; must exist */
  static async open(directory: string, size: FileSize = FILE_SIZE): Promise<TableFiles> {
    const scratch = join(directory, SCRATCH);
    await mkdir(scratch, { mode: 0o700 });
    const loaded = (await import(WRITER.href)) as { readonly ParquetWriter: typeof ParquetWriter };
    return new TableFiles(await loaded.ParquetWriter.open(scratch), directory, size);
  }

  /**
   * Adds rows to a table, and writes a file when there are enough.
   *
   * @param order the sort columns of the rows in one file
   */
  async add(table: TableName, rows: readonly ExportedRow[], order?: string): Promise<void> {
    const waiting = this.#of(table);
    this.#table = table;
    await this.#writer.append(tableOf(table), rows);
    waiting.rows += rows.length;
    for (const row of rows) waiting.bytes += bytesOf(row);
    const isFull = waiting.rows >= this.#size.rows || waiting.bytes >= this.#size.bytes;
    if (isFull && EXPORTED[table].isPaged) await this.end(table, order);
  }

  /** Writes the remaining rows of a table: nothing if there are none and the table may have no file. */
  async end(table: TableName, order?: string): Promise<void> {
    const waiting = this.#of(table);
    const { isPaged } = EXPORTED[table];
    if (isPaged && waiting.rows === 0) return;
    const name = fileOf(table, isPaged ? ++waiting.files : undefined);
    await this.#writer.write(tableOf(table), join(this.#directory, name), order);
    this.#files.push({ name, rows: waiting.rows });
    if (isPaged) this.#pagedRows += waiting.rows;
    waiting.rows = 0;
    waiting.bytes = 0;
  }

  get files(): readonly WrittenFile[] {
    return this.#files;
  }

  /** The table of the last added rows; null before the first. */
  get table(): TableName | null {
    return this.#table;
  }

  /** Number of rows of paged tables that are written to files. */
  get pagedRows(): number {
    return this.#pagedRows;
  }

  async close(): Promise<void> {
    this.#writer.close();
    await rm(join(this.#directory, SCRATCH), { recursive: true, force: true });
  }

  #of(table: TableName): Waiting {
    const waiting = this.#waiting.get(table);
    if (waiting === undefined) throw new RangeError(`no table ${table}`);
    return waiting;
  }
}

function tableOf(table: TableName): Table {
  return { name: table, store: [], wire: EXPORTED[table].columns };
}
