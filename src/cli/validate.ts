import { Command } from 'commander';
import type { Factory } from '../component/factory.js';
import { formatProblem } from '../config/config-error.js';
import { buildPipelines } from '../pipeline/build.js';
import { prepare } from '../pipeline/prepare.js';
import { createLogger } from '../telemetry/logger.js';
import { PrometheusMeter } from '../telemetry/meter.js';
import { systemClock } from '../telemetry/system-clock.js';
import { configPlaces, configSources, withConfigOption, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';

export function validateCommand(io: CliIo, builtin: readonly Factory[]): Command {
  const command = new Command('validate').description(
    'Check the configuration as run would: keys, values, references, plugins, ports, files and locks, without starting anything. Ports and locks may be held by a running daemon.',
  );
  command.option('--no-probe', 'skip ports, files and locks');
  return withConfigOption(command).action(async (options: ConfigOptions & { readonly probe: boolean }) => {
    const { sources, environment } = configSources(options, io);
    const prepared = await prepare(
      sources,
      environment,
      builtin,
      options.probe ? { probe: configPlaces(options) } : {},
    );
    // Creating components has no side effects, and some detect mismatches only then.
    const logger = createLogger({
      level: 'error',
      format: 'json',
      output: { write: () => undefined, isTerminal: false },
    });
    buildPipelines(prepared.plan, { logger, meter: new PrometheusMeter(), clock: systemClock });
    for (const warning of prepared.warnings) io.err(formatProblem(warning));
    const names = sources.map(({ file }) => file).join(', ');
    io.out(`${names}: valid`);
  });
}
