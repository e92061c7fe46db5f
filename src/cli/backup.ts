import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { Static } from 'typebox';
import {
  backUpData,
  backupSources,
  NO_BACKUP,
  shownBackup,
  type backupSchema,
} from '../api/resources/backup.js';
import type { Factory } from '../component/factory.js';
import { furtherModule } from '../config/built-module.js';
import { readVersion } from '../config/package-version.js';
import { loadSqlite } from '../config/sqlite-module.js';
import { formatTime } from '../signal/time.js';
import { isTransferable } from '../storage/contracts/transfer.js';
import type { checkStore } from '../storage/duckdb/files/store-check.js';
import { backUp, CONTROL_FILE } from '../storage/transfer/back-up.js';
import { BackupDirectory, type Backup } from '../storage/transfer/backup-directory.js';
import { restoreBackup } from '../storage/transfer/restore-backup.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { counted } from './counted.js';
import { withStores } from './open-stores.js';
import type { ProcessIo } from './process-io.js';
import { showJson, showList } from './result.js';
import type { Column } from './table.js';
import { TransferProgress } from './transfer-progress.js';
import { UsageError } from './usage-error.js';

interface Options extends ApiOptions {
  readonly to?: string;
  readonly keep?: number;
  readonly offline?: boolean;
  readonly json?: boolean;
}

interface ReadOptions {
  readonly from: string;
  readonly backup?: string;
  readonly json?: boolean;
}

const HELP = `
Copies the files of the embedded stores (extensions duckdb and sqlite) as of one moment. What earlier backups in the directory
contain is not copied again. The daemon writes the directory on its own machine and as its own user, below
extensions.query.export_root (default: exports, next to the control store), and continues to work meanwhile. The extension
"backup" does the same on a schedule, to any directory. ClickHouse and PostgreSQL have their own tools.

The directory contains prompts and answers, digests of API keys, and webhook secrets with their encryption key: protect it
like the stores themselves.

Exit codes:
  0    the backup is complete
  1    it failed; earlier backups in the directory are unchanged`;

const VERIFY_HELP = `
Restores the backup into a temporary directory, verifies every checksum, reads every row, opens the stores, compares the numbers
of rows, and removes the directory. It needs as much free space as the store (TMPDIR names another place).

Exit codes:
  0    the backup can be restored
  1    it cannot; the error names the reason`;

const RESTORE_HELP = `
Stop the daemon, move its data directory away, restore, and start the daemon. The directory appears once every file is written
and its checksum verified. It holds the telemetry store under its own name and the control store as ${CONTROL_FILE}: name both
in extensions.duckdb.path and extensions.sqlite.path if yours differ.

Exit codes:
  0    the directory is complete
  1    it is not empty, or the backup is missing or damaged; nothing was written`;

interface ListedBackup {
  readonly backup: string;
  readonly made_at: string;
  readonly bytes: number;
  readonly rows: Backup['rows'];
  readonly jackdaw: string;
}

const COLUMNS: readonly Column<ListedBackup>[] = [
  { title: 'backup', show: ({ backup }) => backup },
  { title: 'made', show: ({ made_at }) => made_at },
  { title: 'size', show: ({ bytes }) => inMiB(bytes) },
  { title: 'spans', show: ({ rows }) => rows['spans'] ?? 0 },
  { title: 'version', show: ({ jackdaw }) => jackdaw },
];

const CHECK = furtherModule(new URL('../storage/duckdb/files/store-check.js', import.meta.url));

/** `jackdaw backup`, with `list` and `verify`. */
export function backupCommand(io: ProcessIo, builtin: readonly Factory[]): Command {
  const command = withApiOptions(
    new Command('backup').description('Back up the embedded stores of a running or stopped daemon.'),
  )
    .option('--to <directory>', 'an empty directory, or one with earlier backups')
    .option('--keep <count>', 'remove all but the newest backups', readCount)
    .option('--offline', 'open the stores of --config directly, while no daemon runs')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      if (options.to === undefined)
        throw new UsageError('name the directory of the backups: --to <directory>');
      const directory = resolve(options.to);
      const made =
        options.offline === true
          ? await backUpOffline(options, directory, io, builtin)
          : await backUpOnline(options, directory, io);
      if (options.json === true) showJson(io, made);
      else
        io.out(
          `Backup ${made.backup}: ${counted(made.rows['spans'] ?? 0, 'span')}, ${counted(made.files, 'file')}, ${inMiB(made.bytes)}, of which ${inMiB(made.copied_bytes)} copied.`,
        );
    });
  command
    .command('list')
    .description('List the backups in a directory.')
    .requiredOption('--from <directory>', 'a directory of jackdaw backup')
    .option('--json', 'print JSON')
    .action(async (options: ReadOptions) => {
      const from = new BackupDirectory(resolve(options.from));
      const listed: ListedBackup[] = [];
      for (const id of await from.list()) listed.push(shownListed(await from.read(id)));
      showList(io, listed, {
        json: options.json === true,
        columns: COLUMNS,
        none: 'No backup is complete.',
      });
    });
  command
    .command('verify')
    .description('Restore a backup into a temporary directory and check it.')
    .requiredOption('--from <directory>', 'a directory of jackdaw backup')
    .option('--backup <id>', 'its id (default: the newest)')
    .addHelpText('after', VERIFY_HELP)
    .action(async (options: ReadOptions) => {
      const { id, rows } = await verify(options, io, builtin);
      const total = Object.values(rows).reduce((sum, more) => sum + more, 0);
      io.out(
        `Backup ${id} can be restored: ${counted(rows['spans'] ?? 0, 'span')}, ${counted(total, 'row')} in total.`,
      );
    });
  return command;
}

