import type { Column } from '../../../worker/columns.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { encodeRows } from '../../../worker/columns-writer.js';
import { createTable, selectList, type Table } from '../../schema/table.js';
import type { ExportedRow } from '../../contracts/transfer.js';
import { TableAppender } from './appender.js';
import { openOwnDatabase, type OwnDatabase } from './own-database.js';
import type { Row } from './plain-rows.js';

const CATALOG = 'memory';

/** A separate DuckDB instance that writes Parquet files for any store. It spills to disk above 512 MiB. */
export class ParquetWriter {
  readonly #database: OwnDatabase;
  readonly #open = new Map<string, { readonly table: Table; appender: TableAppender | null }>();

  private constructor(database: OwnDatabase) {
    this.#database = database;
  }

  /** @param directory a folder for what does not fit into memory */
  static async open(directory: string): Promise<ParquetWriter> {
    return new ParquetWriter(await openOwnDatabase(directory));
  }

  /** Adds rows to those of a table's next file. @param table without columns of the store's own */
  async append(table: Table, rows: readonly ExportedRow[]): Promise<void> {
    let open = this.#open.get(table.name);
    if (open === undefined) {
      await this.#database.connection.run(createTable(CATALOG, table));
      this.#open.set(table.name, (open = { table, appender: null }));
    }
    open.appender ??= new TableAppender(this.#database.connection, CATALOG, table);
    const source = new ColumnsReader(table.wire, encodeRows(table.wire, rows));
    open.appender.append(source, 0, rows.length, {});
  }

  /**
   * Writes the rows that were added since the last file of the table.
   *
   * @param order columns; without them the rows stay in the order in which they came
   */
  async write(table: Table, path: string, order = ''): Promise<void> {
    await this.append(table, []);
    this.#closed(table);
    const sorted = order === '' ? '' : ` ORDER BY ${order}`;
    await this.#database.connection.copyTo(path, `SELECT * FROM ${table.name}${sorted}`);
    await this.#database.connection.run(`DROP TABLE ${table.name}`);
    this.#open.delete(table.name);
  }

  close(): void {
    for (const { appender } of this.#open.values()) appender?.abandon();
    this.#database.close();
  }

  #closed(table: Table): void {
    const open = this.#open.get(table.name);
    open?.appender?.close();
    if (open !== undefined) open.appender = null;
  }
}

/** A separate DuckDB instance that reads Parquet files of any store. It spills to disk above 512 MiB. */
export class ParquetReader {
  readonly #database: OwnDatabase;

  private constructor(database: OwnDatabase) {
    this.#database = database;
  }

  /** @param directory a folder for what does not fit into memory */
  static async open(directory: string): Promise<ParquetReader> {
    return new ParquetReader(await openOwnDatabase(directory));
  }

  async run(sql: string): Promise<void> {
    await this.#database.connection.run(sql);
  }

  /** All rows at once, for small results. @param from the SQL after FROM */
  async all(columns: readonly Column[], from: string): Promise<readonly Row[]> {
    return await this.#database.connection.rows(`SELECT ${selectList(columns)} FROM ${from}`);
  }

  /** Rows in pages of at most 2048, in the order of the file. */
  pages(columns: readonly Column[], from: string): AsyncGenerator<readonly Row[]> {
    return this.#database.connection.rowPages(`SELECT ${selectList(columns)} FROM ${from}`);
  }

  close(): void {
    this.#database.close();
  }
}
