import { Command } from 'commander';
import type { Factory } from '../component/factory.js';
import { ConfigError } from '../config/config-error.js';
import { loadTree } from '../config/load.js';
import { editorSchema } from '../config/editor-schema.js';
import { loadRegistry } from '../pipeline/load-registry.js';
import { configSources, withConfigOption, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';
import { showJson } from './table.js';

export function schemaCommand(io: CliIo, builtin: readonly Factory[]): Command {
  const command = new Command('schema').description(
    'Print the JSON Schema (draft-07) of the configuration file for editors; with --config, including plugins.',
  );
  return withConfigOption(command).action(async (options: ConfigOptions) => {
    const { sources, environment } = configSources(options, io);
    const { registry, problems } = await loadRegistry(loadTree(sources, environment).root, builtin);
    if (problems.length > 0) throw new ConfigError(problems);
    showJson(io, editorSchema(registry.all()));
  });
}
