import { open } from 'node:fs/promises';

/**
 * Makes the names in a directory survive a power loss. Syncing a file persists its content; its creation or renaming is persisted
 * only by syncing its directory (fsync(2)).
 *
 * @param path of the directory
 * @throws the file system error
 */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
