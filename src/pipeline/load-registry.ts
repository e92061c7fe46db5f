import type { Factory } from '../component/factory.js';
import { readPlugins } from '../config/check.js';
import type { Problem } from '../config/config-error.js';
import { locate, type MapNode } from '../config/config-node.js';
import { loadPlugin } from './plugin-loader.js';
import { Registry } from './registry.js';

/** The built-in factories and those of the plugins that a configuration names. @returns what could not be loaded, too */
export async function loadRegistry(
  root: MapNode,
  builtin: readonly Factory[],
): Promise<{ readonly registry: Registry; readonly problems: readonly Problem[] }> {
  let registry = new Registry(builtin);
  const problems: Problem[] = [];
  for (const { specifier, path, file } of readPlugins(root)) {
    try {
      const plugin = await loadPlugin(specifier, file);
      registry = new Registry([...registry.all(), ...plugin.factories]);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      problems.push({ severity: 'error', position: locate(root, path), path, message });
    }
  }
  return { registry, problems };
}
