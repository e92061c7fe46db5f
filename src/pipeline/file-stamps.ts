import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Plugins are small; a folder with more entries has other things next to the plugin. */
const MOST_ENTRIES = 1000;

/** What changes when a file is written, replaced or removed. */
export function fileStamp(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? 'missing' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  } catch {
    // Such as one without access; reading it reports why.
    return 'unreadable';
  }
}

/**
 * A hash over the stamps of the modules in a folder, without packages and hidden folders: a plugin is loaded again if it has changed.
 * In a large folder, the files next to the plugin come before those in subfolders.
 */
export function folderStamp(folder: string): string {
  const hash = createHash('sha256');
  let left = MOST_ENTRIES;
  const folders = [folder];
  for (const path of folders) {
    for (const entry of entriesOf(path)) {
      if ((left -= 1) < 0) break;
      const inner = join(path, entry.name);
      if (entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name)) folders.push(inner);
      if (/\.(?:js|mjs|cjs|json)$/.test(entry.name)) hash.update(`${inner} ${fileStamp(inner)}\n`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    // The plugin's loader reports a folder that cannot be read.
    return [];
  }
}
