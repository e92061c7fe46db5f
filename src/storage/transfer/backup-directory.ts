import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { lockDirectory, LOCK_FILE } from '../../config/directory-lock.js';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import { isNoRoom } from '../duckdb/files/disk-room.js';
import { MANIFESTS, OBJECTS, UnusableBackup, type BackupPlace } from './backups.js';
import { UnusableDirectory } from './export-directory.js';

/** Holds files that are being written. */
const SCRATCH = 'scratch';
/** The root of an ext4 file system contains it. */
export const LOST_AND_FOUND = 'lost+found';

/** A directory for backups, accessible to its user only. */
export class BackupDirectory implements BackupPlace {
  readonly name: string;
  readonly scratch: string;
  /** Folders whose names are not yet durable. */
  readonly #unsynced = new Set<string>();

  /** @param path absolute */
  constructor(path: string) {
    this.name = path;
    this.scratch = join(path, SCRATCH);
  }

  where(name: string): string {
    return join(this.name, name);
  }

  async lock(): Promise<{ release(): Promise<void> }> {
    const names = await readdir(this.name).catch(ifMissing([]));
    // SQLite, which locks the file, leaves a journal if the process is killed.
    const own = [OBJECTS, MANIFESTS, SCRATCH, LOCK_FILE, `${LOCK_FILE}-journal`, LOST_AND_FOUND];
    const foreign = names.find((name) => !own.includes(name));
    if (foreign !== undefined)
      throw new UnusableDirectory(
        `${this.name} holds other files (${foreign}): use an empty directory, one with earlier backups, or one that does not exist yet.`,
      );
    return await this.#reported(async () => {
      await makePrivateDirectory(this.name);
      const lock = await lockDirectory(this.name);
      const release = async (): Promise<void> => {
        await rm(this.scratch, { recursive: true, force: true }).catch(() => undefined);
        lock.release();
      };
      try {
        await rm(this.scratch, { recursive: true, force: true });
        for (const folder of [OBJECTS, MANIFESTS, SCRATCH])
          await makePrivateDirectory(join(this.name, folder));
      } catch (error) {
        await release();
        throw error;
      }
      return { release };
    });
  }

  async *list(folder: string): AsyncIterable<string> {
    const found = await readdir(this.where(folder), { recursive: true, withFileTypes: true }).catch(
      (cause: unknown) => {
        throw new UnusableBackup(`${this.name} holds no backups: check the path.`, { cause });
      },
    );
    for (const entry of found)
      if (!entry.isDirectory())
        yield relative(this.name, join(entry.parentPath, entry.name)).split(sep).join('/');
  }

  async bytesOf(name: string): Promise<number | null> {
    const found = await stat(this.where(name)).catch(ifMissing(null));
    // A process that was killed may not have synced it.
    if (found !== null) this.#unsynced.add(dirname(this.where(name)));
    return found?.size ?? null;
  }

  async read(name: string): Promise<Uint8Array | null> {
    return await readFile(this.where(name)).catch(ifMissing(null));
  }

  async write(name: string, content: Uint8Array): Promise<void> {
    const path = this.where(name);
    const draft = join(this.scratch, basename(name));
    await this.#reported(async () => {
      await mkdir(dirname(path), { mode: 0o700 }).catch(ifThere);
      const file = await open(draft, 'w', PRIVATE_FILE);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
    });
    this.#unsynced.add(dirname(path));
  }

  async flush(): Promise<void> {
    for (const folder of this.#unsynced) await syncDirectory(folder);
    for (const folder of [OBJECTS, MANIFESTS]) await syncDirectory(this.where(folder));
    this.#unsynced.clear();
  }

  async remove(name: string): Promise<void> {
    await rm(this.where(name), { force: true });
  }

  async #reported<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw unwritten(this.name, cause);
    }
  }
}

/** Errors of the file system name the directory and the remedy; others stay. */
export function unwritten(directory: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (isNoRoom(error) || error.message.includes('database or disk is full'))
    return new UnusableDirectory(
      `Not enough disk space in ${directory}: free space or use a directory on another disk.`,
      { cause: error },
    );
  if (!('syscall' in error)) return error;
  return new UnusableDirectory(
    `${directory} cannot be written (${error.message}): fix that, or use another directory.`,
    { cause: error },
  );
}

function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value;
    throw error;
  };
}

function ifThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}
