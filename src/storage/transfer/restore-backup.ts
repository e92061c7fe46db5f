import { open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { syncDirectory } from '../../config/sync-directory.js';
import type { Backup, BackupDirectory } from './backup-directory.js';
import { UnusableDirectory } from './export-directory.js';

/**
 * Writes the files of a backup into a directory, which appears under its name once all of them are written and verified.
 *
 * @param to absolute; must be missing or empty
 * @param reached called with the name of each file before it is written
 * @throws UnusableDirectory; UnusableBackup for missing or damaged parts; the error of the file system. Nothing is left then
 */
export async function restoreBackup(
  from: BackupDirectory,
  backup: Backup,
  to: string,
  reached: (name: string) => void = () => undefined,
): Promise<void> {
  const names = await readdir(to).catch(() => null);
  if (names !== null && names.length > 0)
    throw new UnusableDirectory(
      `${to} is not empty: move its files away, or restore to a directory that does not exist yet.`,
    );
  // Next to the target, because a rename must not cross file systems.
  const draft = join(dirname(to), `.${basename(to)}.restoring`);
  await rm(draft, { recursive: true, force: true });
  await makePrivateDirectory(draft);
  try {
    for (const { name, bytes, parts } of backup.files) {
      reached(name);
      const file = await open(join(draft, name), 'wx', PRIVATE_FILE);
      try {
        let written = 0;
        for (const part of parts) {
          const content = await from.get(part);
          await file.writeFile(content);
          written += content.length;
        }
        if (written !== bytes) throw new UnusableDirectory(`${name} has another size than in its backup.`);
        await file.sync();
      } finally {
        await file.close();
      }
    }
    await syncDirectory(draft);
    if (names !== null) await rmdir(to);
    await rename(draft, to);
    await syncDirectory(dirname(to));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
