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
import { counted } from './counted.js';
import { withStores } from './open-stores.js';
import type { ProcessIo } from './process-io.js';
import { TransferProgress } from './transfer-progress.js';
import { UsageError } from './usage-error.js';

interface Options extends ConfigOptions {
  readonly from: string;
}

const HELP = `
The stores are those of the API (extensions.query) of the configuration. They must hold nothing yet: import before the daemon
runs with them for the first time, and while none does. All files are compared with their checksums first. Users, keys and
ids stay what they are; what is imported counts for no quota and brings no events. Stop the old daemon for good before the new
one starts: both would send the deliveries that wait.

An import that failed, or was interrupted or killed, leaves a part of the telemetry and no user, and the next one is refused:
remove the store of telemetry (its files, or the database in ClickHouse), and import again. Into ClickHouse one process imports
at a time; for half a minute after one that was killed the next is told to wait.

Exit codes:
  0    all of it is stored
  1    it failed
  2    the directory is no complete export, or a store holds something already or is being filled`;

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
    io.err(
      `Set secrets.key in the configuration to the content of ${key}: the secrets of webhooks are sealed with it.`,
    );
    return;
  }
  const place = join(to, SECRETS_KEY_FILE);
  if (existsSync(place)) {
    if ((await readFile(place, 'utf8')) !== (await readFile(key, 'utf8')))
      io.err(`${place} is another key than ${key}: the imported secrets of webhooks need the latter.`);
    return;
  }
  const unfinished = `${place}.new`;
  await copyFile(key, unfinished);
  makePrivate(unfinished);
  await rename(unfinished, place);
}
