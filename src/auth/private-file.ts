import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../config/sync-directory.js';

/**
 * Writes a line atomically: the file holds the whole line or does not exist. Only its owner can read it.
 *
 * @param what starts the error text, such as `The first API key`
 */
export async function writePrivateFile(path: string, line: string, what: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${line}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncDirectory(dirname(path));
  } catch (cause) {
    await rm(draft, { force: true });
    throw new Error(`${what} cannot be written to ${path}: make its directory writable`, { cause });
  }
}
