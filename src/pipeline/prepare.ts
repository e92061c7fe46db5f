import { isDeepStrictEqual } from 'node:util';
import type { Factory } from '../component/factory.js';
import { checkConfig } from '../config/check.js';
import type { Config } from '../config/config.js';
import { ConfigError, type Problem } from '../config/config-error.js';
import type { Environment } from '../config/environment.js';
import { loadTree, type ConfigSource } from '../config/load.js';
import { checkOwnIntake } from './own-telemetry.js';
import { planPipelines, type Plan } from './plan.js';
import { probeClaims } from './probe.js';
import type { Registry } from './registry.js';
import { loadRegistry, type LoadedPlugins } from './load-registry.js';
import { checkClaims, claimsOf, type Claim } from './resources.js';
import { engineProblem, tlsProblem } from '../http/engine-choice.js';
import { isLoopback, parseEndpoint } from '../config/endpoint.js';

const PATH = ['service', 'http', 'engine'];

/**
 * Reports an HTTP engine that is not installed or not available for this platform and Node version, and TLS settings that it does not
 * support.
 */
async function checkEngine(config: Config, claims: readonly Claim[]): Promise<readonly Problem[]> {
  const { engine } = config.service.http;
  const problemAt = (path: readonly string[], message: string | undefined): readonly Problem[] =>
    message === undefined ? [] : [{ severity: 'error', position: config.locate(path), path, message }];
  const served = new Set(
    claims.flatMap(({ resource }) => (resource.kind === 'http_listener' ? [resource.endpoint] : [])),
  );
  return [
    ...problemAt(PATH, await engineProblem(engine)),
    ...claims.flatMap(({ resource, path }) =>
      resource.kind === 'tls_files' && served.has(resource.listener)
        ? problemAt(path, tlsProblem(engine, resource))
        : [],
    ),
  ];
}

/** A valid configuration with its plan, factories and resources. */
export interface Prepared {
  readonly config: Config;
  readonly plan: Plan;
  readonly registry: Registry;
  readonly claims: readonly Claim[];
  readonly warnings: readonly Problem[];
}

export interface PrepareOptions {
  /**
   * Absolute paths of the configuration files and folders. If given, ports, files and locks are tested as well; a running daemon of the same files
   * may hold them.
   */
  readonly probe?: readonly string[];
  /** For a reload: resources that this process uses already, which are not tested. */
  readonly inUse?: readonly Claim[];
  /** Plugins that are loaded. */
  readonly loaded?: LoadedPlugins;
}

/**
 * Prepares a configuration: reads, merges and substitutes its texts, loads plugins, checks every section, and plans the
 * pipelines.
 *
 * @throws ConfigError with all problems that can be found
 */
export async function prepare(
  sources: readonly ConfigSource[],
  environment: Environment,
  builtin: readonly Factory[],
  options: PrepareOptions = {},
): Promise<Prepared> {
  const { warnings, ...prepared } = await prepareTree(loadTree(sources, environment), builtin, options);
  return { ...prepared, warnings: warnings.filter(isOfUser(sources)) };
}

/**
 * Like {@link prepare}, for a configuration that was already read; `problems` are those found so far.
 *
 * @throws ConfigError
 */
export async function prepareTree(
  { root, problems: found }: ReturnType<typeof loadTree>,
  builtin: readonly Factory[],
  options: PrepareOptions = {},
): Promise<Prepared> {
  const problems = [...found];
  const { registry, problems: pluginProblems } = await loadRegistry(root, builtin, undefined, options.loaded);
  problems.push(...pluginProblems);
  const checked = checkConfig(root, registry);
  problems.push(...checked.problems);
  const { config } = checked;
  const planned = config && planPipelines(config, registry);
  const claims = config && planned ? claimsOf(config, planned.plan) : [];
  if (config && planned)
    problems.push(
      ...planned.problems,
      ...checkClaims(config, claims),
      ...checkExposure(config, claims),
      ...checkOwnIntake(config, planned.plan),
    );
  if (config) problems.push(...(await checkEngine(config, claims)));
  const { inUse = [] } = options;
  const toProbe = claims.filter(
    ({ resource }) => !inUse.some((own) => isDeepStrictEqual(own.resource, resource)),
  );
  if (config && options.probe) problems.push(...(await probeClaims(config, toProbe, options.probe)));

  const errors = withoutConsequences(problems, found);
  if (errors.length > 0 || !config || !planned) throw new ConfigError(inOrder(errors));
  return {
    config,
    plan: planned.plan,
    registry,
    claims,
    warnings: inOrder(problems),
  };
}

/** Excludes problems of unused built-in extensions: a user who replaces one cannot remove it from the configuration. */
function isOfUser(sources: readonly ConfigSource[]): (problem: Problem) => boolean {
  const builtIn = new Set(sources.filter(({ isBuiltIn }) => isBuiltIn).map(({ file }) => file));
  return ({ path: [section], position }) =>
    section !== 'extensions' || position === undefined || !builtIn.has(position.file);
}

/** The errors, without further errors of values that could not be read. */
function withoutConsequences(problems: readonly Problem[], causes: readonly Problem[]): readonly Problem[] {
  const key = ({ path }: Problem) => path.join('\n');
  const unreadable = new Set(causes.filter(({ path }) => path.length > 0).map(key));
  return problems.filter(
    (problem) => problem.severity === 'error' && (causes.includes(problem) || !unreadable.has(key(problem))),
  );
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

/** Finds listeners that are reachable from other machines: an error if authentication is off, a warning without TLS. */
function checkExposure(config: Config, claims: readonly Claim[]): readonly Problem[] {
  const problems: Problem[] = [];
  const reported = new Set<string>();
  const encrypted = new Set(
    claims.flatMap(({ resource }) =>
      resource.kind === 'tls_files' ? [resource.listener.toLowerCase()] : [],
    ),
  );
  for (const { resource, path } of claims) {
    if (resource.kind !== 'http_listener' && resource.kind !== 'grpc_listener') continue;
    // Other components on the same endpoint have their own claims, which are checked.
    if (resource.isOperational === true) continue;
    const address = parseEndpoint(resource.endpoint);
    if (address === undefined || isLoopback(address)) continue;
    const report = (severity: Problem['severity'], message: string) =>
      problems.push({ severity, position: config.locate(path), path, message });
    if (!config.auth.enabled)
      report(
        'error',
        'is reachable from other machines while auth.enabled is false; listen on 127.0.0.1, or enable authentication',
      );
    const name = resource.endpoint.toLowerCase();
    if (encrypted.has(name) || reported.has(name)) continue;
    reported.add(name);
    report(
      'warning',
      'is reachable from other machines without TLS, so keys and data can be intercepted; set tls if the component supports it, or listen on 127.0.0.1 behind a proxy',
    );
  }
  return problems;
}
