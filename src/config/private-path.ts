import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncDirectory } from './sync-directory.js';

/** What the daemon writes is for its user alone: telemetry holds prompts and answers, the store the digests of keys. */
export const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const OTHERS = 0o077;

/**
 * Makes a directory and the missing ones above it, with names that survive a loss of power. An existing one stays as it is,
 * because it may serve others, too.
 *
 * @param made gets the directories that were made, the outermost first, also if it throws
 * @throws the error of the file system
 */
export async function makePrivateDirectory(path: string, made: string[] = []): Promise<void> {
  for (const directory of missingDown(resolve(path)))
    if (isMadeHere(directory)) {
      made.push(directory);
      await syncDirectory(dirname(directory));
    }
}

/**
 * A directory, and before it those above it that are not there. The option `recursive` of Node looks for them by trying, and where a
 * file system takes none (`/proc`) it tries for ever.
 */
function missingDown(directory: string): string[] {
  const above = dirname(directory);
  return above === directory || existsSync(above) ? [directory] : [...missingDown(above), directory];
}

/** @returns false where it is there already */
function isMadeHere(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: PRIVATE_DIRECTORY });
    return true;
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return false;
    throw error;
  }
}

/** Whether others than its user can do anything with a file or directory. */
export function isOpenToOthers(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.isFile() || found.isDirectory()) && (found.mode & OTHERS) !== 0;
}

/**
 * Takes from a file or a directory what others may do with it; devices and the like stay as they are.
 *
 * @returns whether others could do anything with it
 * @throws the error of the file system, such as EPERM where it is another user's
 */
export function makePrivate(path: string): boolean {
  if (!isOpenToOthers(path)) return false;
  chmodSync(path, statSync(path).isDirectory() ? PRIVATE_DIRECTORY : PRIVATE_FILE);
  return true;
}
