import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Factory } from '../../component/factory.js';
import { checkComponents } from '../../config/check.js';
import type { ConfiguredComponent, FactoryOf } from '../../config/config.js';
import { ConfigError, type Problem } from '../../config/config-error.js';
import { nodeAt, type ConfigNode, type MapNode } from '../../config/config-node.js';
import { substitute, type Environment } from '../../config/environment.js';
import { hasPipelines, loadTree, readSources, type ConfigSource } from '../../config/load.js';
import { mergeNodes } from '../../config/merge.js';
import { plainValue } from '../../config/plain-value.js';
import { loadRegistry } from '../../pipeline/load-registry.js';
import { DEFAULT_CONFIG } from '../default-config.js';
import type { TestFile } from './test-schema.js';

/** The components that tests of a file can use. */
export interface Bench {
  readonly processors: ReadonlyMap<string, ConfiguredComponent<FactoryOf<'processor'>>>;
  readonly exporters: ReadonlyMap<string, ConfiguredComponent<FactoryOf<'exporter'>>>;
  /** Ids of the processors of a pipeline; undefined where there is none of that name. */
  pipeline(name: string): readonly string[] | undefined;
  readonly pipelines: readonly string[];
  /** Values that are never shown, such as headers. */
  readonly secrets: readonly string[];
}

const SECTIONS: readonly string[] = ['plugins', 'processors', 'exporters'];

/**
 * Lays the sections of a file of tests over the configuration that it names, and checks what comes of it.
 *
 * @param root of the file
 * @throws ConfigError
 */
export async function openBench(
  root: MapNode,
  { config, env }: TestFile,
  builtin: readonly Factory[],
): Promise<Bench> {
  const { file } = root.position;
  const environment: Environment = {
    variables: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    readFile: () => {
      throw new Error('a test reads no files into values; give it as a variable, under env');
    },
  };
  const given = config === undefined ? [] : [readConfig(config, file)];
  const base = loadTree(given.some(hasPipelines) ? given : [DEFAULT_CONFIG, ...given], environment);
  const own: ConfigNode = {
    ...root,
    entries: new Map([...root.entries].filter(([key]) => SECTIONS.includes(key))),
  };
  const substituted = substitute(own, environment);
  const merged = mergeNodes(base.root, substituted.node as MapNode);
  const problems: Problem[] = [...base.problems, ...substituted.problems, ...merged.problems];
  const loaded = await loadRegistry(merged.root, builtin);
  const processors = checkComponents('processor', merged.root, loaded.registry);
  const exporters = checkComponents('exporter', merged.root, loaded.registry);
  problems.push(...loaded.problems, ...processors.problems, ...exporters.problems);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new ConfigError(errors);
  const pipelines = nodeAt(merged.root, ['service', 'pipelines']);
  return {
    processors: processors.components,
    exporters: exporters.components,
    secrets: [...processors.secrets, ...exporters.secrets],
    pipelines: pipelines?.kind === 'map' ? [...pipelines.entries.keys()] : [],
    pipeline: (name) => {
      const node = nodeAt(merged.root, ['service', 'pipelines', name]);
      if (node === undefined) return undefined;
      const { processors: ids = [] } = plainValue(node, undefined) as {
        readonly processors?: readonly string[];
      };
      return ids;
    },
  };
}

/** A configuration, or a block of YAML of a page in Markdown (`README.md#2`), at the lines that it has there. */
function readConfig(written: string, from: string): ConfigSource {
  const [, name = written, number = '1'] = /^(.*?\.md)(?:#(\d+))?$/.exec(written) ?? [];
  const path = relative('', resolve(dirname(from), name));
  const [source] = readSources([path], { variables: {}, readFile: (file) => readFileSync(file, 'utf8') });
  const text = source?.text ?? '';
  if (!name.endsWith('.md')) return { file: path, text };
  const block = [...text.matchAll(/^```ya?ml\n(.*?)^```/gms)][Number(number) - 1];
  if (block === undefined)
    throw new ConfigError([
      { severity: 'error', path: [], message: `${path} has no block of YAML with the number ${number}` },
    ]);
  const lines = text.slice(0, block.index).split('\n').length;
  return { file: path, text: `${'\n'.repeat(lines)}${block[1] ?? ''}` };
}
