import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project, wherever it was built to. */
export function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** The text of a file of the project. @param path relative to its folder */
export function readProjectFile(path: string): string {
  return readFileSync(join(projectFolder(), path), 'utf8');
}
