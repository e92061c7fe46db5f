import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { formatProblem, type ConfigError, type Problem } from '../config/config-error.js';
import type { Environment } from '../config/environment.js';
import { hasPipelines, readSources, type ConfigSource } from '../config/load.js';
import { decodeUtf8 } from '../config/utf8.js';
import { packageRoot } from '../config/package-root.js';
import { TO_BE_WRITTEN } from '../pipeline/plan.js';
import { IS_MISSING } from '../config/schema-check.js';
import { DEFAULT_CONFIG } from './default-config.js';
import type { CliIo } from './io.js';

/** Guards against a mistyped path, such as that of a database. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

const CONFIG_DESCRIPTION =
  'configuration file; repeatable: later files are merged over earlier ones (maps merge, lists replace) and over the built-in configuration, unless one has service.pipelines';

export interface ConfigOptions {
  readonly config?: readonly string[];
}

/**
 * Adds `--config`.
 *
 * @param description for commands that use the files for another purpose than running or checking them
 */
export function withConfigOption(command: Command, description = CONFIG_DESCRIPTION): Command {
  return command.option(
    '-c, --config <file>',
    description,
    (file: string, files: readonly string[] | undefined) => [...(files ?? []), file],
  );
}

/**
 * Merges the named files over the built-in configuration, unless one has pipelines and is therefore complete.
 *
 * @returns the texts to configure from, and the source of substitutions.
 * @throws ConfigError
 */
export function configSources(
  options: ConfigOptions,
  io: Pick<CliIo, 'env'>,
): { readonly sources: readonly ConfigSource[]; readonly environment: Environment } {
  const environment: Environment = { variables: io.env, readFile: readText };
  const files = options.config ?? [];
  const given = readSources(files, environment);
  return { sources: given.some(hasPipelines) ? given : [DEFAULT_CONFIG, ...given], environment };
}

/** Absolute paths of the named files. */
export function configPaths({ config = [] }: ConfigOptions): readonly string[] {
  return config.map((file) => resolve(file));
}

/**
 * Whether the pipeline is incomplete: it only names its processors, or names components that exist only in the built-in
 * configuration.
 */
function isOfHalfAPipeline({ path: [section, pipelines, , key], message }: Problem): boolean {
  if (section !== 'service' || pipelines !== 'pipelines') return false;
  const isList = key === 'receivers' || key === 'exporters';
  return (isList && message === IS_MISSING) || message.endsWith(TO_BE_WRITTEN);
}

/** The lines printed for a configuration with errors. */
export function problemLines({ problems }: ConfigError): readonly string[] {
  const count = problems.length;
  return [
    ...problems.map(formatProblem),
    `jackdaw: the configuration has ${count} ${count === 1 ? 'error' : 'errors'}`,
    ...(problems.some(isOfHalfAPipeline) ? [`jackdaw: ${howToLayOver()}`] : []),
  ];
}

/** Advice for users who want to change the built-in configuration rather than write their own. */
function howToLayOver(): string {
  const example = join(packageRoot(), 'config.example.yaml');
  return `a file with service.pipelines is a complete configuration; to change only pipelines of the built-in one, merge the file over its text: --config ${example} --config FILE`;
}

function readText(path: string): string {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new Error('it is a directory');
  if (stats.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
  return decodeUtf8(readFileSync(path));
}
