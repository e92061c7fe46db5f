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
import { backupsAt, isS3Url } from '../storage/transfer/backup-bucket.js';
import type { Backup, Backups } from '../storage/transfer/backups.js';
import { restoreBackup } from '../storage/transfer/restore-backup.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { counted } from '../api/support/counted.js';
import { withStores } from './open-stores.js';
import type { ProcessIo } from './io.js';
import { type Column, showJson, showList } from './table.js';
import { inMiB, TransferProgress } from './transfer-progress.js';
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

const S3_HELP = `
S3 is reached by the standard AWS variables and files (AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE, …). For
other servers set AWS_ENDPOINT_URL_S3. JACKDAW_S3_PATH_STYLE (true or false) overrides whether URLs have the bucket in their path.
`;

const HELP = `
Copies the files of the embedded stores (extensions duckdb and sqlite) as of one moment. What earlier backups in the same place
contain is not copied again. The daemon writes a directory on its own machine and as its own user, below
extensions.query.export_root (default: exports, next to the control store), or to S3, below extensions.query.backup_s3.url, and
continues to work meanwhile. The extension "backup" does the same on a schedule, to any place. ClickHouse and PostgreSQL have their
own tools.

Backups contain prompts and answers, digests of API keys, and webhook secrets with their encryption key: protect them like the
stores themselves. With --offline, this command writes to S3 itself.
${S3_HELP}
Exit codes:
  0    the backup is complete
  1    it failed; earlier backups are unchanged`;

const VERIFY_HELP = `
Restores the backup into a temporary directory, verifies every checksum, reads every row, opens the stores, compares the numbers
of rows in both stores with those counted during the backup, and removes the directory. It needs as much free space as the stores
(TMPDIR names another place).
${S3_HELP}
Exit codes:
  0    the backup can be restored
  1    it cannot; the error names the reason`;

