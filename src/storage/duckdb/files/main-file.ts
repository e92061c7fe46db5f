import { existsSync } from 'node:fs';
import type { Logger } from '../../../component/telemetry.js';
import { uuidV7 } from '../../../signal/ids.js';
import { systemClock } from '../../../telemetry/system-clock.js';
import { MICROS_PER_MS } from '../../../signal/time-units.js';
import { checkpoint } from './checkpoint.js';
import { ClockNotes } from './clock-notes.js';
import type { Connection } from './connection.js';
import { isInvalidated, literal, MAIN, type Database } from './database.js';
import { MAIN_SCHEMA, upgrade } from './migrations.js';
import { SegmentFiles } from './segment-files.js';
import { StoreOpenError } from './store-open-error.js';
import type { HealthIssues } from './health-issues.js';
import { quarantineUnusable, type CheckedFile } from './unusable-rows.js';

/** The content of the main file. */
export interface MainFile {
  /** The UUID of the store. */
  readonly storeId: string;
  readonly clockNotes: ClockNotes;
}

/**
 * Opens the main file of an open database: the store's identity, its control store and the state of retention's clock.
 *
 * @param control the identity of the control store
 * @throws StoreOpenError if the file has another version, or belongs to another control store
 */
export async function openMainFile(
  database: Database,
  { path, control }: { readonly path: string; readonly control: string },
  parts: { readonly logger: Logger; readonly healthIssues: HealthIssues },
): Promise<MainFile> {
  const connection = await database.connect();
  await connection.run(`USE ${MAIN}`);
  await upgrade({ connection, catalog: MAIN, path }, MAIN_SCHEMA, parts.logger);
  await quarantineUnusable(connection, checkedFile(path), parts);
  const storeId = await identify(connection, path, control);
  try {
    await checkpoint(connection, MAIN);
  } catch (error) {
    // The log's content goes into the file later: a full disk is no reason not to start.
    parts.logger.warn({ err: error }, 'Could not checkpoint the main file at start; the next start retries.');
    if (isInvalidated(error)) await database.attachMainAnew();
  }
  return { storeId, clockNotes: new ClockNotes(connection) };
}

/**
 * Call before creating a main file.
 *
 * @throws StoreOpenError if telemetry exists without a main file: its owners are unknown
 */
export function refuseWithoutMain(path: string): void {
  if (!existsSync(path)) refuseOthersTelemetry(path);
}

function refuseOthersTelemetry(path: string): void {
  const { cold } = new SegmentFiles(path);
  if (!existsSync(cold)) return;
  throw new StoreOpenError(
    `There is telemetry in ${cold}, but no main file ${path} that says which control store it belongs to. Put the main file of this telemetry back, or move all files of this store away (all that begin with its name) to start with an empty one.`,
  );
}

/** Rows carry numbers of users and prompts. Under another control store these would mean other users. */
async function identify(connection: Connection, path: string, control: string): Promise<string> {
  const [row] = await connection.rows(
    'SELECT id::VARCHAR AS id, control::VARCHAR AS control FROM store_identity',
  );
  if (row === undefined) {
    refuseOthersTelemetry(path);
    const id = uuidV7(systemClock.now() / MICROS_PER_MS);
    await connection.run(`INSERT INTO store_identity VALUES (${literal(id)}, ${literal(control)})`);
    return id;
  }
  if (row.control !== control) {
    throw new StoreOpenError(
      `The store ${path} belongs to the control store ${String(row.control)}, and extensions.duckdb.control names the control store ${control}, where user numbers differ: telemetry would be shown to the wrong users. Restore the control store ${String(row.control)} (its file or database), or move all files of this store away (all that begin with its name) to start without telemetry.`,
    );
  }
  return String(row.id);
}

function checkedFile(path: string): CheckedFile {
  const times = ['trusted_at', 'ahead_since', 'ahead_at'];
  return {
    catalog: MAIN,
    path,
    tables: [{ name: 'clock_note', columns: times.map((name) => ({ name, sql: 'TIMESTAMP' })) }],
    kept: (table) => ({ table_name: literal(table.name), content: 'r::VARCHAR' }),
  };
}
