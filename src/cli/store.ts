import { Command } from 'commander';
import type { Factory } from '../component/factory.js';
import { furtherModule } from '../config/built-module.js';
import { prepare } from '../pipeline/prepare.js';
import { formatTime } from '../signal/time.js';
import type { checkStore, CheckedFile, DamagedTable } from '../storage/duckdb/files/store-check.js';
import { configSources, withConfigOption, type ConfigOptions } from './config-files.js';
import { counted } from '../api/support/counted.js';
import { EXIT } from './exit-codes.js';
import { withControl } from './open-stores.js';
import type { ProcessIo } from './io.js';
import { showJson } from './table.js';
import { TransferProgress } from './transfer-progress.js';
import { UsageError } from './usage-error.js';

interface Options extends ConfigOptions {
  readonly json?: boolean;
}

const HELP = `
Stop the daemon first: this command opens its files. They are opened read-only, and nothing is changed.

Exit codes:
  0    every row of every file can be read
  1    files are damaged or missing, or another process has the store`;

const CHECK = furtherModule(new URL('../storage/duckdb/files/store-check.js', import.meta.url));

/**
 * `jackdaw store`: works on the files of the embedded store.
 *
 * @param setExitCode receives the exit code
 */
export function storeCommand(
  io: ProcessIo,
  builtin: readonly Factory[],
  setExitCode: (code: number) => void,
): Command {
  const command = new Command('store').description('Examine the files of the embedded store.');
  withConfigOption(
    command.command('check').description('Read every row of the embedded store and list damage.'),
  )
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const { files, users } = await check(options, io, builtin);
      const damaged = files.filter(isDamaged);
      if (damaged.length > 0) setExitCode(EXIT.failure);
      if (options.json === true) {
        showJson(io, { is_intact: damaged.length === 0, files: files.map((file) => shown(file, users)) });
        return;
      }
      for (const file of files) for (const line of asText(file, users)) io.out(line);
      io.out(
        damaged.length === 0
          ? `Every row of ${counted(files.length, 'file')} can be read.`
          : `${damaged.length} of ${counted(files.length, 'file')} damaged or missing. Restore all files of one backup; or start the daemon (with --accept-loss if a file is missing) and copy the rest to a new store with jackdaw export --skip-damaged.`,
      );
    });
  return command;
}

type Users = ReadonlyMap<number, string>;

async function check(
  options: ConfigOptions,
  io: ProcessIo,
  builtin: readonly Factory[],
): Promise<{ readonly files: readonly CheckedFile[]; readonly users: Users }> {
  const { sources, environment } = configSources(options, io);
  const prepared = await prepare(sources, environment, builtin);
  const store = prepared.plan.extensions.find(({ factory }) => factory.type === 'duckdb');
  const { path } = Object(store?.config) as { readonly path?: unknown };
  if (typeof path !== 'string')
    throw new UsageError(
      'the configuration has no extension "duckdb": only the embedded store can be checked',
    );
  // Loads DuckDB only when needed.
  const loaded = (await import(CHECK.href)) as { readonly checkStore: typeof checkStore };
  const progress = new TransferProgress(io);
  const files = await loaded
    .checkStore(path, (what) => {
      progress.step(`Reading ${what}`);
    })
    .finally(() => {
      progress.clear();
    });
  const numbers = [...new Set(files.flatMap(({ tables }) => tables.flatMap(({ users }) => users ?? [])))];
  if (numbers.length === 0) return { files, users: new Map() };
  try {
    const users = await withControl(options, io, builtin, async ({ accounts }) => {
      const found = new Map<number, string>();
      for (const [number, id] of await accounts.findTenants(numbers))
        found.set(number, (await accounts.findUser(id))?.email ?? id);
      return found;
    });
    return { files, users };
  } catch (error) {
    io.err(`Users are shown by number: ${error instanceof Error ? error.message : String(error)}`);
    return { files, users: new Map() };
  }
}

function isDamaged({ failure, tables }: CheckedFile): boolean {
  return failure !== null || tables.length > 0;
}

function namesOf(numbers: readonly number[], users: Users): readonly string[] {
  return numbers.map((number) => users.get(number) ?? `number ${number}`);
}

function asText({ file, failure, tables }: CheckedFile, users: Users): readonly string[] {
  if (failure !== null) return [`${file}: damaged: ${failure}`];
  if (tables.length === 0) return [`${file}: intact`];
  return [`${file}: damaged`, ...tables.map((table) => tableInWords(table, users))];
}

function tableInWords({ table, rows, users: numbers, from, to }: DamagedTable, users: Users): string {
  const times = from === null || to === null ? '' : `, ${formatTime(from)} to ${formatTime(to)}`;
  const of =
    numbers === null
      ? ''
      : `, ${numbers.length === 1 ? 'user' : 'users'} ${namesOf(numbers, users).join(', ')}`;
  return `  ${table}: ${counted(rows, 'row')} cannot be read${times}${of}`;
}

function shown({ file, failure, tables }: CheckedFile, users: Users): object {
  return {
    file,
    failure,
    tables: tables.map(({ table, rows, users: numbers, from, to }) => ({
      table,
      rows,
      users: numbers === null ? null : namesOf(numbers, users),
      from: from === null ? null : formatTime(from),
      to: to === null ? null : formatTime(to),
    })),
  };
}
