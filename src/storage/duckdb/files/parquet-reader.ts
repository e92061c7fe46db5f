import duckdb from '@duckdb/node-bindings';
import type { Column } from '../../../worker/columns.js';
import { selectList } from '../../table.js';
import { Connection, type Row } from './connection.js';
import { OpenFiles } from './metadata-copy.js';

const MEMORY_LIMIT = '512MiB';

/** A DuckDB of its own that reads Parquet files, whatever store they are for. What does not fit into 512 MiB lies on the disk meanwhile. */
export class ParquetReader {
  readonly #database: duckdb.Database;
  readonly #connection: Connection;

  private constructor(database: duckdb.Database, connection: Connection) {
    this.#database = database;
    this.#connection = connection;
  }

  /** @param directory a folder for what does not fit into memory */
  static async open(directory: string): Promise<ParquetReader> {
    const config = duckdb.create_config();
    // One thread gives rows in the order of the file.
    duckdb.set_config(config, 'threads', '1');
    duckdb.set_config(config, 'memory_limit', MEMORY_LIMIT);
    duckdb.set_config(config, 'temp_directory', directory);
    const database = await duckdb.open(':memory:', config);
    const connection = new Connection(await duckdb.connect(database), new OpenFiles());
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    return new ParquetReader(database, connection);
  }

  async run(sql: string): Promise<void> {
    await this.#connection.run(sql);
  }

  /** All rows at once: of what is known to be small. @param from what follows FROM */
  async all(columns: readonly Column[], from: string): Promise<readonly Row[]> {
    return await this.#connection.rows(`SELECT ${selectList(columns)} FROM ${from}`);
  }

  /** Rows in pages of at most 2048, in the order of the file. */
  pages(columns: readonly Column[], from: string): AsyncGenerator<readonly Row[]> {
    return this.#connection.rowPages(`SELECT ${selectList(columns)} FROM ${from}`);
  }

  close(): void {
    this.#connection.close();
    duckdb.close_sync(this.#database);
  }
}
