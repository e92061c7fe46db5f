import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Factory } from '../../component/factory.js';
import { checkComponents } from '../../config/check.js';
import type { ConfiguredComponent, FactoryOf } from '../../config/config.js';
import { ConfigError, type Problem } from '../../config/config-error.js';
import { nodeAt, type ConfigNode, type MapNode } from '../../config/config-node.js';
import { substitute, type Environment } from '../../config/environment.js';
import { areComplete, loadTree, readSources, type ConfigSource } from '../../config/load.js';
import { mergeNodes } from '../../config/merge.js';
import { plainValue } from '../../config/plain-value.js';
import { loadRegistry } from '../../pipeline/load-registry.js';
import { DEFAULT_CONFIG } from '../default-config.js';
import type { Recorder } from './chain.js';
import type { TestFile } from './test-schema.js';

/** The components available to the tests of a file. */
export interface Bench {
  readonly processors: ReadonlyMap<string, ConfiguredComponent<FactoryOf<'processor'>>>;
  readonly exporters: ReadonlyMap<string, ConfiguredComponent<FactoryOf<'exporter'>>>;
  /** Ids of the processors of a pipeline; undefined if no pipeline has that name. */
  pipeline(name: string): readonly string[] | undefined;
  readonly pipelines: readonly string[];
  /** Values that are masked, such as headers. */
  readonly secrets: readonly string[];
}

/** Sections of a configuration that a test file may contain. */
const SECTIONS: readonly string[] = [
  ...['plugins', 'receivers', 'processors', 'exporters', 'extensions', 'service', 'smtp', 'auth'],
];

/** The configuration of a test file with its problems so far. */
export type TestedTree = ReturnType<typeof loadTree>;

/**
 * Merges the sections of a test file over the configuration that it names.
 *
 * @param root of the file
 * @param addresses variables in addition to those of the file
 * @throws ConfigError
 */
export function testedTree(
  root: MapNode,
  { config, env }: TestFile,
  addresses: Readonly<Record<string, string>>,
): TestedTree {
  const { file } = root.position;
  const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
  const environment: Environment = {
    variables: { ...own, ...addresses },
    readFile: () => {
      throw new Error('tests cannot read files into values; set a variable under env instead');
    },
  };
  const given = [config ?? []].flat().map((name) => readConfig(name, file));
  const isWhole = areComplete(given) || nodeAt(root, ['service', 'pipelines']) !== undefined;
  const base = loadTree(isWhole ? given : [DEFAULT_CONFIG, ...given], environment);
  const sections: ConfigNode = {
    ...root,
    entries: new Map([...root.entries].filter(([key]) => SECTIONS.includes(key))),
  };
  const substituted = substitute(sections, environment);
  const merged = mergeNodes(base.root, substituted.node as MapNode);
  return {
    root: merged.root,
    problems: [...base.problems, ...substituted.problems, ...merged.problems],
  };
}

/**
 * Validates the components of a configuration that chains can use.
 *
 * @throws ConfigError
 */
export async function openBench(
  tree: TestedTree,
  builtin: readonly Factory[],
  recorder: Recorder,
): Promise<Bench> {
  const problems: Problem[] = [...tree.problems];
  const instead = (factories: readonly Factory[]) => recorder.instead(factories);
  const loaded = await loadRegistry(tree.root, instead(builtin), instead);
  const processors = checkComponents('processor', tree.root, loaded.registry);
  const exporters = checkComponents('exporter', tree.root, loaded.registry);
  problems.push(...loaded.problems, ...processors.problems, ...exporters.problems);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new ConfigError(errors);
  const pipelines = nodeAt(tree.root, ['service', 'pipelines']);
  return {
    processors: processors.components,
    exporters: exporters.components,
    secrets: [...processors.secrets, ...exporters.secrets],
    pipelines: pipelines?.kind === 'map' ? [...pipelines.entries.keys()] : [],
    pipeline: (name) => {
      const node = nodeAt(tree.root, ['service', 'pipelines', name]);
      if (node === undefined) return undefined;
      const { processors: ids = [] } = plainValue(node, undefined) as {
        readonly processors?: readonly string[];
      };
      return ids;
    },
  };
}

/**
 * Reads a file relative to a test file, or a YAML block of a Markdown page (`README.md#2`) with its line numbers.
 *
 * @throws ConfigError
 */
export function readConfig(written: string, from: string): ConfigSource {
  const [, name = written, number = '1'] = /^(.*?\.md)(?:#(\d+))?$/.exec(written) ?? [];
  const path = relative('', resolve(dirname(from), name));
  const [source] = readSources([path], { variables: {}, readFile: (file) => readFileSync(file, 'utf8') });
  const text = source?.text ?? '';
  if (!name.endsWith('.md')) return { file: path, text };
  const block = [...text.matchAll(/^```ya?ml\n(.*?)^```/gms)][Number(number) - 1];
  if (block === undefined)
    throw new ConfigError([
      { severity: 'error', path: [], message: `${path} has no YAML block number ${number}` },
    ]);
  const lines = text.slice(0, block.index).split('\n').length;
  return { file: path, text: `${'\n'.repeat(lines)}${block[1] ?? ''}` };
}
