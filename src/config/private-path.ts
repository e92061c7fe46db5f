import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncDirectory } from './sync-directory.js';

/**
 * Mode of files that the daemon writes. They are private to its user: telemetry holds prompts and answers, the store holds digests
 * of keys.
 */
export const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const OTHERS = 0o077;

/**
 * Creates a directory and its missing parents durably (synced against power loss). The mode of an existing directory is not changed,
 * because others may use it.
 *
 * @param made receives the created directories, the outermost first, also if it throws
 * @throws the file system error
 */
export async function makePrivateDirectory(path: string, made: string[] = []): Promise<void> {
  for (const directory of missingDown(resolve(path)))
    if (isMadeHere(directory)) {
      made.push(directory);
      await syncDirectory(dirname(directory));
    }
}

/**
 * A directory and its missing parents, outermost first. Node's option `recursive` retries forever on file systems that refuse new
 * directories (`/proc`).
 */
function missingDown(directory: string): string[] {
  const above = dirname(directory);
  return above === directory || existsSync(above) ? [directory] : [...missingDown(above), directory];
}

/** @returns false if it is there already */
function isMadeHere(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: PRIVATE_DIRECTORY });
    return true;
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return false;
    throw error;
  }
}

/** Whether users other than the owner can access a file or directory. */
export function isOpenToOthers(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.isFile() || found.isDirectory()) && (found.mode & OTHERS) !== 0;
}

/**
 * Removes the access of others from a file or a directory; devices and similar are not changed.
 *
 * @returns whether others had any access
 * @throws the file system error, such as EPERM if another user owns the path
 */
export function makePrivate(path: string): boolean {
  if (!isOpenToOthers(path)) return false;
  chmodSync(path, statSync(path).isDirectory() ? PRIVATE_DIRECTORY : PRIVATE_FILE);
  return true;
}
