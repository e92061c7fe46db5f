import type { Logger } from '../../../component/telemetry.js';
import { checkpoint } from '../checkpoint.js';
import type { Connection, Value } from '../connection.js';
import { isInvalidated, MAIN } from '../database.js';

/** What keeping the main file in order takes, beside its connection. */
export interface MainFile {
  /** Attaches it anew: `Database.attachMainAnew`. */
  readonly attachAnew: () => Promise<void>;
  readonly logger: Logger;
}

/** What is written between two checkpoints, about: characters of texts, and statements. */
const CHARACTERS = 16 * 1024 * 1024;
const STATEMENTS = 20_000;

/**
 * Takes what the main file's log holds into the file, now and then: DuckDB's own checkpoints are off. Only between two
 * transactions, when nobody uses the file.
 */
export class MainCheckpoints {
  readonly #connection: Connection;
  readonly #file: MainFile;
  #characters = 0;
  #statements = 0;
  #isUsable = true;

  /** @param connection the only one that uses the file */
  constructor(connection: Connection, file: MainFile) {
    this.#connection = connection;
    this.#file = file;
  }

  get isDue(): boolean {
    return this.#characters >= CHARACTERS || this.#statements >= STATEMENTS;
  }

  /** A statement with these parameters goes to the log. */
  count(values: readonly Value[]): void {
    this.#statements += 1;
    for (const value of values) if (typeof value === 'string') this.#characters += value.length;
  }

  /** Where one is due. A failure lets the log grow until the next time, no more. */
  async make(): Promise<void> {
    // Several may have asked before the first had its turn.
    if (!this.isDue) return;
    this.#characters = 0;
    this.#statements = 0;
    try {
      await checkpoint(this.#connection, MAIN);
    } catch (error) {
      this.#file.logger.warn({ err: error }, 'The main file could not be checkpointed; that is tried later.');
      this.failed(error);
    }
  }

  /** After a checkpoint that failed halfway, for want of room, DuckDB refuses even to read the file as it is attached. */
  failed(error: unknown): void {
    if (isInvalidated(error)) this.#isUsable = false;
  }

  /** Attaches the file anew where that is needed. All that was committed is in the file and its log. */
  async makeUsable(): Promise<void> {
    if (this.#isUsable) return;
    await this.#file.attachAnew();
    this.#isUsable = true;
  }
}
