import { setTimeout as wait } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Topic, Watch } from '../contracts/coordination.js';
import type { ChangedIds } from './changed-ids.js';
import { DatabaseFailure, toConsumeError } from './database-failure.js';
import type { Dialect, RowsOf } from './dialect.js';
import type { Signals } from './signals.js';
import type { Tables } from './tables.js';

/** A deadlock or a conflict rarely repeats: after this many attempts the database is congested. */
const MOST_ATTEMPTS = 8;
/** Milliseconds, multiplied by the number of the attempt; random, so that two conflicting transactions do not retry together. */
const MOST_PAUSE_MS = 20;

/**
 * The body of a transaction.
 *
 * @param notify notifies the watchers of a topic after the commit
 * @param changed records deliveries as changed after the commit
 */
export type Work<Result> = (
  tx: Transaction<Tables>,
  notify: (topic: Topic) => void,
  changed: (deliveries: readonly string[]) => void,
) => Promise<Result>;

/** The database behind all contracts of the control store. */
export class ControlDatabase {
  readonly dialect: Dialect;
  readonly watch: Watch;
  readonly changedDeliveries: ChangedIds;
  readonly #kysely: Kysely<Tables>;
  readonly #signals: Signals;
  readonly #check: (database: ControlDatabase) => Promise<void>;
  #underWay = 0;
  #closing: Promise<void> | null = null;
  /** Called when no statement is running. */
  #idle = (): void => undefined;

  /** @param check throws if the database has a problem */
  constructor(
    kysely: Kysely<Tables>,
    dialect: Dialect,
    signals: Signals,
    check: (database: ControlDatabase) => Promise<void>,
  ) {
    this.#check = check;
    this.#kysely = kysely;
    this.dialect = dialect;
    this.#signals = signals;
    this.watch = signals;
    this.changedDeliveries = signals.deliveries;
  }

  /** @throws Error that describes the problem of the database, for its owner */
  async check(): Promise<void> {
    await this.#check(this);
  }

  /** Reads with single statements. @throws ConsumeError */
  async read<Result>(work: (database: Kysely<Tables>) => Promise<Result>): Promise<Result> {
    return await this.#track(async () => {
      try {
        return await work(this.#kysely);
      } catch (error) {
        throw toConsumeError(error);
      }
    });
  }

  /**
   * Runs a transaction, durable when it resolves. The work is repeated after a conflict, so it must not change anything but the
   * database. Each statement sees what is committed when it begins.
   *
   * @throws ConsumeError, also if the connection was lost during a commit that succeeded; errors of the work
   */
  async transaction<Result>(work: Work<Result>): Promise<Result> {
    return await this.#track(async () => {
      for (let attempt = 1; ; attempt++) {
        const topics = new Set<Topic>();
        const deliveries: string[] = [];
        try {
          const result = await this.#kysely.transaction().execute((tx) =>
            work(
              tx,
              (topic) => void topics.add(topic),
              (ids) => void deliveries.push(...ids),
            ),
          );
          if (topics.size + deliveries.length > 0) this.#signals.notify(topics, deliveries);
          return result;
        } catch (error) {
          const meets = error instanceof DatabaseFailure && error.kind === 'repeat';
          if (!meets || attempt === MOST_ATTEMPTS) throw toConsumeError(error);
          await wait(Math.random() * MOST_PAUSE_MS * attempt);
        }
      }
    });
  }

  /** See {@link Dialect.snapshot}. @throws ConsumeError; errors of the work */
  async snapshot<T>(directory: string, work: (rowsOf: RowsOf) => Promise<T>): Promise<T> {
    return await this.read((database) => this.dialect.snapshot(database, directory, work));
  }

  /** See {@link Dialect.copy}. @throws ConsumeError, Error */
  async copy(path: string): Promise<Readonly<Record<string, number>>> {
    return await this.read((database) => this.dialect.copy(database, path));
  }

  /** Rejects new calls, waits for running ones, then closes the signals and the connections. May be called twice. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#signals.close();
    await this.#kysely.destroy();
  }

  async #track<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closing !== null) throw toConsumeError(new DatabaseFailure('it is closed', 'unavailable'));
    this.#underWay++;
    try {
      return await work();
    } finally {
      if (--this.#underWay === 0) this.#idle();
    }
  }
}
