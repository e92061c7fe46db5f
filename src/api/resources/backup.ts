import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { SECRETS_KEY_FILE } from '../../auth/secrets-key.js';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { formatTime } from '../../signal/time.js';
import type { PartialTelemetryStore } from '../../storage/contracts/telemetry-store.js';
import { isTransferable } from '../../storage/contracts/transfer.js';
import { backUp, type BackupSources, type MadeBackup } from '../../storage/transfer/back-up.js';
import { BackupDirectory } from '../../storage/transfer/backup-directory.js';
import { exportPath } from '../../storage/transfer/export-directory.js';
import type { ApiContext } from '../support/api-context.js';
import { count, time } from '../support/fields.js';
import { asText, EXPORTS } from './export.js';

export const backupSchema = Type.Object(
  {
    directory: Type.String(),
    backup: Type.String({ description: 'Id of the backup, for `jackdaw restore --backup`.' }),
    made_at: time('The moment of the backup.'),
    files: count('Files in the backup.'),
    bytes: count('Their size.'),
    copied_bytes: count('Bytes that earlier backups in the directory did not contain.'),
    rows: Type.Record(Type.String(), count(), { description: 'Rows of telemetry by table.' }),
  },
  { title: 'MadeBackup' },
);

export const backUpData = {
  id: 'backUpData',
  method: 'POST',
  path: '/api/v1/admin/backup',
  tag: 'administration',
  summary: 'Back up the embedded stores to a directory on the daemon’s machine',
  description:
    'Incremental: what earlier backups in the directory contain is not copied again. All files are of one moment. The directory contains secrets and is readable only by the daemon’s user. The backup is complete when this responds; if the client disconnects or it fails, the earlier backups stay. For ClickHouse and PostgreSQL use their own tools.',
  access: 'admin',
  audit: ['stores.backed_up'],
  body: Type.Object(
    {
      directory: Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'Below `extensions.query.export_root`: an absolute path, or one relative to that root. Must not exist, be empty, or hold earlier backups.',
      }),
      keep: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 10_000,
          description: 'Number of backups to keep, including this one. By default all are kept.',
        }),
      ),
    },
    { title: 'NewBackup', additionalProperties: false },
  ),
  responses: { 200: backupSchema },
  errors: [409],
} satisfies Operation;

export const NO_BACKUP =
  'Only the embedded stores (extensions duckdb and sqlite) can be backed up: for ClickHouse and PostgreSQL use their own tools, or jackdaw export.';
const NO_ROOT =
  'This daemon has no directory for backups: set extensions.query.export_root, or use the extension backup.';

/** Selects the dependencies of a backup; null if one of the stores is not embedded. */
export async function backupSources(
  parts: Pick<ApiContext, 'control' | 'clock'> & { readonly telemetry: PartialTelemetryStore },
  version: string,
): Promise<BackupSources | null> {
  const { telemetry, control, clock } = parts;
  if (!isTransferable(telemetry) || telemetry.transfer.backup === null || control.directory === null)
    return null;
  const key = join(control.directory, SECRETS_KEY_FILE);
  return {
    telemetry: telemetry.transfer.backup,
    store: await telemetry.identity(),
    control: control.transfer,
    secretsKeyFile: existsSync(key) ? key : null,
    version,
    now: () => clock.now(),
  };
}

/** The response for a completed backup. */
export function shownBackup(directory: string, { id, backup, bytes, copiedBytes }: MadeBackup) {
  return {
    directory,
    backup: id,
    made_at: formatTime(backup.made_at),
    files: backup.files.length,
    bytes,
    copied_bytes: copiedBytes,
    rows: backup.rows,
  };
}

/** `/admin/backup` */
export function backupRoutes(
  context: Omit<ApiContext, 'telemetry'> & { readonly telemetry: PartialTelemetryStore },
): readonly Route[] {
  const { routes, control, exportRoot, audit, daemon, logger } = context;
  return [
    routes.route(backUpData).to(async ({ body, identity, address, request }) => {
      const sources = await backupSources(context, daemon.version);
      if (sources === null) throw new HttpProblem(409, 'conflict', NO_BACKUP);
      const root = exportRoot ?? (control.directory === null ? null : join(control.directory, EXPORTS));
      if (root === null) throw new HttpProblem(409, 'conflict', NO_ROOT);
      try {
        const directory = await exportPath(root, body.directory);
        const { abort } = request;
        const made = await backUp(sources, new BackupDirectory(directory), {
          keep: body.keep ?? null,
          abort,
        });
        if (made === null) throw new HttpProblem(409, 'conflict', 'Another backup is in progress.');
        logger.info({ directory, backup: made.id, copied_bytes: made.copiedBytes }, 'Backup completed.');
        audit({ identity, address }, 'stores.backed_up', { directory });
        return { status: 200, json: shownBackup(directory, made) };
      } catch (error) {
        throw asText(error);
      }
    }),
  ];
}
