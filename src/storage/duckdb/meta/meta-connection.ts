import type { Connection, Row, Value } from '../database.js';

/** The connection of the small tables: one change after the other, and what is in memory follows what is committed. */
export class MetaConnection {
  readonly #connection: Connection;
  #turn: Promise<unknown> = Promise.resolve();
  /** Of the transaction under way. */
  #afterCommit: (() => void)[] = [];

  /** @param connection the tables' own */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Resolves when everything asked for so far is done. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  /** Reads between two transactions. */
  async read(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return await this.#inTurn(() => this.#connection.rows(sql, values));
  }

  /** Does its work in a transaction, when all that was asked for before is done. @throws what the work throws */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    return await this.#inTurn(async () => {
      this.#afterCommit = [];
      await this.#connection.run('BEGIN');
      try {
        const result = await work();
        await this.#connection.run('COMMIT');
        for (const change of this.#afterCommit) change();
        return result;
      } catch (error) {
        await this.#connection.run('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  }

  /** A statement of the transaction under way. */
  async run(sql: string, values: readonly Value[] = []): Promise<void> {
    await this.#connection.run(sql, values);
  }

  /** A query of the transaction under way. */
  async rows(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return await this.#connection.rows(sql, values);
  }

  /** Changes what is in memory once the transaction under way is committed, and not at all if it is not. */
  afterCommit(change: () => void): void {
    this.#afterCommit.push(change);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }
}
