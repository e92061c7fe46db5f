import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Plugins are small; a folder with more files is not one of a plugin alone. */
const MOST_FILES = 1000;

/**
 * A hash over times and sizes of the modules in a folder, without packages and hidden folders: a plugin is loaded again if it has
 * changed.
 */
export function stampOf(folder: string): string {
  const hash = createHash('sha256');
  let left = MOST_FILES;
  const visit = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (left <= 0) return;
      const inner = join(path, entry.name);
      if (entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name)) visit(inner);
      if (!/\.(?:js|mjs|cjs|json)$/.test(entry.name)) continue;
      const stats = statSync(inner, { throwIfNoEntry: false });
      left -= 1;
      hash.update(`${inner} ${stats?.mtimeMs} ${stats?.size}\n`);
    }
  };
  try {
    visit(folder);
  } catch {
    // The plugin's loader reports a folder that cannot be read.
  }
  return hash.digest('hex').slice(0, 16);
}
