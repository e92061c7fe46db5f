import { dirname, resolve } from 'node:path';
import type { Factory } from '../component/factory.js';
import { readPlugins } from '../config/check.js';
import { ConfigError, type Problem } from '../config/config-error.js';
import { locate, type MapNode } from '../config/config-node.js';
import { isolateFactory } from './isolation/isolate-factory.js';
import { pluginFile } from './plugin-file.js';
import { loadPlugin } from './plugin-loader.js';
import { Registry } from './registry.js';
import { templateFactory } from './template-factory.js';
import { readTemplate } from './template-file.js';

/**
 * Loads the built-in factories and those of the plugins of a configuration.
 *
 * @param adapt wraps the factories of a code plugin
 * @returns the factories, and the plugins that could not be loaded
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

/** @throws ConfigError, Error if the plugin or template cannot be used */
async function loadFactories(
  specifier: string,
  file: string,
  registry: Registry,
  adapt: (factories: readonly Factory[]) => readonly Factory[],
): Promise<readonly Factory[]> {
  const found = pluginFile(specifier, file);
  if (!/\.ya?ml$/.test(found)) {
    const { name, factories } = await loadPlugin(found, file);
    return adapt(factories.map((factory) => isolateFactory(factory, name)));
  }
  return [templateFactory(readTemplate(resolve(dirname(resolve(file)), found), registry))];
}
