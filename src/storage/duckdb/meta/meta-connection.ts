import type { Connection, Row, Value } from '../database.js';
import { MainCheckpoints, type MainFile } from './main-checkpoints.js';

/** The connection of the small tables: one change after the other, and what is in memory follows what is committed. */
export class MetaConnection {
  readonly #connection: Connection;
  readonly #checkpoints: MainCheckpoints;
  #turn: Promise<unknown> = Promise.resolve();
  /** Of the transaction under way. */
  #afterCommit: (() => void)[] = [];

  /** @param connection the tables' own, and the only one that uses the file */
  constructor(connection: Connection, file: MainFile) {
    this.#connection = connection;
    this.#checkpoints = new MainCheckpoints(connection, file);
  }

  /** Resolves when everything asked for is done, and what follows from it. */
  async idle(): Promise<void> {
    let turn;
    do {
      turn = this.#turn;
      await turn;
    } while (turn !== this.#turn);
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
        if (this.#checkpoints.isDue) void this.#inTurn(() => this.#checkpoints.make());
        return result;
      } catch (error) {
        await this.#connection.run('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  }

  /** A statement of the transaction under way. */
  async run(sql: string, values: readonly Value[] = []): Promise<void> {
    this.#checkpoints.count(values);
    await this.#connection.run(sql, values);
  }

  /** A query of the transaction under way. */
  async rows(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    this.#checkpoints.count(values);
    return await this.#connection.rows(sql, values);
  }

  /** Changes what is in memory once the transaction under way is committed, and not at all if it is not. */
  afterCommit(change: () => void): void {
    this.#afterCommit.push(change);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(async () => {
      await this.#checkpoints.makeUsable();
      try {
        return await work();
      } catch (error) {
        this.#checkpoints.failed(error);
        throw error;
      }
    });
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }
}
