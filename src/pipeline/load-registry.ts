import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Factory } from '../component/factory.js';
import { readPlugins } from '../config/check.js';
import { ConfigError, type Problem } from '../config/config-error.js';
import { locate, type MapNode } from '../config/config-node.js';
import { suggestion } from '../config/nearest-name.js';
import { packageRoot } from '../config/package-root.js';
import { isolateFactory } from './isolation/isolate-factory.js';
import { loadPlugin } from './plugin-loader.js';
import { Registry } from './registry.js';
import { templateFactory } from './template-factory.js';
import { readTemplate } from './template-file.js';

/** The file of a template in its folder below `plugins`. */
const TEMPLATE = 'template.yaml';
/** The file of a code plugin in its folder below `dist/plugins`. */
const MODULE = 'plugin.js';

/**
 * The built-in factories and those of the plugins that a configuration names.
 *
 * @param adapt makes of the factories of a code plugin those that are used
 * @returns also what could not be loaded
 */
export async function loadRegistry(
  root: MapNode,
  builtin: readonly Factory[],
  adapt: (factories: readonly Factory[]) => readonly Factory[] = (factories) => factories,
): Promise<{ readonly registry: Registry; readonly problems: readonly Problem[] }> {
  let registry = new Registry(builtin);
  const problems: Problem[] = [];
  for (const { specifier, path, file } of readPlugins(root)) {
    try {
      const factories = await loadFactories(specifier, file, registry, adapt);
      registry = new Registry([...registry.all(), ...factories]);
    } catch (error) {
      if (error instanceof ConfigError) {
        problems.push(...error.problems);
        continue;
      }
      const message = error instanceof Error ? error.message : String(error);
      problems.push({ severity: 'error', position: locate(root, path), path, message });
    }
  }
  return { registry, problems };
}

/** @throws ConfigError, Error where the plugin or template cannot be used */
async function loadFactories(
  specifier: string,
  file: string,
  registry: Registry,
  adapt: (factories: readonly Factory[]) => readonly Factory[],
): Promise<readonly Factory[]> {
  const found = shippedPlugin(specifier) ?? specifier;
  if (!/\.ya?ml$/.test(found)) {
    const { name, factories } = await loadPlugin(found, file);
    return adapt(factories.map((factory) => isolateFactory(factory, name)));
  }
  return [templateFactory(readTemplate(resolve(dirname(resolve(file)), found), registry))];
}

/**
 * The file of a plugin that comes with Jackdaw, `jackdaw/plugins/NAME`, wherever the package lies: a template, or a module.
 *
 * @returns undefined for other specifiers
 * @throws Error where there is none of that name
 */
function shippedPlugin(specifier: string): string | undefined {
  const name = /^jackdaw\/plugins\/([^/]*)$/.exec(specifier)?.[1];
  if (name === undefined) return undefined;
  const files = new Map<string, string>();
  for (const [folder, file] of [
    [join(packageRoot(), 'plugins'), TEMPLATE],
    [join(packageRoot(), 'dist', 'plugins'), MODULE],
  ] as const)
    for (const one of existsSync(folder) ? readdirSync(folder) : [])
      if (existsSync(join(folder, one, file))) files.set(one, join(folder, one, file));
  const found = files.get(name);
  if (found === undefined)
    throw new Error(`there is no plugin "${name}" with Jackdaw${suggestion(name, [...files.keys()].sort())}`);
  return found;
}
