import { dirname, resolve } from 'node:path';
import duckdb from '@duckdb/node-bindings';
import { makePrivateDirectory } from '../../../config/private-path.js';
import { hasMetadataCopy, restoreMetadata } from './checkpoint.js';
import { Connection, OpenFiles } from './connection.js';
import { isSpillRefused } from './disk-room.js';
import { unknownVersion } from './duckdb-1-5-format.js';
import { attachWithLog } from './log-damage.js';
import { openError, isLocked } from './store-open-error.js';
import { link, rm } from 'node:fs/promises';

export interface DatabaseOptions {
  /** Path of the main file; its directory is created if missing. */
  readonly path: string;
  /** In DuckDB's notation: `512MiB`. */
  readonly memoryLimit: string;
  readonly threads: number;
}

/** The main file's name in SQL. */
export const MAIN = 'meta';

/** Receives notifications of failures. */
export interface DatabaseListener {
  /** Called once: from now on DuckDB refuses everything. */
  readonly died?: (error: unknown) => void;
  /** Called for each failed statement, and for failures of other work on the files. */
  readonly failed?: (error: unknown, files: OpenFiles) => void;
  /** Receives what the log of the daemon says of the files. */
  readonly warn?: (fields: object, message: string) => void;
}

/** The one DuckDB instance of the process. Only the store thread opens it. */
export class Database {
  readonly #database: duckdb.Database;
  readonly #mainPath: string;
  readonly #connections: Connection[] = [];
  readonly #files = new OpenFiles();
  readonly #listener: DatabaseListener;
  #isDead = false;

  private constructor(database: duckdb.Database, mainPath: string, listener: DatabaseListener) {
    this.#database = database;
    this.#mainPath = mainPath;
    this.#listener = listener;
  }

  /**
   * @throws StoreOpenError when the file is another's, is no database, or cannot be read or written
   */
  static async open(options: DatabaseOptions, listener: DatabaseListener = {}): Promise<Database> {
    const config = duckdb.create_config();
    duckdb.set_config(config, 'threads', String(options.threads));
    duckdb.set_config(config, 'memory_limit', options.memoryLimit);
    duckdb.set_config(config, 'temp_directory', `${options.path}.tmp`);
    // The files are attached under fixed names: DuckDB would name the main one after its file.
    const opened = new Database(await duckdb.open(':memory:', config), options.path, listener);
    const connection = await opened.connect();
    // A checkpoint writes while it holds a table lock, so it runs only when the store requests one. The row group count keeps a
    // slice of the compactor from being written as one burst.
    await connection.run("SET GLOBAL checkpoint_threshold = '100GB'");
    await connection.run('PRAGMA disable_checkpoint_on_shutdown');
    await connection.run('SET GLOBAL write_buffer_row_group_count = 1');
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    // Otherwise memory that an idle thread has freed stays with the process.
    await connection.run('SET GLOBAL allocator_background_threads = true');
    // With these, a query for the first rows of an order sometimes finds none, or others' rows, while a checkpoint drops row
    // groups whose rows were deleted (DuckDB 1.5.5; test/storage/duckdb/segments/checkpoint-reads.test.ts).
    await connection.run("SET GLOBAL disabled_optimizers = 'late_materialization,row_group_pruner'");
    // Statements load no code, and reach the files of the store only.
    for (const key of [
      'autoinstall_known_extensions',
      'autoload_known_extensions',
      'allow_community_extensions',
    ])
      await connection.run(`SET GLOBAL ${key} = false`);
    const folder = resolve(dirname(options.path));
    await connection.run(`SET GLOBAL allowed_directories = [${literal(folder)}]`);
    await connection.run('SET GLOBAL enable_external_access = false');
    // The exceptions: ReturnedMemory sets the first; the others are changed after a full disk and after damage.
    await connection.run(
      "SET GLOBAL allowed_configs = ['memory_limit', 'max_temp_directory_size', 'max_vacuum_tasks']",
    );
    await connection.run('SET GLOBAL lock_configuration = true');
    const unknown = unknownVersion();
    if (unknown !== null) listener.warn?.({}, unknown);
    try {
      await makePrivateDirectory(dirname(options.path));
      await opened.#attachMain(connection);
    } catch (cause) {
      opened.close();
      throw openError(options.path, cause);
    }
    return opened;
  }

