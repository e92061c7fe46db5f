import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../usage-error.js';

const TEST_FILE = /\.test\.ya?ml$/;

/**
 * Finds test files: the named files, and all `*.test.yaml` in and below the named folders, except in `node_modules` and folders
 * whose names start with a dot.
 *
 * @throws UsageError if a path does not exist, or a folder has no tests
 */
export function findTestFiles(paths: readonly string[]): readonly string[] {
  const files = paths.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) throw new UsageError(`there is no file or folder ${path}`);
    if (!stats.isDirectory()) return [path];
    const found = below(path);
    if (found.length === 0) throw new UsageError(`there is no *.test.yaml in ${path}`);
    return found;
  });
  return [...new Set(files)];
}

function below(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory())
        return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : below(path);
      return TEST_FILE.test(entry.name) ? [path] : [];
    });
}
