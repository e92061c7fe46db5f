import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { ConsumeError } from '../../component/consume-error.js';
import { isOpenToOthers, makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import { isNoRoom, isSpillRefused } from '../duckdb/files/disk-room.js';
import type { WrittenFile } from '../contracts/transfer.js';
import {
  CONTROL,
  INCOMPLETE,
  MANIFEST,
  measureFile,
  SECRETS_KEY,
  TELEMETRY,
  type Manifest,
} from './manifest.js';

/** A directory that cannot be written to, with a message for the user. */
export class UnusableDirectory extends Error {
  override readonly name = 'UnusableDirectory';
}

/**
 * The directory of an export, accessible to its user only: it contains prompts and answers, key digests, and secrets. It is complete
 * once it has a manifest; an aborted export is removed.
 */
export class ExportDirectory {
  readonly path: string;
  readonly telemetry: string;
  readonly control: string;
  /** Directories created for it, the outermost first. */
  readonly #made: readonly string[];

  private constructor(path: string, made: readonly string[]) {
    this.path = path;
    this.telemetry = join(path, TELEMETRY);
    this.control = join(path, CONTROL);
    this.#made = made;
  }

  /**
   * Creates it, or uses an empty one.
   *
   * @param path absolute
   * @throws UnusableDirectory
   */
  static async make(path: string): Promise<ExportDirectory> {
    if (!isAbsolute(path)) throw new UnusableDirectory(`${path} is not an absolute path.`);
    if (path.includes('\0')) throw new UnusableDirectory('A path must not contain the character U+0000.');
    const isThere = await isDirectory(path);
    const made: string[] = [];
    try {
      if (isThere) refuseForeign(path, await readdir(path));
      await makePrivateDirectory(path, made);
      const directory = new ExportDirectory(path, made);
      await directory.#begin();
      return directory;
    } catch (cause) {
      await removeEmpty(made);
      const healthIssue = healthIssueOf(path, cause);
      throw healthIssue === null ? cause : new UnusableDirectory(healthIssue, { cause });
    }
  }

  async #begin(): Promise<void> {
    // `wx` fails for the second of two concurrent exports.
    const note = await open(join(this.path, INCOMPLETE), 'wx', PRIVATE_FILE);
    try {
      await note.writeFile(NOTE).finally(() => note.close());
      for (const folder of [this.telemetry, this.control]) await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      await this.remove();
      throw error;
    }
  }

  /** Current size of its files in bytes. */
  async bytes(): Promise<number> {
    let bytes = 0;
    for (const folder of [this.telemetry, this.control])
      for (const name of await readdir(folder)) bytes += (await stat(join(folder, name))).size;
    return bytes;
  }

  /** Adds the key of sealed secrets. @param file the path of the key */
  async addSecretsKey(file: string): Promise<WrittenFile> {
    await copyFile(file, join(this.control, SECRETS_KEY));
    return { name: SECRETS_KEY, rows: 0 };
  }

  /** Syncs all files to disk, and completes the export. */
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

  /** Removes the written files, and the directories created for them. */
  async remove(): Promise<void> {
    // `INCOMPLETE` is last, so that files that cannot be removed stay marked.
    const names = [MANIFEST, `${MANIFEST}.new`, TELEMETRY, CONTROL, INCOMPLETE];
    for (const name of names) await rm(join(this.path, name), { recursive: true, force: true });
    await removeEmpty(this.#made);
  }
}

/**
 * Describes an export error caused by its directory or disk.
 *
 * @returns a sentence with the remedy; null if the error has another cause
 */
export function healthIssueOf(directory: string, error: unknown): string | null {
  if (error instanceof UnusableDirectory) return error.message;
  if (error instanceof ConsumeError) return null;
  const reason = error instanceof Error ? error.message : String(error);
  const file = /"(\/[^"]+)"/.exec(reason)?.[1] ?? directory;
  if (isSpillRefused(error) || (isNoRoom(error) && !file.startsWith(directory)))
    return `Not enough disk space for temporary data while writing ${directory}: free space on the disks of the store and of the directory, and export again.`;
  if (isNoRoom(error) || SQLITE_FULL.test(reason))
    return `Not enough disk space for the export in ${directory}: free space, or use a directory on another disk.`;
  // Only file system errors, and engine errors that name the file.
  if (!/^E[A-Z0-9]+: /.test(reason) && !reason.includes(directory)) return null;
  return `${directory} cannot be written: ${reason}. Fix that, or use another directory.`;
}

const SQLITE_FULL = /database or disk is full/;

const NOTE =
  'An export is in progress or was interrupted. It is complete when manifest.json exists and this file does not.\n';

/** Removes directories that are empty. */
async function removeEmpty(made: readonly string[]): Promise<void> {
  for (const directory of made.toReversed()) await rmdir(directory).catch(() => undefined);
}

function refuseForeign(path: string, names: readonly string[]): void {
  if (names.length === 0) {
    if (isOpenToOthers(path))
      throw new UnusableDirectory(
        `Other users can read ${path}: make it private (chmod 700), or use a directory that does not exist yet.`,
      );
    return;
  }
  if (names.includes(INCOMPLETE) && !names.includes(MANIFEST))
    throw new UnusableDirectory(
      `${path} holds an export that is in progress or was interrupted: if no daemon is writing it, remove the directory and export again.`,
    );
  throw new UnusableDirectory(`${path} is not empty: use an empty directory or one that does not exist yet.`);
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
  if (found !== null && !found.isDirectory()) throw new UnusableDirectory(`${path} is not a directory.`);
  return found !== null;
}

/**
 * Resolves the requested directory of an export, which must be below a root even after following symbolic links.
 *
 * @param directory absolute, or relative to the root
 * @throws UnusableDirectory
 */
export async function exportPath(root: string, directory: string): Promise<string> {
  if (directory.includes('\0')) throw new UnusableDirectory('A path must not contain the character U+0000.');
  const top = resolve(root);
  const path = resolve(top, directory);
  const refused = new UnusableDirectory(
    `${path} is not below ${top}: use a directory there, or change extensions.query.export_root.`,
  );
  if (!isBelow(top, path)) throw refused;
  if (!isBelow(await realPath(top), await realPath(path))) throw refused;
  return path;
}

function isBelow(root: string, path: string): boolean {
  return path !== root && path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

/** Follows symbolic links in the part of a path that exists. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // A dangling link would be followed when the directory is created.
    if ((await lstat(path).catch(() => null))?.isSymbolicLink() === true)
      throw new UnusableDirectory(`${path} is a broken symbolic link: remove it.`);
    const above = dirname(path);
    return above === path ? path : join(await realPath(above), basename(path));
  }
}
