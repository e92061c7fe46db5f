import type { Connection, Row, Value } from '../connection.js';
import { withLiterals } from './literals.js';
import { MainCheckpoints, type MainFile } from './main-checkpoints.js';

const BEGIN = 'BEGIN';

/** A table that takes many rows in one statement. */
interface RowTable {
  insertAll(rows: readonly Row[]): [sql: string, values: Value[]];
}

interface Sharing {
  readonly work: () => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The connection of the small tables: one change after the other, and what is in memory follows what is committed.
 *
 * What is written in a transaction goes to the database with the next query, or with the commit, in one call: under load
 * this thread is seldom free to take an answer, and each costs some 30 ms then.
 */
export class MetaConnection {
  readonly #connection: Connection;
  readonly #checkpoints: MainCheckpoints;
  #turn: Promise<unknown> = Promise.resolve();
  /** Of the transaction under way. */
  #afterCommit: (() => void)[] = [];
  readonly #onRollback: (() => void)[] = [];
  /** Statements of the transaction under way that have not gone to the database yet. */
  #script: string[] = [];
  /** Likewise rows, which become statements with the next one, or with the commit. */
  readonly #inserts = new Map<RowTable, Row[]>();
  readonly #later = new Set<() => Promise<void>>();
  /** Work that waits for a transaction of several. */
  readonly #sharing: Sharing[] = [];

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
    return await this.#inTurn(() => this.#query([], sql, values));
  }

  /** Does its work in a transaction, when all that was asked for before is done. @throws what the work throws */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    return await this.#inTurn(() => this.#commit(work));
  }

  /**
   * Likewise, but in one transaction with all such work that waits by then: under load commits are what takes the time.
   *
   * @param work may be done again, by itself, where other work has failed; it knows what it reads in the transaction, and
   * nothing that follows commits
   */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      this.#sharing.push({
        work,
        resolve: (result) => {
          resolve(result as T);
        },
        reject,
      });
      // Whoever is first asks for the turn in which all are done.
      if (this.#sharing.length === 1) void this.#shareTurn();
    });
  }

  /** Never rejects: those who share are told. */
  async #shareTurn(): Promise<void> {
    try {
      await this.#inTurn(() => this.#commitShared());
    } catch (error) {
      // The file could not be made usable: their turn did not come.
      for (const { reject } of this.#sharing.splice(0)) reject(error);
    }
  }

  async #commitShared(): Promise<void> {
    const group = this.#sharing.splice(0);
    try {
      const results = await this.#commit(async () => {
        const all: unknown[] = [];
        for (const { work } of group) all.push(await work());
        return all;
      });
      group.forEach(({ resolve }, i) => {
        resolve(results[i]);
      });
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else for (const one of group) await this.#commit(one.work).then(one.resolve, one.reject);
    }
  }

  async #commit<T>(work: () => Promise<T>): Promise<T> {
    this.#afterCommit = [];
    this.#script = [BEGIN];
    try {
      await this.#checkpoints.nameLog();
      const result = await work();
      await this.#writePending();
      await this.#send('COMMIT');
      for (const change of this.#afterCommit) change();
      if (this.#checkpoints.isDue) void this.#inTurn(() => this.#checkpoints.make());
      return result;
    } catch (error) {
      this.#checkpoints.failed(error);
      this.#inserts.clear();
      this.#later.clear();
      const hasBegun = this.#script.splice(0)[0] !== BEGIN;
      if (hasBegun) await this.#connection.run('ROLLBACK').catch(() => undefined);
      for (const forget of this.#onRollback) forget();
      throw withoutStatement(error);
    }
  }

  /** A statement of the transaction under way. What is wrong with it may show at the next query, or at the commit. */
  async run(sql: string, values: readonly Value[] = []): Promise<void> {
    await this.#writePending();
    this.#checkpoints.count(values);
    const statement = withLiterals(sql, values);
    if (statement !== null) this.#script.push(statement);
    else {
      await this.#send();
      await this.#connection.run(sql, values);
    }
  }

  /** A query of the transaction under way. */
  async rows(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    await this.#writePending();
    this.#checkpoints.count(values);
    return await this.#query(this.#script.splice(0), sql, values);
  }

  /**
   * Adds rows to a table, with the next statement of the transaction or its commit: what several add goes in one statement, as
   * each takes a millisecond and more however few rows it has.
   */
  insert(table: RowTable, rows: readonly Row[]): void {
    if (rows.length === 0) return;
    const pending = this.#inserts.get(table);
    if (pending) pending.push(...rows);
    else this.#inserts.set(table, [...rows]);
  }

  /** Has something written before the next statement of the transaction, or its commit: once, however often it is asked for. */
  writeLater(write: () => Promise<void>): void {
    this.#later.add(write);
  }

  /** Changes what is in memory once the transaction under way is committed, and not at all if it is not. */
  afterCommit(change: () => void): void {
    this.#afterCommit.push(change);
  }

  /** Calls back after each transaction that failed. */
  onRollback(forget: () => void): void {
    this.#onRollback.push(forget);
  }

  async #writePending(): Promise<void> {
    const later = [...this.#later];
    this.#later.clear();
    for (const write of later) await write();
    const inserts = [...this.#inserts];
    this.#inserts.clear();
    for (const [table, rows] of inserts) await this.run(...table.insertAll(rows));
  }

  /** What waits, and a statement behind it. */
  async #send(...last: readonly string[]): Promise<void> {
    const script = [...this.#script.splice(0), ...last];
    // A transaction in which nothing was done is none.
    if (script.length > 0 && script.join() !== `${BEGIN},COMMIT`)
      await this.#connection.run(script.join(';\n'));
  }

  /** @param before statements that go to the database in the same call */
  async #query(before: readonly string[], sql: string, values: readonly Value[]): Promise<Row[]> {
    const query = withLiterals(sql, values);
    if (query !== null) return await this.#connection.rows([...before, query].join(';\n'));
    if (before.length > 0) await this.#connection.run(before.join(';\n'));
    return await this.#connection.rows(sql, values);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(async () => {
      await this.#checkpoints.makeUsable();
      try {
        return await work();
      } catch (error) {
        this.#checkpoints.failed(error);
        throw withoutStatement(error);
      }
    });
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }
}

const QUOTED = /\n+LINE \d+:[^]*$/;

/** DuckDB quotes the statement in its errors, and that holds what must not reach a log. */
function withoutStatement(error: unknown): unknown {
  return error instanceof Error && QUOTED.test(error.message)
    ? new Error(error.message.replace(QUOTED, ''))
    : error;
}
