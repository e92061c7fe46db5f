import type { Factory } from '../component/factory.js';
import { checkConfig, readPlugins } from '../config/check.js';
import type { Config } from '../config/config.js';
import { ConfigError, type Problem } from '../config/config-error.js';
import type { MapNode } from '../config/config-node.js';
import type { Environment } from '../config/environment.js';
import { locate } from '../config/config-node.js';
import { loadTree, type ConfigSource } from '../config/load.js';
import { loadPlugin } from './plugin-loader.js';
import { planPipelines, type Plan } from './plan.js';
import { Registry } from './registry.js';
import { checkClaims, claimsOf, type Claim } from './resources.js';

/** A configuration that is free of errors, and all that follows from it. */
export interface Prepared {
  readonly config: Config;
  readonly plan: Plan;
  readonly registry: Registry;
  readonly claims: readonly Claim[];
  readonly warnings: readonly Problem[];
}

/**
 * Goes from text to a plan: reads, merges, substitutes, loads plugins, checks every section, fits the parts together.
 *
 * @throws ConfigError with everything that is wrong, as far as it can be found
 */
export async function prepare(
  sources: readonly ConfigSource[],
  environment: Environment,
  builtin: readonly Factory[],
): Promise<Prepared> {
  const { root, problems: found } = loadTree(sources, environment);
  const problems = [...found];
  const { registry, problems: pluginProblems } = await loadRegistry(root, builtin);
  problems.push(...pluginProblems);
  const checked = checkConfig(root, registry);
  problems.push(...checked.problems);
  const { config } = checked;
  const planned = config && planPipelines(config);
  const claims = config && planned ? claimsOf(config, planned.plan) : [];
  if (config && planned) problems.push(...planned.problems, ...checkClaims(config, claims));

  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0 || !config || !planned) throw new ConfigError(inOrder(errors));
  return { config, plan: planned.plan, registry, claims, warnings: inOrder(problems) };
}

async function loadRegistry(
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

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const key = ({ position }: Problem) =>
    [position?.file ?? '', position?.line ?? 0, position?.column ?? 0] as const;
  return [...problems].sort((a, b) => {
    const [fileA, lineA, columnA] = key(a);
    const [fileB, lineB, columnB] = key(b);
    return fileA === fileB ? lineA - lineB || columnA - columnB : fileA < fileB ? -1 : 1;
  });
}
