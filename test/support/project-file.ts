import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project folder, independent of the build folder. */
export function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** The text of a project file. @param path relative to the project folder */
export function readProjectFile(path: string): string {
  return readFileSync(join(projectFolder(), path), 'utf8');
}
