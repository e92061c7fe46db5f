import { open, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../component/telemetry.js';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import { pruneBackups, putAside } from './backups.js';

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
 * A file of lines that is rotated by its size. A line is either there as a whole or not at all, except after a crash of the
 * machine. A file that others moved or deleted is made anew. Calls must not overlap.
 */
export class LineFile {
  readonly #options: LineFileOptions;
  #handle: FileHandle | undefined;
  #inode = 0;
  #size = 0;
  #isDirty = false;
  /** Whether its name, and those of files put aside, survive a loss of power. */
  #isNamed = false;

  constructor(options: LineFileOptions) {
    this.#options = options;
  }

  /** Opens the file, and empties it where lines are not to be appended. @throws the error of the file system */
  async open(): Promise<void> {
    const { path, append } = this.#options;
    await makePrivateDirectory(dirname(path));
    await this.#open();
    if (append) return;
    await this.#handle?.truncate(0);
    this.#size = 0;
  }

  /**
   * @param line without its line end.
   * @throws the error of the file system; the file is then as before
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
      await handle.truncate(this.#size).catch(() => this.#close());
      throw error;
    }
    this.#size += bytes.length;
    this.#isDirty = true;
  }

  /** Forces what was written to the disk, and the file's name where it is new. */
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
    this.#handle = handle;
    const { ino, size } = await handle.stat();
    this.#inode = ino;
    this.#size = size;
    if (size > 0) await this.#endLastLine(handle, size);
  }

  async #syncName(): Promise<void> {
    if (this.#isNamed) return;
    try {
      await syncDirectory(dirname(this.#options.path));
    } catch (error) {
      // Others deleted its folder, and the file with it; the next line makes it anew.
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
    await putAside(path, clock.now());
    await this.#open();
    await pruneBackups(path, maxBackups);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
