import { chmodSync, mkdirSync, statSync } from 'node:fs';
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
 * @throws the error of the file system
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  const first = mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  if (first === undefined) return;
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncDirectory(dirname(made));
    if (made === resolve(first) || made === dirname(made)) return;
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
