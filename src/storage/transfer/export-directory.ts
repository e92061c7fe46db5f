import { chmod, copyFile, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { ConsumeError } from '../../component/consume-error.js';
import { PRIVATE_FILE, makePrivate, makePrivateDirectory } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import { isNoRoom, isSpillRefused } from '../duckdb/files/disk-room.js';
import type { WrittenFile } from '../telemetry-transfer.js';
import {
  CONTROL,
  INCOMPLETE,
  MANIFEST,
  measureFile,
  SECRETS_KEY,
  TELEMETRY,
  type Manifest,
} from './manifest.js';

/** A directory that cannot be written to, in words for whoever asked for it. */
export class UnusableDirectory extends Error {
  override readonly name = 'UnusableDirectory';
}

/**
 * The directory that an export is written into, for its user alone: it holds prompts and answers, digests of keys, and secrets. It
 * is complete once its manifest is there; what is given up is removed.
 */
export class ExportDirectory {
  readonly path: string;
  readonly telemetry: string;
  readonly control: string;
  readonly #isMade: boolean;

  private constructor(path: string, isMade: boolean) {
    this.path = path;
    this.telemetry = join(path, TELEMETRY);
    this.control = join(path, CONTROL);
    this.#isMade = isMade;
  }

  /**
   * Makes it, or takes one that is empty.
   *
   * @param path absolute
   * @throws UnusableDirectory
   */
  static async make(path: string): Promise<ExportDirectory> {
    if (!isAbsolute(path)) throw new UnusableDirectory(`${path} is no absolute path.`);
    if (path.includes('\0')) throw new UnusableDirectory('No path holds the character U+0000.');
    const isThere = await isDirectory(path);
    try {
      if (isThere) refuseFull(path, await readdir(path));
      await makePrivateDirectory(path);
      makePrivate(path);
      const made = new ExportDirectory(path, !isThere);
      await made.#begin();
      return made;
    } catch (cause) {
      // Unless another has something in it.
      if (!isThere) await rmdir(path).catch(() => undefined);
      const trouble = troubleOf(path, cause);
      throw trouble === null ? cause : new UnusableDirectory(trouble, { cause });
    }
  }

  async #begin(): Promise<void> {
    // Two that begin at the same time do not both go on.
    const note = await open(join(this.path, INCOMPLETE), 'wx', PRIVATE_FILE);
    try {
      await note.writeFile(NOTE).finally(() => note.close());
      for (const folder of [this.telemetry, this.control]) await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      await this.remove();
      throw error;
    }
  }

  /** The bytes that its files have by now. */
  async bytes(): Promise<number> {
    let bytes = 0;
    for (const folder of [this.telemetry, this.control])
      for (const name of await readdir(folder)) bytes += (await stat(join(folder, name))).size;
    return bytes;
  }

  /** Adds the key of sealed secrets. @param file where it lies */
  async addSecretsKey(file: string): Promise<WrittenFile> {
    await copyFile(file, join(this.control, SECRETS_KEY));
    return { name: SECRETS_KEY, rows: 0 };
  }

  /** Lets all files outlive a loss of power, and completes the export. */
  async complete(
    manifest: Omit<Manifest, 'files'>,
    files: { readonly telemetry: readonly WrittenFile[]; readonly control: readonly WrittenFile[] },
  ): Promise<Manifest> {
    const measured: Manifest['files'] = [];
    for (const [folder, list] of [
      [TELEMETRY, files.telemetry],
      [CONTROL, files.control],
    ] as const)
      for (const { name, rows } of list) {
        const path = join(this.path, folder, name);
        await chmod(path, PRIVATE_FILE);
        await syncFile(path);
        measured.push({ path: `${folder}/${name}`, rows, ...(await measureFile(path)) });
      }
    for (const folder of [this.telemetry, this.control]) await syncDirectory(folder);
    const whole = { ...manifest, files: measured };
    const draft = join(this.path, `${MANIFEST}.new`);
    const file = await open(draft, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(`${JSON.stringify(whole, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(this.path, MANIFEST));
    await rm(join(this.path, INCOMPLETE), { force: true });
    await syncDirectory(this.path);
    return whole;
  }

  /** Removes what was written, and the directory itself where it was made for this. */
  async remove(): Promise<void> {
    // The note last, so that what cannot be removed is known for what it is.
    const names = [MANIFEST, `${MANIFEST}.new`, TELEMETRY, CONTROL, INCOMPLETE];
    const all = [...names.map((name) => join(this.path, name)), ...(this.#isMade ? [this.path] : [])];
    for (const path of all) await rm(path, { recursive: true, force: true });
  }
}

/**
 * What an error of an export says of its directory, or of the disk that it lies on.
 *
 * @returns a sentence with the cure; null where it says nothing of them
 */
export function troubleOf(directory: string, error: unknown): string | null {
  if (error instanceof UnusableDirectory) return error.message;
  if (error instanceof ConsumeError) return null;
  const reason = error instanceof Error ? error.message : String(error);
  const file = /"(\/[^"]+)"/.exec(reason)?.[1] ?? directory;
  if (isSpillRefused(error) || (isNoRoom(error) && !file.startsWith(directory)))
    return `There is no room for what does not fit into memory while ${directory} is written: make room on the disk of the store, and on that of the directory, and export again.`;
  if (isNoRoom(error) || SQLITE_FULL.test(reason))
    return `There is no room for the export in ${directory}: make room on its disk, or name a directory on another one.`;
  // An error of the file system, or one of an engine that names the file.
  if (!/^E[A-Z0-9]+: /.test(reason) && !reason.includes(directory)) return null;
  return `${directory} cannot be written: ${reason}. See to that, or name another directory.`;
}

const SQLITE_FULL = /database or disk is full/;

const NOTE =
  'An export is being written here, or was broken off: it is complete when manifest.json is there and this file is not.\n';

function refuseFull(path: string, names: readonly string[]): void {
  if (names.length === 0) return;
  if (names.includes(INCOMPLETE) && !names.includes(MANIFEST))
    throw new UnusableDirectory(
      `${path} holds a part of an export that was broken off, or is still being written: where no daemon writes it any more, remove the directory and export again.`,
    );
  throw new UnusableDirectory(
    `${path} is not empty: name a directory that is, or one that does not exist yet.`,
  );
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isDirectory()) throw new UnusableDirectory(`${path} is no directory.`);
  return found !== null;
}
