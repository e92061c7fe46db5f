import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The root folder of the installed package or the clone: the folder of the nearest `package.json` above this file. Non-code files
 * that ship with the package are located from here.
 *
 * @throws Error if there is no `package.json`: the files were moved out of their package
 */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder)
      throw new Error('There is no package.json above the program: install it as a whole');
  }
}
