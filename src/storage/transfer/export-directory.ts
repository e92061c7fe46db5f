import { chmod, copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { PRIVATE_FILE, makePrivate, makePrivateDirectory } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
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
    const isThere = await isDirectory(path);
    try {
      if (isThere) refuseFull(path, await readdir(path));
      await makePrivateDirectory(path);
      makePrivate(path);
      const made = new ExportDirectory(path, !isThere);
      // Two that begin at the same time do not both go on.
      await writeFile(join(path, INCOMPLETE), NOTE, { flag: 'wx', mode: PRIVATE_FILE });
      for (const folder of [made.telemetry, made.control]) await mkdir(folder, { mode: 0o700 });
      return made;
    } catch (cause) {
      if (cause instanceof UnusableDirectory) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new UnusableDirectory(`${path} cannot be written: ${reason}`, { cause });
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
    const all = this.#isMade
      ? [this.path]
      : [INCOMPLETE, TELEMETRY, CONTROL, MANIFEST, `${MANIFEST}.new`].map((name) => join(this.path, name));
    for (const path of all) await rm(path, { recursive: true, force: true });
  }
}

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