  /**
   * Reattaches the main file after DuckDB has declared it unusable. All committed data is in the file and its log. Call it only
   * while no statement runs on the file.
   */
  async attachMainAnew(): Promise<void> {
    // Not on a connection that has that file as its current database: it cannot even leave it.
    const [connection] = this.#connections;
    if (connection === undefined) throw new Error('the database is closed');
    await connection.run(`DETACH DATABASE IF EXISTS ${MAIN}`);
    await this.#attachMain(connection);
  }

  async connect(): Promise<Connection> {
    const connection = new Connection(await duckdb.connect(this.#database), this.#files, (error) => {
      this.#notice(error);
    });
    this.#connections.push(connection);
    return connection;
  }

  /** Interrupts all running statements, as far as DuckDB allows. */
  interrupt(): void {
    for (const connection of this.#connections) connection.interrupt();
  }

  /**
   * After a fatal error, such as a failed `fsync`, DuckDB refuses every statement on every file until the process ends. An
   * internal error may be fatal, too; a trivial statement finds out.
   *
   * DuckDB determines its limit for temporary files at the first spill: if the disk was nearly full then, the limit must be
   * determined again.
   */
  #notice(error: unknown): void {
    this.#listener.failed?.(error, this.#files);
    if (this.#isDead || !(error instanceof Error)) return;
    if (error.message.startsWith('FATAL')) {
      this.#isDead = true;
      this.#listener.died?.(error);
    } else if (error.message.startsWith('INTERNAL')) {
      void this.#connections[0]?.run('SELECT 1').catch(() => undefined);
    } else if (isSpillRefused(error)) {
      void this.#connections[0]?.run('RESET GLOBAL max_temp_directory_size').catch(() => undefined);
    }
  }

  async #attachMain(connection: Connection): Promise<void> {
    const attach = (path: string, options = ''): Promise<void> =>
      connection.run(`ATTACH ${literal(path)} AS ${MAIN} ${options}`);
    const locking = {
      attach: (path: string) => attach(path, '(READ_ONLY)'),
      detach: () => connection.run(`DETACH ${MAIN}`),
    };
    const whenOurs = (work: () => Promise<void>): Promise<void> => whileLocked(this.#mainPath, locking, work);
    if (hasMetadataCopy(this.#mainPath)) await whenOurs(() => restoreMetadata(this.#mainPath));
    await attachWithLog(this.#mainPath, {
      attach: () => attach(this.#mainPath),
      whenOurs,
      warn: (fields, message) => this.#listener.warn?.(fields, message),
    });
  }

  close(): void {
    for (const connection of this.#connections.splice(0)) connection.close();
    duckdb.close_sync(this.#database);
    this.#files.close();
  }
}

/** A text as an SQL literal, for places that take no parameter. DuckDB reads a statement up to its first NUL character. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted;
}

/** A name as an SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Whether DuckDB refuses an attached file until it is reattached, after a checkpoint that failed halfway. False after a fatal
 * error, which reattaching does not fix.
 */
export function isInvalidated(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.message.includes('has been invalidated') &&
    !error.message.startsWith('FATAL')
  );
}

/** The process that locks a file. */
interface Locking {
  /** Attaches a file for reading, which locks it. */
  readonly attach: (path: string) => Promise<void>;
  readonly detach: () => Promise<void>;
}

/**
 * Runs work on the files of a database while no other process can open it. The file is attached under a second name that has no
 * log: otherwise DuckDB would read the log, which may need repair. A file that cannot be attached, for example after a crash,
 * cannot be open in another process either.
 *
 * @param path of a file that is not attached
 * @throws if another process has the file open, and whatever the work throws
 */
async function whileLocked(
  path: string,
  { attach, detach }: Locking,
  work: () => Promise<void>,
): Promise<void> {
  const other = `${path}.probe`;
  await rm(other, { force: true });
  // Some file systems have no hard links, and a full disk has no room for one.
  const name = await link(path, other).then(
    () => other,
    () => path,
  );
  try {
    const isAttached = await attach(name).then(
      () => true,
      (error: unknown) => {
        if (isLocked(error)) throw error;
        return false;
      },
    );
    try {
      await work();
    } finally {
      if (isAttached) await detach();
    }
  } finally {
    await rm(other, { force: true });
  }
}
