import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { SECRETS_KEY_FILE } from '../../auth/secrets-key.js';
import { DirectoryTaken } from '../../config/directory-lock.js';
import { ConsumeError } from '../../component/consume-error.js';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { formatTime } from '../../signal/time.js';
import type { PartialTelemetryStore } from '../../storage/contracts/telemetry-store.js';
import { isTransferable } from '../../storage/contracts/transfer.js';
import { exportPath, UnusableDirectory } from '../../storage/transfer/export-directory.js';
import { exportStores, type ExportSources } from '../../storage/transfer/export-stores.js';
import { UnusableBackup } from '../../storage/transfer/backups.js';
import type { Manifest } from '../../storage/transfer/manifest.js';
import type { ApiContext } from '../support/api-context.js';
import { ExportLog } from '../support/export-log.js';
import { count, nullable, time } from '../support/fields.js';

export const exportedSchema = Type.Object(
  {
    directory: Type.String(),
    exported_at: time('Time of the exported snapshot.'),
    files: count('Files in the directory, without its manifest.'),
    bytes: count('Their size.'),
    rows: Type.Record(Type.String(), count(), {
      description: 'Rows by table: `telemetry/spans`, `control/users` and so on.',
    }),
    missing: Type.Array(
      Type.Object(
        {
          table: Type.String({
            description: 'As in `rows`, or `telemetry/payloads`: spans without input, output and metadata.',
          }),
          rows: nullable(count('How many rows are missing.')),
          users: nullable(Type.Array(Type.String(), { description: 'Ids of their users.' })),
          from: nullable(time('The earliest time of these rows.')),
          to: nullable(time('The latest.')),
        },
        { title: 'MissingRows' },
      ),
      {
        description: 'Rows left out because of damaged blocks (`skip_damaged`); null if unknown.',
      },
    ),
  },
  { title: 'Export' },
);

export const exportData = {
  id: 'exportData',
  method: 'POST',
  path: '/api/v1/admin/export',
  tag: 'administration',
  summary: 'Export all stored data to a directory on the daemon’s machine',
  description:
    'Telemetry as Parquet, control data as JSON lines, from one snapshot, for `jackdaw import`. The directory contains secrets and is readable only by the daemon’s user. It is complete when this responds; if the client disconnects or the export fails, the written files are removed. The daemon keeps working meanwhile.',
  access: 'admin',
  audit: ['stores.exported'],
  body: Type.Object(
    {
      directory: Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'Below `extensions.query.export_root`: an absolute path, or one relative to that root. Must not exist, or be an empty private directory.',
      }),
      skip_damaged: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Leaves out rows in damaged blocks of the embedded store and lists them.',
        }),
      ),
    },
    { title: 'NewExport', additionalProperties: false },
  ),
  responses: { 200: exportedSchema },
  errors: [409],
} satisfies Operation;

const underWaySchema = Type.Object(
  {
    directory: Type.String(),
    table: nullable(
      Type.String({ description: 'The table of telemetry that is being written; null before the first.' }),
    ),
    rows: count('Spans, metric points and log records written to files.'),
    total_rows: nullable(count('Approximate total; null while unknown.')),
    bytes: count('Current size of all files.'),
  },
  { title: 'ExportUnderWay' },
);

const failedSchema = Type.Object(
  {
    directory: Type.String(),
    failed_at: time(),
    message: Type.String({ description: 'The error and the remedy.' }),
  },
  {
    title: 'FailedExport',
    description: 'Last failed export since the daemon started; null if none failed or a later one succeeded.',
  },
);

export const readExport = {
  id: 'readExport',
  method: 'GET',
  path: '/api/v1/admin/export',
  tag: 'administration',
  summary: 'Get the progress of this daemon’s export, and the error of the last failed one',
  description: 'Daemons that share stores each report only their own export.',
  access: 'admin',
  responses: {
    200: Type.Object(
      { under_way: nullable(underWaySchema), failed: nullable(failedSchema) },
      { title: 'ExportProgress' },
    ),
  },
} satisfies Operation;

