import duckdb from '@duckdb/node-bindings';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { encodeRows } from '../../../worker/columns-writer.js';
import { createTable, type Table } from '../../table.js';
import type { ExportedRow } from '../../telemetry-transfer.js';
import { TableAppender } from './appender.js';
import { Connection } from './connection.js';
import { OpenFiles } from './metadata-copy.js';

const MEMORY_LIMIT = '512MiB';
const CATALOG = 'memory';

/** A DuckDB of its own that writes Parquet files, whatever store they are of. What does not fit into 512 MiB lies on the disk meanwhile. */
export class ParquetWriter {
  readonly #database: duckdb.Database;
  readonly #connection: Connection;
  readonly #open = new Map<string, { readonly table: Table; appender: TableAppender | null }>();

  private constructor(database: duckdb.Database, connection: Connection) {
    this.#database = database;
    this.#connection = connection;
  }

  /** @param directory a folder for what does not fit into memory */
  static async open(directory: string): Promise<ParquetWriter> {
    const config = duckdb.create_config();
    // One thread keeps the order of the rows.
    duckdb.set_config(config, 'threads', '1');
    duckdb.set_config(config, 'memory_limit', MEMORY_LIMIT);
    duckdb.set_config(config, 'temp_directory', directory);
    const database = await duckdb.open(':memory:', config);
    const connection = new Connection(await duckdb.connect(database), new OpenFiles());
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    return new ParquetWriter(database, connection);
  }

  /** Adds rows to those of a table's next file. @param table without columns of the store's own */
  async append(table: Table, rows: readonly ExportedRow[]): Promise<void> {
    let open = this.#open.get(table.name);
    if (open === undefined) {
      await this.#connection.run(createTable(CATALOG, table));
      this.#open.set(table.name, (open = { table, appender: null }));
    }
    open.appender ??= new TableAppender(this.#connection, CATALOG, table);
    const source = new ColumnsReader(table.wire, encodeRows(table.wire, rows));
    open.appender.append(source, 0, rows.length, () => undefined);
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
    const file = path.replaceAll("'", "''");
    await this.#connection.run(
      `COPY (SELECT * FROM ${table.name}${sorted}) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`,
    );
    await this.#connection.run(`DROP TABLE ${table.name}`);
    this.#open.delete(table.name);
  }

  close(): void {
    for (const { appender } of this.#open.values()) appender?.abandon();
    this.#connection.close();
    duckdb.close_sync(this.#database);
  }

  #closed(table: Table): void {
    const open = this.#open.get(table.name);
    open?.appender?.close();
    if (open !== undefined) open.appender = null;
  }
}
