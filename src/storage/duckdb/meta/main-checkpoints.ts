import { dirname } from 'node:path';
import type { Logger } from '../../../component/telemetry.js';
import { syncDirectory } from '../../../config/sync-directory.js';
import { checkpoint } from '../checkpoint.js';
import type { Connection, Value } from '../connection.js';
import { isInvalidated, MAIN } from '../database.js';

/** What keeping the main file in order takes, beside its connection. */
export interface MainFile {
  readonly path: string;
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
  /** Whether the log has its name, also after a loss of power. */
  #isLogNamed = false;

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
    this.#isLogNamed = false;
    try {
      await checkpoint(this.#connection, MAIN);
    } catch (error) {
      this.#file.logger.warn({ err: error }, 'The main file could not be checkpointed; that is tried later.');
      this.failed(error);
    }
  }

  /**
   * A checkpoint removes the log, and the next commit makes another: DuckDB syncs what is in it, but not its directory. So
   * before a transaction there is a log whose name outlives a loss of power, as what is committed must.
   *
   * @throws where the disk does not take that: nothing can be committed then
   */
  async nameLog(): Promise<void> {
    if (this.#isLogNamed) return;
    // Goes to the log also where it changes nothing, which an update does not.
    await this.#connection.run(
      "COMMENT ON TABLE schema_versions IS 'The schema of this file: the newest row.'",
    );
    await syncDirectory(dirname(this.#file.path));
    this.#isLogNamed = true;
  }

  /** After a checkpoint that failed halfway, for want of room, DuckDB refuses even to read the file as it is attached. */
  failed(error: unknown): void {
    if (isInvalidated(error)) this.#isUsable = false;
  }

  /** Attaches the file anew where that is needed. All that was committed is in the file and its log. */
  async makeUsable(): Promise<void> {
    if (this.#isUsable) return;
    await this.#file.attachAnew();
    this.#isLogNamed = false;
    this.#isUsable = true;
  }
}