const RESTORE_HELP = `
Stop the daemon, move its data away, restore as the daemon's user, and start the daemon. The files appear once all of them are
written and their checksums verified. The telemetry store has its own name, and the control store is ${CONTROL_FILE}: name both
in extensions.duckdb.path and extensions.sqlite.path if yours differ.
${S3_HELP}
Exit codes:
  0    the directory is complete
  1    it is not empty, or the backup is missing, damaged or made by a newer version; nothing was written`;

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
    .option('--to <place>', 'a directory (empty, or with earlier backups) or s3://BUCKET/PREFIX')
    .option('--keep <count>', 'remove all but the newest backups', readCount)
    .option('--offline', 'open the stores of --config directly, while no daemon runs')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      if (options.to === undefined) throw new UsageError('name the place of the backups: --to <place>');
      const directory = isS3Url(options.to) ? options.to : resolve(options.to);
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
    .description('List the backups in a directory or in S3.')
    .requiredOption('--from <place>', 'a directory or s3://BUCKET/PREFIX of jackdaw backup')
    .option('--json', 'print JSON')
    .action(async (options: ReadOptions) => {
      const from = backupsAt(options.from, {});
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
    .requiredOption('--from <place>', 'a directory or s3://BUCKET/PREFIX of jackdaw backup')
    .option('--backup <id>', 'its id (default: the newest)')
    .addHelpText('after', VERIFY_HELP)
    .action(async (options: ReadOptions) => {
      const { id, backup } = await untilSignal(io, (abort) => verify(options, { io, builtin, abort }));
      const { rows, control_rows = {} } = backup;
      const total = [...Object.values(rows), ...Object.values(control_rows)].reduce((a, b) => a + b, 0);
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
    .requiredOption('--from <place>', 'a directory or s3://BUCKET/PREFIX of jackdaw backup')
    .requiredOption('--to <directory>', 'an empty directory, or one that does not exist yet')
    .option('--backup <id>', 'its id, as jackdaw backup list shows it (default: the newest)')
    .addHelpText('after', RESTORE_HELP)
    .action(async (options: ReadOptions & { readonly to: string }) => {
      const from = backupsAt(options.from, {});
      const to = resolve(options.to);
      const { id, backup } = await from.read(options.backup);
      await untilSignal(io, (abort) => restore(from, { id, backup }, { to, io, abort }));
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
    const progress = new TransferProgress(io);
    const reached = (bytes: number, total: number): void => {
      progress.bytes('Backing up', bytes, total);
    };
    const made = await backUp(sources, backupsAt(directory, {}), {
      ...{ keep: options.keep ?? null, abort, reached },
    }).finally(() => {
      progress.clear();
    });
    if (made === null) throw new Error('Another backup is in progress.');
    return shownBackup(directory, made);
  });
}

/** Aborts the work on SIGINT and SIGTERM, so that it removes its files. */
async function untilSignal<T>(io: ProcessIo, work: (abort: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const end = io.onSignal((name) => {
    abort.abort(new Error(`Ended by ${name}`));
  });
  try {
    return await work(abort.signal);
  } finally {
    end();
  }
}

async function restore(
  from: Backups,
  read: { readonly id: string; readonly backup: Backup },
  { to, io, abort }: { readonly to: string; readonly io: ProcessIo; readonly abort: AbortSignal },
): Promise<void> {
  const progress = new TransferProgress(io);
  const reached = (name: string, bytes: number, total: number): void => {
    progress.bytes(`Writing ${name}`, bytes, total);
  };
  await restoreBackup(from, read, to, { version: readVersion(), abort, reached }).finally(() => {
    progress.clear();
  });
}

async function verify(
  options: ReadOptions,
  {
    io,
    builtin,
    abort,
  }: { readonly io: ProcessIo; readonly builtin: readonly Factory[]; readonly abort: AbortSignal },
): Promise<{ readonly id: string; readonly backup: Backup }> {
  const from = backupsAt(options.from, {});
  const { id, backup } = await from.read(options.backup);
  const temporary = await mkdtemp(join(tmpdir(), 'jackdaw-verify-'));
  const progress = new TransferProgress(io);
  try {
    const to = join(temporary, 'data');
    await restore(from, { id, backup }, { to, io, abort });
    const loaded = (await import(CHECK.href)) as { readonly checkStore: typeof checkStore };
    const main = join(to, backup.main);
    const checked = await loaded.checkStore(main, (what) => {
      abort.throwIfAborted();
      progress.step(`Reading ${what}`);
    });
    const damaged = checked.filter(({ failure, tables }) => failure !== null || tables.length > 0);
    if (damaged.length > 0)
      throw new Error(
        `Backup ${id} contains damaged files of the store (${damaged.map(({ file }) => file).join(', ')}): check the store with jackdaw store check.`,
      );
    progress.step('Opening the stores');
    compareRows(id, backup.control_rows ?? {}, await readControl(join(to, CONTROL_FILE), { id, backup }));
    const config = join(temporary, 'jackdaw.yaml');
    const paths = { duckdb: { path: main }, sqlite: { path: join(to, CONTROL_FILE) } };
    await writeFile(config, JSON.stringify({ extensions: paths }));
    const rows = await withStores({ config: [config] }, io, builtin, async ({ telemetry }) => {
      if (!isTransferable(telemetry) || telemetry.transfer.backup === null) throw new Error(NO_BACKUP);
      return await telemetry.transfer.backup.count();
    });
    compareRows(id, backup.rows, rows);
    return { id, backup };
  } finally {
    progress.clear();
    await rm(temporary, { recursive: true, force: true });
  }
}

function compareRows(id: string, expected: Backup['rows'], found: Backup['rows']): void {
  for (const [table, rows] of Object.entries(expected))
    if (found[table] !== rows)
      throw new Error(
        `Backup ${id} has ${found[table] ?? 0} rows of ${table} instead of ${rows}: use another backup.`,
      );
}

/** Checks the control store before it is opened and migrated. @returns rows of the backed up tables */
async function readControl(
  path: string,
  { id, backup }: { readonly id: string; readonly backup: Backup },
): Promise<Record<string, number>> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path, { readOnly: true });
  const one = (query: string): unknown =>
    Object.values(Object(database.prepare(query).get()) as object)[0] as unknown;
  try {
    const found = one('pragma integrity_check(1)');
    if (found !== 'ok') throw new Error(String(found));
    return Object.fromEntries(
      Object.keys(backup.control_rows ?? {}).map((table) => [
        table,
        Number(one(`select count(*) from "${table.replaceAll('"', '""')}"`)),
      ]),
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The control store of backup ${id} is damaged (${reason}): use another backup.`, {
      cause,
    });
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
