import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../../component/telemetry.js';
import { makePrivate } from '../../../config/private-path.js';

/**
 * Removes other users' permissions from the files of a store: they may come from a backup, or from a process with another umask.
 *
 * @param mainPath the other files are next to it, under its name
 */
export function makeStorePrivate(mainPath: string, logger: Logger): void {
  const directory = dirname(mainPath);
  const base = basename(mainPath).replace(/\.(duckdb|db)$/, '');
  const narrowed: string[] = [];
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    if (name !== base && !name.startsWith(`${base}.`)) continue;
    try {
      if (makePrivate(join(directory, name))) narrowed.push(name);
    } catch (error) {
      logger.warn(
        { err: error, file: join(directory, name) },
        'Other users can access a file of the store, and its permissions could not be changed',
      );
    }
  }
  if (narrowed.length > 0)
    logger.info({ directory, files: narrowed }, 'Removed access of other users to the files of the store');
}
