import type { Column } from '../../../worker/columns.js';
import { selectList } from '../../schema/table.js';
import type { Row } from './plain-rows.js';
import { openOwnDatabase, type OwnDatabase } from './own-database.js';

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
