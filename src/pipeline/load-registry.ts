import { dirname, resolve } from 'node:path';
import type { Factory } from '../component/factory.js';
import { readPlugins } from '../config/check.js';
import { ConfigError, type Problem } from '../config/config-error.js';
import { locate, type MapNode } from '../config/config-node.js';
import { isolateFactory } from './isolation/isolate-factory.js';
import { loadPlugin } from './plugin-loader.js';
import { Registry } from './registry.js';
import { templateFactory } from './template-factory.js';
import { readTemplate } from './template-file.js';

/** The built-in factories and those of the plugins that a configuration names. @returns also what could not be loaded */
export async function loadRegistry(
  root: MapNode,
  builtin: readonly Factory[],
): Promise<{ readonly registry: Registry; readonly problems: readonly Problem[] }> {
  let registry = new Registry(builtin);
  const problems: Problem[] = [];
  for (const { specifier, path, file } of readPlugins(root)) {
    try {
      const factories = await loadFactories(specifier, file, registry);
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
): Promise<readonly Factory[]> {
  if (!/\.ya?ml$/.test(specifier)) {
    const { name, factories } = await loadPlugin(specifier, file);
    return factories.map((factory) => isolateFactory(factory, name));
  }
  return [templateFactory(readTemplate(resolve(dirname(resolve(file)), specifier), registry))];
}
