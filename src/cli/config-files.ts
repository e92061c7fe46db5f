import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { ConfigError, formatProblem, type Problem } from '../config/config-error.js';
import type { Environment } from '../config/environment.js';
import { areComplete, EXTENDS, readSources, type ConfigSource } from '../config/load.js';
import { decodeUtf8 } from '../config/utf8.js';
import { packageRoot } from '../config/package-root.js';
import { TO_BE_WRITTEN } from '../pipeline/plan.js';
import { IS_MISSING } from '../config/schema-check.js';
import { DEFAULT_CONFIG } from './default-config.js';
import type { CliIo } from './io.js';

/** Guards against a mistyped path, such as that of a database. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

const CONFIG_DESCRIPTION =
  'configuration file, folder of *.yaml files or quoted pattern (conf.d/*.yaml); repeatable: later files are merged over earlier ones (maps merge, lists replace) and over the built-in configuration, unless one has service.pipelines without extends: default';
const SET_DESCRIPTION =
  'value over all files, as in service.telemetry.logs.level=debug; repeatable; the value is YAML';

export interface ConfigOptions {
  readonly config?: readonly string[];
  readonly set?: readonly string[];
}

/**
 * Adds `--config` and `--set`.
 *
 * @param description for commands that use the files for another purpose than running or checking them
 */
export function withConfigOption(command: Command, description = CONFIG_DESCRIPTION): Command {
  const added = (value: string, values: readonly string[] | undefined): string[] => [
    ...(values ?? []),
    value,
  ];
  return command
    .option('-c, --config <file>', description, added)
    .option('--set <key=value>', SET_DESCRIPTION, added);
}

/**
 * Merges the named files over the built-in configuration, unless they are complete without it, and the values of `--set` over all.
 *
 * @param onRead called with the path of each file that is read, before that
 * @returns the texts to configure from, and the source of substitutions.
 * @throws ConfigError
 */
export function configSources(
  options: ConfigOptions,
  io: Pick<CliIo, 'env'>,
  onRead: (path: string) => void = () => undefined,
): { readonly sources: readonly ConfigSource[]; readonly environment: Environment } {
  const readFile = (path: string): string => {
    onRead(path);
    return readText(path);
  };
  const environment: Environment = { variables: io.env, readFile };
  const given = readSources(configFiles(options), environment);
  const set = (options.set ?? []).map(setSource);
  return { sources: [...(areComplete(given) ? [] : [DEFAULT_CONFIG]), ...given, ...set], environment };
}

/** Absolute paths of what `--config` names: a folder stays one when files are added to it. */
export function configPlaces({ config = [] }: ConfigOptions): readonly string[] {
  return config.map((given) => resolve(given));
}

/** Absolute paths of the configuration files. @throws ConfigError */
export function configPaths(options: ConfigOptions): readonly string[] {
  return configFiles(options).map((file) => resolve(file));
}

/**
 * The files that `--config` names: a folder stands for its YAML files, a pattern for the files whose name it matches, both in the order
 * of their names.
 *
 * @throws ConfigError for a folder or pattern without files
 */
function configFiles({ config = [] }: ConfigOptions): readonly string[] {
  return config.flatMap((given) => {
    const isFolder = isDirectory(given);
    const isPattern = !isFolder && /[*?]/.test(basename(given));
    if (!isFolder && !isPattern) return [given];
    const folder = isFolder ? given : dirname(given);
    const wanted = isFolder ? /^[^.].*\.ya?ml$/ : patternOf(basename(given));
    const names = namesIn(folder).filter((name) => wanted.test(name));
    if (names.length === 0) {
      const what = isFolder ? 'has no file *.yaml or *.yml' : 'matches no file';
      throw problemOf(`--config ${given} ${what}`);
    }
    return names.sort().map((name) => join(folder, name));
  });
}

/** False for a path that cannot be looked at: reading it as a file reports why. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** @throws ConfigError for a folder that cannot be read */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      // Kubernetes mounts files as links.
      entry.isFile() || entry.isSymbolicLink() ? [entry.name] : [],
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw problemOf(`--config ${folder} cannot be read: ${reason}`);
  }
}

/** A pattern of a file name, in which `*` stands for any text and `?` for a character. Hidden files must be named. */
function patternOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/[^*?]+|[*?]/g, (part) =>
    part === '*' ? '.*' : part === '?' ? '.' : part.replaceAll(/[$()+.[\]^{|}\\]/g, '\\$&'),
  );
  return new RegExp(`^${pattern.startsWith('.') ? '' : '(?!\\.)'}${source}$`, 's');
}

/**
 * The configuration of `--set`. Dots separate keys; a key with dots is written in double quotes.
 *
 * @throws ConfigError
 */
function setSource(written: string): ConfigSource {
  const file = `--set ${written.split('=', 1).join('')}`;
  const [, path, text] = /^((?:"[^"]+"|[^".=]+)(?:\.(?:"[^"]+"|[^".=]+))*)=(.*)$/s.exec(written) ?? [];
  if (path === undefined || text === undefined) {
    throw problemOf(`${file}: must be key=value, as in service.telemetry.logs.level=debug`);
  }
  const keys = path.match(/"[^"]+"|[^".]+/g) ?? [];
  if (keys[0] === EXTENDS) {
    throw problemOf(`${file}: belongs into a file, because it decides how files are merged`);
  }
  const value = JSON.stringify(valueOf(text, file), (_, part: unknown) => {
    // JSON would write null.
    if (typeof part === 'number' && !Number.isFinite(part))
      throw problemOf(`${file}: ${text} is no finite number`);
    return part;
  });
  const opened = keys.map((key) => `${JSON.stringify(key.replaceAll('"', ''))}: {`).join('');
  return { file, text: `{${opened.slice(0, -1)}${value}${'}'.repeat(keys.length)}` };
}

function valueOf(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch {
    throw problemOf(
      `${file}: the value is not YAML; put it in double quotes, and the argument in single ones`,
    );
  }
}

function problemOf(message: string): ConfigError {
  return new ConfigError([{ severity: 'error', path: [], message }]);
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
  return `a file with service.pipelines is a complete configuration; to change the built-in one (${example}), write "extends: default" at the top of the file`;
}

function readText(path: string): string {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new Error('it is a directory');
  if (stats.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
  return decodeUtf8(readFileSync(path));
}
