import { Command } from 'commander';
import type { Factory } from '../component/factory.js';
import { formatProblem } from '../config/config-error.js';
import { prepare } from '../pipeline/prepare.js';
import { configSources, withConfigOption, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';

/** `jackdaw config print`. */
export function configCommand(io: CliIo, builtin: readonly Factory[]): Command {
  const print = withConfigOption(
    new Command('print').description(
      'Print the configuration that run would use: files merged, defaults filled in, secrets left out.',
    ),
  ).action(async (options: ConfigOptions) => {
    const { sources, environment } = configSources(options, io);
    const { config, warnings } = await prepare(sources, environment, builtin);
    for (const warning of warnings) io.err(formatProblem(warning));
    io.out(config.print().trimEnd());
  });
  return new Command('config').description('Show the configuration.').addCommand(print);
}
