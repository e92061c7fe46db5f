import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../../component/telemetry.js';
import type { Connection } from './connection.js';
import { literal, MAIN } from './database.js';
import { bytesOf, hasBlocks } from './segment-files.js';
import { StoreOpenError } from './store-open-error.js';

const TABLE = `${MAIN}.main.store_files`;

/**
 * The files of a store, listed in its main file. A file is listed after it was created, and unlisted before it is removed, so a
 * crash in between never makes a file look lost.
 */
export class ListedFiles {
  readonly #connection: Connection;
  readonly #directory: string;
  readonly #names: Set<string>;

  private constructor(connection: Connection, directory: string, names: Set<string>) {
    this.#connection = connection;
    this.#directory = directory;
    this.#names = names;
  }

  /** @param mainPath the other files are in its directory */
  static async read(connection: Connection, mainPath: string): Promise<ListedFiles> {
    const rows = await connection.rows(`SELECT name FROM ${TABLE}`);
    return new ListedFiles(connection, dirname(mainPath), new Set(rows.map(({ name }) => String(name))));
  }

  async add(path: string): Promise<void> {
    const name = basename(path);
    if (this.#names.has(name)) return;
    await this.#connection.run(`INSERT INTO ${TABLE} VALUES (${literal(name)})`);
    this.#names.add(name);
  }

  async remove(path: string): Promise<void> {
    const name = basename(path);
    if (!this.#names.has(name)) return;
    await this.#connection.run(`DELETE FROM ${TABLE} WHERE name = ${literal(name)}`);
    this.#names.delete(name);
  }

  /**
   * Checks some listed files.
   *
   * @param isOf whether a file has to exist, by its path
   * @param acceptsLoss logs missing files, which the caller takes off the list once it has done without them
   * @returns the missing files
   * @throws StoreOpenError that names the missing files
   */
  check(isOf: (path: string) => boolean, acceptsLoss: boolean, logger: Logger): readonly string[] {
    const lost = [...this.#names]
      .map((name) => join(this.#directory, name))
      .filter(isOf)
      .flatMap((path) => {
        const missing = missingOf(path);
        return missing === null ? [] : [{ path, missing }];
      });
    if (lost.length > 0 && !acceptsLoss) throw missingFiles(lost.map(({ missing }) => missing));
    for (const { missing } of lost) {
      logger.error(
        { file: missing },
        'A file of the store is missing. Its telemetry is lost (--accept-loss).',
      );
    }
    return lost.map(({ path }) => path);
  }
}

/** The missing file of a database: itself or its log. A hot segment is created with a log, and its rows stay there. */
function missingOf(path: string): string | null {
  if (!existsSync(path)) return path;
  const log = `${path}.wal`;
  return !hasBlocks(path) && bytesOf(log) === 0 ? log : null;
}

function missingFiles(paths: readonly string[]): StoreOpenError {
  const files = paths.join(', ');
  return new StoreOpenError(
    `Files of the store are missing or empty: ${files}. Restore all files of one backup, or start with jackdaw run --accept-loss to continue without their telemetry.`,
  );
}