/** Selects the dependencies of an export from the API context; null if the store cannot be exported. */
export function exportSources(
  parts: Pick<ApiContext, 'control' | 'clock'> & { readonly telemetry: PartialTelemetryStore },
  { store, version }: Pick<ExportSources, 'store' | 'version'>,
): ExportSources | null {
  const { telemetry, control, clock } = parts;
  if (!isTransferable(telemetry) || telemetry.transfer.out === null) return null;
  const key = control.directory === null ? null : join(control.directory, SECRETS_KEY_FILE);
  return {
    telemetry: telemetry.transfer.out,
    store,
    control: control.transfer,
    usersOf: (numbers) => control.accounts.findTenants(numbers),
    secretsKeyFile: key !== null && existsSync(key) ? key : null,
    version,
    now: () => clock.now(),
  };
}

/** Below the directory of the control store, unless `extensions.query.export_root` is set. */
export const EXPORTS = 'exports';
const NO_ROOT =
  'This daemon has no directory for exports: set extensions.query.export_root, or run jackdaw export --offline.';

/** The response for a completed export. */
export function shownExport(directory: string, { exported_at, files, missing = [] }: Manifest) {
  const rows: Record<string, number> = {};
  for (const { path, rows: more } of files) {
    const table = path.replace(/(-\d+)?\.(parquet|jsonl)$/, '');
    if (table !== path) rows[table] = (rows[table] ?? 0) + more;
  }
  return {
    directory,
    exported_at: formatTime(exported_at),
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    rows,
    missing: missing.map(({ table, rows: count, users, from, to }) => ({
      table: `telemetry/${table}`,
      rows: count,
      users,
      from: from === null ? null : formatTime(from),
      to: to === null ? null : formatTime(to),
    })),
  };
}

/** `/admin/export` */
export function exportRoutes(
  context: Omit<ApiContext, 'telemetry'> & { readonly telemetry: PartialTelemetryStore },
): readonly Route[] {
  const { routes, telemetry, control, exportRoot, audit, daemon, logger, clock } = context;
  if (!isTransferable(telemetry) || telemetry.transfer.out === null) return [];
  const log = new ExportLog(logger, clock);
  return [
    routes.route(readExport).to(async () => {
      const { current, failed } = log;
      const under_way = current && {
        directory: current.directory,
        table: current.table,
        rows: current.rows,
        total_rows: current.total,
        bytes: current.bytes,
      };
      const shown = failed && {
        directory: failed.directory,
        failed_at: formatTime(failed.at),
        message: failed.error instanceof HttpProblem ? failed.error.message : FAULT,
      };
      return { status: 200, json: { under_way, failed: shown } };
    }),
    routes.route(exportData).to(async ({ body, identity, address, request }) => {
      const root = exportRoot ?? (control.directory === null ? null : join(control.directory, EXPORTS));
      if (root === null) throw new HttpProblem(409, 'conflict', NO_ROOT);
      const directory = await exportPath(root, body.directory).catch((error: unknown) => {
        throw asText(error);
      });
      const store = await telemetry.identity();
      const sources = exportSources(context, { store, version: daemon.version });
      if (sources === null) throw new HttpProblem(409, 'conflict', 'This store cannot be exported.');
      const manifest = await log.of(
        directory,
        async (reached) =>
          await exportStores(sources, directory, {
            abort: request.abort,
            skipsDamaged: body.skip_damaged ?? false,
            reached,
          }).catch((error: unknown) => {
            throw asText(error);
          }),
      );
      if (manifest === null) throw new HttpProblem(409, 'conflict', 'Another export is in progress.');
      audit({ identity, address }, 'stores.exported', { directory });
      return { status: 200, json: shownExport(directory, manifest) };
    }),
  ];
}

/** Administrators see the store's own error text, because the generic message for other clients would not help them. */
export function asText(error: unknown): unknown {
  if (
    error instanceof UnusableDirectory ||
    error instanceof DirectoryTaken ||
    error instanceof UnusableBackup
  )
    return new HttpProblem(409, 'conflict', error.message, { cause: error });
  if (!(error instanceof ConsumeError)) return error;
  const { code, message, retryAfterMs } = error;
  if (code === 'store_damaged') return new HttpProblem(500, code, message, { cause: error });
  const headers = { 'retry-after': String(Math.ceil((retryAfterMs ?? 5000) / 1000)) };
  return new HttpProblem(503, code, message, { headers, cause: error });
}

const FAULT = 'The export failed because of an internal error; see the log.';
