import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import {
  CompiledQuery,
  DeleteQueryNode,
  InsertQueryNode,
  UpdateQueryNode,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { readRow, writeParameters } from '../any-text.js';
import { hasNoRoom, type FileWrites } from './file-writes.js';
import { sqliteFailure } from './sqlite-failure.js';

/** Number of cached prepared statements: the program has fewer, except for inserts of varying numbers of rows. */
const PREPARED = 200;

/** The only connection to a SQLite file; callers use it one at a time, in order of their calls. */
export class SqliteDriver implements Driver {
  readonly #database: DatabaseSyncInstance;
  readonly #connection: SqliteConnection;
  readonly #writes: FileWrites;
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  constructor(database: DatabaseSyncInstance, writes: FileWrites) {
    this.#database = database;
    this.#writes = writes;
    this.#connection = new SqliteConnection(database, writes);
  }

  async init(): Promise<void> {
    // The file is already open.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#connection.isWithin = false;
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    this.#writes.begin();
    this.#connection.isWithin = true;
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'));
    } catch {
      // A full disk and similar errors have already rolled back. Otherwise the next transaction fails to begin, and reports it.
    }
  }

  async destroy(): Promise<void> {
    try {
      // `@photostructure/sqlite` keeps the file open, and with it the lock, until the last statement has been garbage-collected.
      this.#database.exec('pragma journal_mode = delete; pragma locking_mode = normal');
      this.#database.prepare('select count(*) from sqlite_schema').get();
    } catch (error) {
      // On a full disk the written data stays in the write-ahead log, for the next start.
      if (!hasNoRoom(sqliteFailure(error))) throw error;
    } finally {
      this.#database.close();
    }
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSyncInstance;
  readonly #writes: FileWrites;
  /** Whether a transaction is running: an error of reads says nothing about writes. */
  isWithin = false;
  readonly #prepared = new LRUCache<string, StatementSyncInstance>({ max: PREPARED });

  constructor(database: DatabaseSyncInstance, writes: FileWrites) {
    this.#database = database;
    this.#writes = writes;
  }

  async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const statement = this.#prepare(compiled.sql);
      const parameters = writeParameters(compiled.parameters).map(withoutLoss);
      if (isChange(compiled.query) && compiled.query.returning === undefined)
        return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) };
      const rows = statement.all(...parameters) as Record<string, unknown>[];
      return { rows: rows.map((row) => readRow(row) as Row) };
    } catch (error) {
      throw this.isWithin ? this.#writes.failed(error) : sqliteFailure(error);
    }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('rows of the control store are read in pages');
  }

  #prepare(sql: string): StatementSyncInstance {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

function isChange(node: CompiledQuery['query']): node is InsertQueryNode | UpdateQueryNode | DeleteQueryNode {
  return InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node);
}

/**
 * `@photostructure/sqlite` 1.2.1 binds positive numbers below 2^-52 as the integer 0. Bound as text, the column's type converts it back
 * to the same number.
 */
function withoutLoss(parameter: unknown): unknown {
  const isLost = typeof parameter === 'number' && parameter > 0 && parameter < Number.EPSILON;
  return isLost ? String(parameter) : parameter;
}
