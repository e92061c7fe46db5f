import { lstat, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import { LOST_AND_FOUND, unwritten } from './backup-directory.js';
import { inParallel, UnusableBackup, type Backup, type Backups } from './backups.js';
import { UnusableDirectory } from './export-directory.js';

/** In an existing directory: holds the files until all are written. */
const DRAFT = '.restoring';

/** Options of a restore. */
export interface RestoreOptions {
  /** The program's version. */
  readonly version: string;
  readonly abort: AbortSignal;
  /** Receives the file, the number of bytes written so far, and the total. */
  readonly reached?: (name: string, bytes: number, total: number) => void;
}

/**
 * Writes the files of a backup into a directory. They get their names once all of them are written and verified, a new directory at
 * once. An existing directory stays the same, because it may be a mounted volume.
 *
 * @param to absolute; must be missing or empty
 * @throws UnusableDirectory; UnusableBackup for newer backups and missing or damaged parts; the reason of the abort. No file is left then
 */
export async function restoreBackup(
  from: Backups,
  { id, backup }: { readonly id: string; readonly backup: Backup },
  to: string,
  options: RestoreOptions,
): Promise<void> {
  if (isNewer(backup.jackdaw, options.version))
    throw new UnusableBackup(
      `Backup ${id} was made by Jackdaw ${backup.jackdaw}, and this is ${options.version}: restore it with that version or a newer one.`,
    );
  const existing = await emptyDirectory(to);
  const draft = join(existing ?? dirname(to), existing === null ? `.${basename(to)}${DRAFT}` : DRAFT);
  try {
    await rm(draft, { recursive: true, force: true });
    await makePrivateDirectory(draft);
    await writeFiles(from, backup, draft, options);
    await syncDirectory(draft);
    if (existing === null) await rename(draft, to);
    else await moveFiles(backup, draft, existing);
    await syncDirectory(existing ?? dirname(to));
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw unwritten(to, error);
  }
}

/** @returns its real path; null if missing @throws UnusableDirectory */
async function emptyDirectory(path: string): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return null;
  const names = await readdir(path).catch((cause: unknown) => {
    throw new UnusableDirectory(`${path} is not a directory that this user can read: use another one.`, {
      cause,
    });
  });
  // A restore that was killed leaves its draft.
  if (names.some((name) => name !== LOST_AND_FOUND && name !== DRAFT))
    throw new UnusableDirectory(
      `${path} is not empty: move its files away, or restore to a directory that does not exist yet.`,
    );
  return await realpath(path);
}

async function writeFiles(
  from: Backups,
  { files }: Backup,
  directory: string,
  { abort, reached }: RestoreOptions,
): Promise<void> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const { name, bytes, parts } of files) {
    reached?.(name, done, total);
    const file = await open(join(directory, name), 'wx', PRIVATE_FILE);
    try {
      let written = 0;
      for await (const content of inParallel(parts, (part) => from.get(part))) {
        abort.throwIfAborted();
        await file.writeFile(content);
        written += content.length;
        reached?.(name, done + written, total);
      }
      if (written !== bytes)
        throw new UnusableBackup(`${name} has another size than in its backup: use another backup.`);
      await file.sync();
      done += written;
    } finally {
      await file.close();
    }
  }
}

/** Moves the main file last: without it, the telemetry store does not open. */
async function moveFiles({ files, main }: Backup, draft: string, to: string): Promise<void> {
  const names = files.map(({ name }) => name);
  for (const name of [...names.filter((other) => other !== main), main])
    await rename(join(draft, name), join(to, name));
  await rm(draft, { recursive: true, force: true });
}

/** Compares `major.minor.patch`; suffixes of preliminary versions do not count. */
function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => (text.split('-')[0] ?? '').split('.').map(Number));
  for (const [i, number] of (a ?? []).entries()) if (number !== (b?.[i] ?? 0)) return number > (b?.[i] ?? 0);
  return false;
}
