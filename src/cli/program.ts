import { Command, CommanderError } from 'commander';
import type { Factory } from '../component/factory.js';
import { ConfigError } from '../config/config-error.js';
import { problemLines } from './config-files.js';
import { alertsCommand } from './alerts.js';
import { backupCommand, restoreCommand } from './backup.js';
import { componentsCommand } from './components.js';
import { configCommand } from './config.js';
import { deadLettersCommand } from './dead-letters.js';
import { deployCommand } from './deploy.js';
import { demoCommand } from './demo.js';
import { evaluateCommand } from './evaluate.js';
import { explainCommand } from './explain.js';
import { EXIT, EXIT_CODE_HELP } from './exit-codes.js';
import { exportCommand } from './export.js';
import { graphCommand } from './graph.js';
import { healthCommand } from './health.js';
import { importCommand } from './import.js';
import { keysCommand } from './keys.js';
import { loginCommand } from './login.js';
import { mapCommand } from './map.js';
import { mcpCommand } from './mcp.js';
import { orgsCommand } from './orgs.js';
import { pluginCommand } from './plugin.js';
import type { ProcessIo } from './io.js';
import { runsCommand, searchCommand } from './read-runs.js';
import { logsCommand, metricsCommand, promptsCommand } from './read-telemetry.js';
import { runCommand } from './run.js';
import { schemaCommand } from './schema.js';
import { storeCommand } from './store.js';
import { testCommand } from './test.js';
import { tapCommand } from './tap.js';
import { topCommand } from './top.js';
import { usageCommand } from './usage.js';
import { UsageError } from './usage-error.js';
import { usersCommand } from './users.js';
import { validateCommand } from './validate.js';
import { versionCommand, versionText } from './version.js';

/**
 * Runs one command line.
 *
 * @param args without the program's own name
 * @returns the exit code; never rejects
 */
export async function runProgram(
  args: readonly string[],
  io: ProcessIo,
  builtin: readonly Factory[],
): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = new Command('jackdaw')
    .description('The observability daemon for AI agents.')
    .version(versionText(), '-V, --version', 'print the version, as the command version does')
    .addHelpText('after', EXIT_CODE_HELP);
  const commands = [
    runCommand(io, builtin, (code) => (exitCode = code)),
    validateCommand(io, builtin),
    componentsCommand(io, builtin),
    configCommand(io, builtin),
    schemaCommand(io, builtin),
    graphCommand(io, builtin),
    healthCommand(io, (code) => (exitCode = code)),
    testCommand(io, builtin, (code) => (exitCode = code)),
    explainCommand(io, builtin),
    topCommand(io),
    tapCommand(io),
    runsCommand(io),
    searchCommand(io),
    logsCommand(io),
    metricsCommand(io),
    promptsCommand(io),
    mcpCommand(io),
    loginCommand(io),
    keysCommand(io, builtin),
    usersCommand(io),
    usageCommand(io),
    orgsCommand(io),
    alertsCommand(io),
    mapCommand(io, (code) => (exitCode = code)),
    evaluateCommand(io, (code) => (exitCode = code)),
    exportCommand(io, builtin),
    importCommand(io, builtin),
    backupCommand(io, builtin),
    restoreCommand(io),
    storeCommand(io, builtin, (code) => (exitCode = code)),
    deadLettersCommand(io),
    pluginCommand(io),
    deployCommand(io),
    demoCommand(io),
    versionCommand(io),
  ];
  for (const command of commands) program.addCommand(command);
  prepareCommand(program, io);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    return explain(error, io);
  }
}

/** Applies settings that commander does not pass down to commands created elsewhere. */
function prepareCommand(command: Command, io: ProcessIo): void {
  const withoutEnd = (text: string) => text.replace(/\n$/, '');
  command
    .exitOverride()
    .showHelpAfterError('(add --help for usage)')
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => {
        io.out(withoutEnd(text));
      },
      writeErr: (text) => {
        io.err(withoutEnd(text));
      },
    });
  for (const child of command.commands) prepareCommand(child, io);
}

function explain(error: unknown, io: ProcessIo): number {
  // Commander has printed its message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof ConfigError) {
    for (const line of problemLines(error)) io.err(line);
    return EXIT.configuration;
  }
  io.err(`jackdaw: ${error instanceof Error ? error.message : String(error)}`);
  return error instanceof UsageError ? EXIT.usage : EXIT.failure;
}
