import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { readRow, writeParameters } from '../any-text.js';
import { postgresFailure } from './postgres-failure.js';

const CHANGES = new Set<string | null>(['INSERT', 'UPDATE', 'DELETE']);

/** The connections of a pool. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;
  #isEnded = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {
    // The pool connects on demand.
  }

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect());
    } catch (error) {
      throw postgresFailure(error);
    }
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    // A connection that timed out may still respond later: it is not reused.
    connection.client.release(connection.isLost);
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'));
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  /** A lost connection has rolled back, so the error of the transaction is reported instead. */
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    if (connection.isLost) return;
    try {
      await connection.client.query('rollback');
    } catch {
      connection.isLost = true;
    }
  }

  async destroy(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    await this.#pool.end();
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly client: PoolClient;
  /** Whether it failed other than by an error that the server reported. */
  isLost = false;

  constructor(client: PoolClient) {
    this.client = client;
  }

  async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const { command, rowCount, rows } = await this.client.query<Record<string, unknown>>(
        compiled.sql,
        writeParameters(compiled.parameters),
      );
      return {
        rows: rows.map((row) => readRow(row) as Row),
        ...(CHANGES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
      };
    } catch (error) {
      this.isLost = !(error instanceof DatabaseError || error instanceof RangeError);
      throw postgresFailure(error);
    }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('rows of the control store are read in pages');
  }
}