/** `jackdaw restore` */
export function restoreCommand(io: ProcessIo): Command {
  return new Command('restore')
    .description('Write the files of a backup into a new directory.')
    .requiredOption('--from <directory>', 'a directory of jackdaw backup')
    .requiredOption('--to <directory>', 'an empty directory, or one that does not exist yet')
    .option('--backup <id>', 'its id, as jackdaw backup list shows it (default: the newest)')
    .addHelpText('after', RESTORE_HELP)
    .action(async (options: ReadOptions & { readonly to: string }) => {
      const from = new BackupDirectory(resolve(options.from));
      const to = resolve(options.to);
      const { id, backup } = await from.read(options.backup);
      await restore(from, backup, { to, io });
      io.out(`Restored backup ${id} of ${formatTime(backup.made_at)} to ${to}.`);
    });
}

async function backUpOnline(
  options: Options,
  directory: string,
  io: ProcessIo,
): Promise<Static<typeof backupSchema>> {
  const client = await ApiClient.open(options, io);
  const { keep } = options;
  return await client.call(backUpData, {
    body: { directory, ...(keep !== undefined && { keep }) },
    isLong: true,
  });
}

async function backUpOffline(
  options: Options,
  directory: string,
  io: ProcessIo,
  builtin: readonly Factory[],
): Promise<Static<typeof backupSchema>> {
  return await withStores(options, io, builtin, async (stores, { clock, abort }) => {
    const sources = await backupSources({ ...stores, clock }, readVersion());
    if (sources === null) throw new Error(NO_BACKUP);
    const made = await backUp(sources, new BackupDirectory(directory), { keep: options.keep ?? null, abort });
    if (made === null) throw new Error('Another backup is in progress.');
    return shownBackup(directory, made);
  });
}

async function restore(
  from: BackupDirectory,
  backup: Backup,
  { to, io }: { readonly to: string; readonly io: ProcessIo },
): Promise<void> {
  const progress = new TransferProgress(io);
  await restoreBackup(from, backup, to, (name) => {
    progress.step(`Writing ${name}`);
  }).finally(() => {
    progress.clear();
  });
}

async function verify(
  options: ReadOptions,
  io: ProcessIo,
  builtin: readonly Factory[],
): Promise<{ readonly id: string; readonly rows: Backup['rows'] }> {
  const from = new BackupDirectory(resolve(options.from));
  const { id, backup } = await from.read(options.backup);
  const temporary = await mkdtemp(join(tmpdir(), 'jackdaw-verify-'));
  const progress = new TransferProgress(io);
  try {
    const to = join(temporary, 'data');
    await restore(from, backup, { to, io });
    const loaded = (await import(CHECK.href)) as { readonly checkStore: typeof checkStore };
    const main = join(to, backup.main);
    const checked = await loaded.checkStore(main, (what) => {
      progress.step(`Reading ${what}`);
    });
    const damaged = checked.filter(({ failure, tables }) => failure !== null || tables.length > 0);
    if (damaged.length > 0)
      throw new Error(
        `Backup ${id} contains damaged files of the store (${damaged.map(({ file }) => file).join(', ')}): check the store with jackdaw store check.`,
      );
    progress.step('Opening the stores');
    await checkControl(join(to, CONTROL_FILE), id);
    const config = join(temporary, 'jackdaw.yaml');
    const paths = { duckdb: { path: main }, sqlite: { path: join(to, CONTROL_FILE) } };
    await writeFile(config, JSON.stringify({ extensions: paths }));
    const rows = await withStores({ config: [config] }, io, builtin, async ({ telemetry }) => {
      if (!isTransferable(telemetry) || telemetry.transfer.backup === null) throw new Error(NO_BACKUP);
      return await telemetry.transfer.backup.count();
    });
    for (const [table, expected] of Object.entries(backup.rows))
      if (rows[table] !== expected)
        throw new Error(
          `Backup ${id} has ${rows[table] ?? 0} rows of ${table} instead of ${expected}: use another backup.`,
        );
    return { id, rows: backup.rows };
  } finally {
    progress.clear();
    await rm(temporary, { recursive: true, force: true });
  }
}

async function checkControl(path: string, id: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const found = database.prepare('pragma integrity_check(1)').get() as {
      readonly integrity_check?: string;
    };
    if (found.integrity_check !== 'ok')
      throw new Error(
        `The control store of backup ${id} is damaged: ${found.integrity_check ?? 'no answer'}.`,
      );
  } finally {
    database.close();
  }
}

function shownListed({ id, backup }: { readonly id: string; readonly backup: Backup }): ListedBackup {
  const bytes = backup.files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    backup: id,
    made_at: formatTime(backup.made_at),
    bytes,
    rows: backup.rows,
    jackdaw: backup.jackdaw,
  };
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 10_000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 10000.');
  return count;
}

function inMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
