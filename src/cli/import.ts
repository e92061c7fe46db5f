import { existsSync } from 'node:fs';
import { copyFile, readFile, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { movedEvidence } from '../alerting/evidence.js';
import { SECRETS_KEY_FILE } from '../auth/secrets-key.js';
import type { Factory } from '../component/factory.js';
import { makePrivate } from '../config/private-path.js';
import { formatTime } from '../signal/time.js';
import { isTransferable } from '../storage/contracts/transfer.js';
import { importStores, NotEmpty, verifyExport } from '../storage/transfer/import-stores.js';
import {
  CONTROL,
  MANIFEST,
  readManifest,
  SECRETS_KEY,
  UnusableExport,
  type Manifest,
} from '../storage/transfer/manifest.js';
import { withConfigOption, type ConfigOptions } from './config-files.js';
import { counted } from '../api/support/counted.js';
import { withStores } from './open-stores.js';
import type { ProcessIo } from './io.js';
import { TransferProgress } from './transfer-progress.js';
import { UsageError } from './usage-error.js';

interface Options extends ConfigOptions {
  readonly from: string;
}

const HELP = `
Fills the stores of the API (extensions.query) of the configuration. They must be empty: import before the daemon uses them
for the first time, and while no daemon runs. All checksums are verified first. Users, keys and ids are kept; imported data
counts for no quota and emits no events. Stop the old daemon permanently before the new one starts; otherwise both would send
the pending deliveries.

A failed or interrupted import leaves a part of the telemetry and no users, and the next import is refused: remove the
telemetry store (its files, or the database in ClickHouse) and import again. Only one process can import into ClickHouse at a
time; if it was killed, wait half a minute before the next import.

Exit codes:
  0    everything was imported
  1    the import failed
  2    the directory is not a complete export, or a store is not empty or is being filled`;

export function importCommand(io: ProcessIo, builtin: readonly Factory[]): Command {
  return withConfigOption(
    new Command('import').description('Fill empty stores from a directory written by jackdaw export.'),
  )
    .requiredOption('--from <directory>', 'a directory written by jackdaw export')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const directory = resolve(options.from);
      const progress = new TransferProgress(io);
      const manifest = await readManifest(directory).catch(inUsersWords);
      progress.step('Verifying checksums');
      await verifyExport(directory, manifest)
        .catch(inUsersWords)
        .finally(() => {
          progress.clear();
        });
      await withStores(options, io, builtin, async ({ telemetry, control }, { abort }) => {
        if (!isTransferable(telemetry))
          throw new UsageError('This telemetry store does not support imports.');
        const total = rowsIn(manifest);
        let written = 0;
        const wrote = (rows: number, table: string): void => {
          written += rows;
          progress.reached({ table, rows: written, total });
        };
        const target = {
          telemetry: telemetry.transfer.in,
          store: await telemetry.identity(),
          control: control.transfer,
          moveEvidence: movedEvidence,
          placeKey: async () => {
            await placeSecretsKey(directory, control.directory, io);
          },
        };
        try {
          await importStores(target, directory, manifest, { wrote, abort }).catch(inUsersWords);
        } finally {
          progress.clear();
        }
      });
      if (manifest.missing !== undefined)
        io.err(`The export lacks rows from damaged blocks: see "missing" in ${join(directory, MANIFEST)}.`);
      io.out(
        `Imported ${counted(rowsIn(manifest), 'row')} of telemetry, as of ${formatTime(manifest.exported_at)}.`,
      );
    });
}

function inUsersWords(error: unknown): never {
  throw error instanceof UnusableExport || error instanceof NotEmpty ? new UsageError(error.message) : error;
}

function rowsIn({ files }: Manifest): number {
  const counts = files.filter(({ path }) => /^telemetry\/(spans|points|logs)-/.test(path));
  return counts.reduce((sum, { rows }) => sum + rows, 0);
}

/** Copies the key of encrypted secrets next to the control store if that is a file; otherwise prints where to put it. */
async function placeSecretsKey(from: string, to: string | null, io: ProcessIo): Promise<void> {
  const key = join(from, CONTROL, SECRETS_KEY);
  if (!existsSync(key)) return;
  if (to === null) {
    io.err(`Set secrets.key in the configuration to the content of ${key}: it encrypts the webhook secrets.`);
    return;
  }
  const place = join(to, SECRETS_KEY_FILE);
  if (existsSync(place)) {
    if ((await readFile(place, 'utf8')) !== (await readFile(key, 'utf8')))
      io.err(`${place} is another key than ${key}: the imported webhook secrets need the latter.`);
    return;
  }
  const unfinished = `${place}.new`;
  await copyFile(key, unfinished);
  makePrivate(unfinished);
  await rename(unfinished, place);
}
