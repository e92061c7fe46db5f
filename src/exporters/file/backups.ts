import { link, readdir, rm, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Micros } from '../../signal/time.js';

/** `2026-11-21T02-03-04.123Z`: of fixed width, so that names sort by time. */
const STAMP = String.raw`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z`;

/**
 * Gives a file the name of a backup, `telemetry-2026-11-21T02-03-04.123Z.jsonl`. An existing file is never replaced.
 *
 * @throws the error of the file system
 */
export async function putAside(path: string, now: Micros): Promise<void> {
  const { folder, stem, extension } = partsOf(path);
  for (let ms = Math.floor(now / 1000); ; ms++) {
    const stamp = new Date(ms).toISOString().replaceAll(':', '-');
    try {
      // A link fails where the name is taken; renaming would replace what is there.
      await link(path, join(folder, `${stem}-${stamp}${extension}`));
      break;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  await unlink(path);
}

/** Deletes the oldest backups of a file. @param keep how many stay; 0: all */
export async function pruneBackups(path: string, keep: number): Promise<void> {
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
