import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { suggestion } from '../config/nearest-name.js';
import { packageRoot } from '../config/package-root.js';

/** File name of a template in its folder. */
const TEMPLATE = 'template.yaml';
/** File name of a code plugin in its folder; for plugins shipped with Jackdaw, below `dist/plugins`. */
const MODULE = 'plugin.js';

/** Whether a specifier is a path: absolute, or starting with `./` or `../`. */
export function isPath(specifier: string): boolean {
  return isAbsolute(specifier) || /^\.\.?\//.test(specifier);
}

/**
 * The file to load for a plugin: that of a plugin shipped with Jackdaw, the template or module in a folder, otherwise the named
 * file.
 *
 * @param file the configuration file that names the plugin
 * @throws Error if there is no plugin of that name, or the folder has no template or module
 */
export function pluginFile(specifier: string, file: string): string {
  const shipped = /^jackdaw\/plugins\/([^/]*)$/.exec(specifier)?.[1];
  if (shipped !== undefined) return shippedPlugin(shipped);
  const folder = isPath(specifier) ? resolve(dirname(resolve(file)), specifier) : undefined;
  if (folder === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return specifier;
  const found = [TEMPLATE, MODULE].map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(
      `plugin "${specifier}" is a directory with neither ${TEMPLATE} nor ${MODULE}: set the path of the plugin’s file`,
    );
  return found;
}

/**
 * The file of a plugin shipped with Jackdaw.
 *
 * @throws Error if no such name exists
 */
function shippedPlugin(name: string): string {
  const files = new Map<string, string>();
  for (const [folder, file] of [
    [join(packageRoot(), 'plugins'), TEMPLATE],
    [join(packageRoot(), 'dist', 'plugins'), MODULE],
  ] as const)
    for (const one of existsSync(folder) ? readdirSync(folder) : [])
      if (existsSync(join(folder, one, file))) files.set(one, join(folder, one, file));
  const found = files.get(name);
  if (found === undefined)
    throw new Error(`Jackdaw has no plugin "${name}"${suggestion(name, [...files.keys()].sort())}`);
  return found;
}
