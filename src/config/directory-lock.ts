import { join } from 'node:path';
import { PRIVATE_FILE } from './private-path.js';
import { loadSqlite } from './sqlite-module.js';
import { chmodSync } from 'node:fs';

const FILE = 'lock';

/** A directory that belongs to one process. */
export interface DirectoryLock {
  release(): void;
}

/** Another process has the directory. */
export class DirectoryTaken extends Error {
  override readonly name = 'DirectoryTaken';

  constructor(path: string) {
    super(
      `another Jackdaw works in ${path}: stop it, or write another directory (two daemons cannot share one)`,
    );
  }
}

/**
 * Takes a directory for this process alone, by the lock of a file in it. The system gives the lock back when the process ends,
 * however it ends; so nothing is left behind that has to be removed by hand. Node.js cannot lock files, but SQLite can.
 *
 * @param path of a directory that exists
 * @throws DirectoryTaken where another process has it; the error of the file system
 */
export async function lockDirectory(path: string): Promise<DirectoryLock> {
  const { DatabaseSync } = await loadSqlite();
  const file = join(path, FILE);
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout = 0');
    database.exec('BEGIN EXCLUSIVE');
    chmodSync(file, PRIVATE_FILE);
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) throw new DirectoryTaken(path);
    throw error;
  }
  return {
    release: () => {
      database.close();
    },
  };
}
