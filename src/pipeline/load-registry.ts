import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Factory, PluginModule } from '../component/factory.js';
import { readPlugins } from '../config/check.js';
import { ConfigError, type Problem } from '../config/config-error.js';
import { locate, type MapNode } from '../config/config-node.js';
import { fileStamp, folderStamp } from './file-stamps.js';
import { isolateFactory } from './isolation/isolate-factory.js';
import { isPath, pluginFile } from './plugin-file.js';
import { loadPlugin } from './plugin-loader.js';
import { Registry } from './registry.js';
import { templateFactory } from './template-factory.js';
import { readTemplate } from './template-file.js';

/** Plugins that are loaded, by path: a reload loads those again whose files have changed. */
export class LoadedPlugins {
  readonly #loaded = new Map<
    string,
    { readonly key: readonly unknown[]; readonly factories: readonly Factory[] }
  >();
  /** Paths whose loading was tried: Node keeps modules under their URLs, and some failures, too. */
  readonly #tried = new Set<string>();
  #stamps: (() => string)[] = [];

  /** Of the files and folders of plugins in the last configuration. */
  stamps(): readonly string[] {
    return this.#stamps.map((stamp) => stamp());
  }

  begin(): void {
    this.#stamps = [];
  }

  /** @param key factories are loaded again if one of its parts is another */
  async get(
    path: string,
    key: readonly unknown[],
    load: (isAgain: boolean) => Promise<readonly Factory[]>,
  ): Promise<readonly Factory[]> {
    const known = this.#loaded.get(path);
    if (known?.key.length === key.length && known.key.every((part, index) => part === key[index]))
      return known.factories;
    const isAgain = this.#tried.has(path);
    this.#tried.add(path);
    const factories = await load(isAgain);
    this.#loaded.set(path, { key, factories });
    return factories;
  }

  /** @param stamp of a file or folder that a plugin is loaded from */
  watch(stamp: () => string): void {
    this.#stamps.push(stamp);
  }
}

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
  loaded = new LoadedPlugins(),
): Promise<{ readonly registry: Registry; readonly problems: readonly Problem[] }> {
  let registry = new Registry(builtin);
  const problems: Problem[] = [];
  loaded.begin();
  for (const { specifier, path, file } of readPlugins(root)) {
    try {
      const factories = await loadFactories(specifier, file, registry, { adapt, loaded });
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

/**
 * The factories of a code plugin.
 *
 * @throws Error that names the plugin, the problem and the remedy
 */
export async function loadModule(module: PluginModule): Promise<readonly Factory[]> {
  const { specifier, file, stamp } = module;
  const { name, factories } = await loadPlugin(specifier, file, { stamp });
  return factories.map((factory) => isolateFactory(factory, name, module));
}

/** @throws ConfigError, Error if the plugin or template cannot be used */
async function loadFactories(
  specifier: string,
  file: string,
  registry: Registry,
  {
    adapt,
    loaded,
  }: {
    readonly adapt: (factories: readonly Factory[]) => readonly Factory[];
    readonly loaded: LoadedPlugins;
  },
): Promise<readonly Factory[]> {
  const found = pluginFile(specifier, file);
  const path = resolve(dirname(resolve(file)), found);
  if (/\.ya?ml$/.test(found)) {
    loaded.watch(() => fileStamp(path));
    const template = readTemplate(path, registry);
    const used = [...template.parts, ...[...template.pipelines.values()].flat()].map(
      ({ factory }) => factory,
    );
    return loaded.get(path, [readFileSync(path, 'utf8'), ...used], async () => [templateFactory(template)]);
  }
  const stamp = isPath(found) ? folderStamp(dirname(path)) : '';
  if (isPath(found)) loaded.watch(() => folderStamp(dirname(path)));
  return loaded.get(isPath(found) ? path : found, [stamp], async (isAgain) => {
    const module = { specifier: found, file: resolve(file), stamp: isAgain ? stamp : '' };
    return adapt(await loadModule(module));
  });
}
