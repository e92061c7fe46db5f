import { join } from 'node:path';
import { PRIVATE_FILE } from './private-path.js';
import { loadSqlite } from './sqlite-module.js';
import { chmodSync, existsSync } from 'node:fs';

export const LOCK_FILE = 'lock';

/** A directory that belongs to one process. */
export interface DirectoryLock {
  release(): void;
}

/** Another process has the directory. */
export class DirectoryTaken extends Error {
  override readonly name = 'DirectoryTaken';

  constructor(path: string) {
    super(`another Jackdaw uses ${path}: stop it, or set another directory (two daemons cannot share one)`);
  }
}

/**
 * Whether another process has locked a file with a lock like those of SQLite and DuckDB. Changes nothing. Do not use it for a file
 * opened by this process: closing the file would release the process's own lock.
 */
export async function isLockedByOther(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const { DatabaseSync } = await loadSqlite();
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    // Without it a log that a killed process left would be opened, and a file be made for that.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.exec('SELECT 1 FROM sqlite_schema');
    return false;
  } catch (error) {
    // Any other error: the file cannot be opened or, after the lock, is no database.
    return isLocked(error);
  } finally {
    database?.close();
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && /locked|busy/i.test(error.message);
}

/**
 * Locks a directory for this process with a file lock. The system releases the lock when the process ends, however it ends, so no
 * stale lock remains. Node.js cannot lock files, but SQLite can.
 *
 * @param path of an existing directory
 * @throws DirectoryTaken if another process holds the lock; the file system error
 */
export async function lockDirectory(path: string): Promise<DirectoryLock> {
  const { DatabaseSync } = await loadSqlite();
  const file = join(path, LOCK_FILE);
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout = 0');
    database.exec('BEGIN EXCLUSIVE');
    chmodSync(file, PRIVATE_FILE);
  } catch (error) {
    database.close();
    if (isLocked(error)) throw new DirectoryTaken(path);
    throw error;
  }
  return {
    release: () => {
      database.close();
    },
  };
}
