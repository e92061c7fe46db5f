import { open, stat, type FileHandle, link, readdir, rm, unlink } from 'node:fs/promises';
import { dirname, basename, extname, join } from 'node:path';
import type { Clock } from '../../component/telemetry.js';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import type { Micros } from '../../signal/time.js';

/** `2026-11-21T02-03-04.123Z`: fixed width, so that names sort by time. */
const STAMP = String.raw`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z`;

/**
 * Renames a file to a backup, `telemetry-2026-11-21T02-03-04.123Z.jsonl`. An existing file is never replaced.
 *
 * @throws the error of the file system
 */
async function rotate(path: string, now: Micros): Promise<void> {
  const { folder, stem, extension } = partsOf(path);
  for (let ms = Math.floor(now / 1000); ; ms++) {
    const stamp = new Date(ms).toISOString().replaceAll(':', '-');
    try {
      // Linking fails if the name is taken; renaming would overwrite the existing file.
      await link(path, join(folder, `${stem}-${stamp}${extension}`));
      break;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  await unlink(path);
}

/** Deletes the oldest backups of a file. @param keep how many stay; 0: all */
async function pruneBackups(path: string, keep: number): Promise<void> {
  if (keep === 0) return;
  const { folder, stem, extension } = partsOf(path);
  const isBackup = new RegExp(`^${escape(stem)}-${STAMP}${escape(extension)}$`);
  const backups = (await readdir(folder)).filter((name) => isBackup.test(name)).sort();
  for (const name of backups.slice(0, Math.max(0, backups.length - keep)))
    await rm(join(folder, name), { force: true });
}

function partsOf(path: string): {
  readonly folder: string;
  readonly stem: string;
  readonly extension: string;
} {
  const extension = extname(path);
  return { folder: dirname(path), stem: basename(path, extension), extension };
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** The code of an error of the file system, or its message. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}

const NEWLINE = 10;

export interface LineFileOptions {
  readonly path: string;
  readonly append: boolean;
  /** Bytes; 0: no limit. */
  readonly maxSize: number;
  /** 0: all. */
  readonly maxBackups: number;
  readonly clock: Clock;
}

/**
 * A file of lines, rotated by size. A failed write is undone; if that fails too, or after a crash, the next write ends the incomplete line
 * first. A moved or deleted file is created again. Calls must not overlap.
 */
export class LineFile {
  readonly #options: LineFileOptions;
  #handle: FileHandle | undefined;
  #inode = 0;
  #size = 0;
  #isDirty = false;
  /** Whether the directory entries of this file and of the rotated files are synced. */
  #isNamed = false;

  constructor(options: LineFileOptions) {
    this.#options = options;
  }

  /** Opens the file, and truncates it unless lines are appended. @throws the file system error */
  async open(): Promise<void> {
    const { path, append } = this.#options;
    await makePrivateDirectory(dirname(path));
    await this.#open();
    if (append) return;
    await this.#handle?.truncate(0);
    this.#size = 0;
  }

  /**
   * @param line without line end
   * @throws the error of the file system; the file is unchanged unless the error says otherwise
   */
  async write(line: string): Promise<void> {
    const bytes = Buffer.from(`${line}\n`);
    const { maxSize } = this.#options;
    if (!this.#handle || !(await this.#isInPlace())) await this.#reopen();
    if (maxSize > 0 && this.#size > 0 && this.#size + bytes.length > maxSize) await this.#rotate();
    const handle = this.#handle;
    if (!handle) throw new Error('the file is not open');
    try {
      for (let written = 0; written < bytes.length;)
        written += (await handle.write(bytes, written)).bytesWritten;
    } catch (error) {
      await handle.truncate(this.#size).catch(async () => {
        // The next write opens the file again and ends the incomplete line.
        await this.#close().catch(() => undefined);
        throw new Error(`${codeOf(error)}; an incomplete line may remain, and the next write ends it`, {
          cause: error,
        });
      });
      throw error;
    }
    this.#size += bytes.length;
    this.#isDirty = true;
  }

  /** Syncs written data to disk, and also the name of a new file. */
  async flush(): Promise<void> {
    if (!this.#isDirty) return;
    await this.#handle?.datasync();
    await this.#syncName();
    this.#isDirty = false;
  }

  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.#close();
    }
  }

  async #open(): Promise<void> {
    this.#isNamed = false;
    const handle = await open(this.#options.path, 'a+', PRIVATE_FILE);
    try {
      const { ino, size } = await handle.stat();
      this.#inode = ino;
      this.#size = size;
      if (size > 0) await this.#endLastLine(handle, size);
    } catch (error) {
      await handle.close();
      throw error;
    }
    // Only now: a line must not be written behind one that could not be ended.
    this.#handle = handle;
  }

  async #syncName(): Promise<void> {
    if (this.#isNamed) return;
    try {
      await syncDirectory(dirname(this.#options.path));
    } catch (error) {
      // The folder was deleted together with the file; the next line creates both again.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
    this.#isNamed = true;
  }

  /** A line that a crash cut off must not merge with the next one. */
  async #endLastLine(handle: FileHandle, size: number): Promise<void> {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    if (buffer[0] === NEWLINE) return;
    await handle.write('\n');
    this.#size += 1;
  }

  async #isInPlace(): Promise<boolean> {
    try {
      return (await stat(this.#options.path)).ino === this.#inode;
    } catch {
      return false;
    }
  }

  async #reopen(): Promise<void> {
    await this.#close();
    await makePrivateDirectory(dirname(this.#options.path));
    await this.#open();
  }

  async #rotate(): Promise<void> {
    const { path, clock, maxBackups } = this.#options;
    await this.close();
    await rotate(path, clock.now());
    await this.#open();
    await pruneBackups(path, maxBackups);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
