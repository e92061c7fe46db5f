import { join } from 'node:path';
import { Type } from 'typebox';
import { SECRETS_KEY_FILE } from '../../auth/secrets-key.js';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';
import { formatTime } from '../../signal/time.js';
import type { PartialTelemetryStore } from '../../storage/contracts/telemetry-store.js';
import { isTransferable } from '../../storage/contracts/transfer.js';
import {
  backUp,
  type BackupOptions,
  type BackupSources,
  type MadeBackup,
} from '../../storage/transfer/back-up.js';
import { backupsAt, isS3Url, type S3Settings } from '../../storage/transfer/backup-bucket.js';
import { exportPath } from '../../storage/transfer/export-directory.js';
import type { ApiContext } from '../support/api-context.js';
import { count, time } from '../support/fields.js';
import { asText, EXPORTS } from './export.js';

export const backupSchema = Type.Object(
  {
    directory: Type.String(),
    backup: Type.String({ description: 'Id of the backup, for `jackdaw restore --backup`.' }),
    made_at: time('When the backup was made.'),
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
  summary: 'Back up the embedded stores to a directory on the daemon’s machine or to S3',
  description:
    'Incremental: what earlier backups there contain is not copied again. All files are from the same moment. They contain secrets; a directory is readable only by the daemon’s user. The backup is complete when this responds; if the client disconnects or it fails, the earlier backups stay. For ClickHouse and PostgreSQL use their own tools.',
  access: 'admin',
  audit: ['stores.backed_up'],
  body: Type.Object(
    {
      directory: Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'Below `extensions.query.export_root`: an absolute path, or one relative to that root. Must not exist, be empty, or hold earlier backups. Or `s3://…`: `extensions.query.backup_s3.url`, or a prefix below it.',
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
const NO_S3 =
  'This daemon has no bucket for backups: set extensions.query.backup_s3.url, or use the extension backup.';
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
  return {
    telemetry: telemetry.transfer.backup,
    store: await telemetry.identity(),
    control: control.transfer,
    secretsKeyFile: join(control.directory, SECRETS_KEY_FILE),
    scratch: join(control.directory, 'backup-scratch'),
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
  const { routes, audit, daemon, logger, clock } = context;
  return [
    routes.route(backUpData).to(async ({ body, identity, address, request }) => {
      const sources = await backupSources(context, daemon.version);
      if (sources === null) throw new HttpProblem(409, 'conflict', NO_BACKUP);
      try {
        const [directory, settings] = await targetOf(context, body.directory);
        const { abort } = request;
        const made = await backUp(sources, backupsAt(directory, settings), {
          keep: body.keep ?? null,
          abort,
          reached: backupLog(logger, clock),
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

/** The target of a backup that clients may choose. @throws HttpProblem; UnusableDirectory */
async function targetOf(
  { control, exportRoot, backupS3 }: Pick<ApiContext, 'control' | 'exportRoot' | 'backupS3'>,
  directory: string,
): Promise<readonly [target: string, settings: S3Settings]> {
  if (isS3Url(directory)) {
    if (backupS3?.url === undefined) throw new HttpProblem(409, 'conflict', NO_S3);
    const [target, root] = [directory, backupS3.url].map((url) => url.replace(/\/+$/, ''));
    if (target !== root && !target?.startsWith(`${root}/`))
      throw new HttpProblem(
        409,
        'conflict',
        `${directory} is not below ${backupS3.url}: use a prefix there, or change extensions.query.backup_s3.url.`,
      );
    return [directory, backupS3];
  }
  const root = exportRoot ?? (control.directory === null ? null : join(control.directory, EXPORTS));
  if (root === null) throw new HttpProblem(409, 'conflict', NO_ROOT);
  return [await exportPath(root, directory), {}];
}

const LOG_EVERY = 30 * MICROS_PER_SECOND;

/** Logs the progress of a long backup. */
export function backupLog(logger: Logger, clock: Clock): NonNullable<BackupOptions['reached']> {
  let loggedAt = clock.now();
  return (bytes, total_bytes) => {
    if (clock.now() - loggedAt < LOG_EVERY) return;
    loggedAt = clock.now();
    logger.info({ bytes, total_bytes }, 'Backup in progress.');
  };
}
