import { open } from 'node:fs/promises';

/**
 * Lets the names of a directory outlive a loss of power. Syncing a file keeps what is in it; that it was made, or got another
 * name, is kept only once its directory is synced, too (fsync(2)).
 *
 * @param path of the directory
 * @throws the error of the file system
 */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
