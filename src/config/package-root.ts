import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the installed package, or of the clone: that of the nearest `package.json` above this file, wherever it was
 * built. Files that are not code and ship with the package are found from here.
 *
 * @throws Error where there is none: the files were taken out of their package
 */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder)
      throw new Error('There is no package.json above the program: install it as a whole');
  }
}
