import { resolve } from 'node:path';
import { Command } from 'commander';
import type { Static } from 'typebox';
import {
  exportData,
  exportSources,
  readExport,
  shownExport,
  type exportedSchema,
} from '../api/resources/export.js';
import type { Factory } from '../component/factory.js';
import { readVersion } from '../config/package-version.js';
import { exportStores, type ExportStage } from '../storage/transfer/export-stores.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { counted } from '../api/support/counted.js';
import { withStores } from './open-stores.js';
import type { ProcessIo } from './io.js';
import { showJson } from './table.js';
import { TransferProgress } from './transfer-progress.js';

interface Options extends ApiOptions {
  readonly to: string;
  readonly offline?: boolean;
  readonly skipDamaged?: boolean;
  readonly json?: boolean;
}

type Exported = Static<typeof exportedSchema>;

const HELP = `
The daemon writes the directory on its own machine and as its own user, below extensions.query.export_root (default:
exports, next to the control store). It continues to work meanwhile. The export is a consistent snapshot: Parquet for
telemetry, JSON lines for control data, and finally a manifest with checksums. The directory contains prompts and answers,
digests of API keys, and webhook secrets with their encryption key: protect it like the stores themselves.

With ClickHouse and PostgreSQL, any gateway can export while all of them continue. Rows skipped by --skip-damaged are listed at
the end and in the manifest; without it, damaged rows make the export fail.

An interrupted export leaves a directory with a file INCOMPLETE: remove the directory and export again.

Exit codes:
  0    the export is complete
  1    it failed, or the directory is not empty, not writable or on a full disk; written files were removed, unless the
       error says otherwise`;

export function exportCommand(io: ProcessIo, builtin: readonly Factory[]): Command {
  return withApiOptions(
    new Command('export').description('Export all stored data to a directory for jackdaw import.'),
  )
    .requiredOption('--to <directory>', 'a new or empty directory')
    .option('--offline', 'open the stores of --config directly, while no daemon runs')
    .option('--skip-damaged', 'skip and list damaged rows of the embedded store')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const directory = resolve(options.to);
      const exported =
        options.offline === true
          ? await exportOffline(options, directory, io, builtin)
          : await exportOnline(
              await ApiClient.open(options, io),
              options,
              directory,
              new TransferProgress(io),
            );
      if (options.json === true) showJson(io, exported);
      else for (const line of asText(exported)) io.out(line);
    });
}

async function exportOnline(
  client: ApiClient,
  { skipDamaged = false }: Options,
  directory: string,
  progress: TransferProgress,
): Promise<Exported> {
  const timer = setInterval(() => {
    // A failed poll is ignored and repeated; the export request itself reports failures.
    void client.call(readExport).then(
      ({ under_way }) => {
        if (under_way?.directory === directory)
          progress.reached({ ...under_way, total: under_way.total_rows });
      },
      () => undefined,
    );
  }, progress.everyMs);
  try {
    return await client.call(exportData, {
      body: { directory, ...(skipDamaged && { skip_damaged: true }) },
      isLong: true,
    });
  } finally {
    clearInterval(timer);
    progress.clear();
  }
}

async function exportOffline(
  options: Options,
  directory: string,
  io: ProcessIo,
  builtin: readonly Factory[],
): Promise<Exported> {
  return await withStores(options, io, builtin, async (stores, { clock, abort }) => {
    const store = await stores.telemetry.identity();
    const sources = exportSources({ ...stores, clock }, { store, version: readVersion() });
    if (sources === null) throw new Error('This telemetry store cannot be exported.');
    const progress = new TransferProgress(io);
    const reached = (stage: ExportStage): void => {
      progress.reached(stage);
    };
    const manifest = await exportStores(sources, directory, {
      abort,
      skipsDamaged: options.skipDamaged === true,
      reached,
    }).finally(() => {
      progress.clear();
    });
    if (manifest === null) throw new Error('Another export is in progress.');
    return shownExport(directory, manifest);
  });
}

function asText({ directory, files, bytes, rows, missing }: Exported): readonly string[] {
  const of = (table: string): number => rows[table] ?? 0;
  const telemetry = [
    counted(of('telemetry/runs'), 'run'),
    counted(of('telemetry/spans'), 'span'),
    counted(of('telemetry/points'), 'metric point'),
    counted(of('telemetry/logs'), 'log record'),
  ];
  return [
    `Exported ${telemetry.join(', ')} and ${counted(of('control/users'), 'user')}.`,
    `${directory}: ${counted(files, 'file')}, ${(bytes / 1024 / 1024).toFixed(1)} MiB`,
    ...(missing.length === 0 ? [] : ['Not exported because of damaged blocks (see also manifest.json):']),
    ...missing.map(missingInWords),
  ];
}

function missingInWords({ table, rows, users, from, to }: Exported['missing'][number]): string {
  const count = rows === null ? 'an unknown number of rows' : counted(rows, 'row');
  const times = from === null || to === null ? 'unknown times' : `${from} to ${to}`;
  const of =
    users === null ? 'unknown users' : `${users.length === 1 ? 'user' : 'users'} ${users.join(', ')}`;
  return `  ${table}: ${count}, ${times}, ${of}`;
}
