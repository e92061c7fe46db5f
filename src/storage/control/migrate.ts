import { Migrator, sql, type Kysely } from 'kysely';
import type { Logger } from '../../component/telemetry.js';
import { ControlStoreError } from './control-store-error.js';
import { DatabaseFailure } from './database-failure.js';
import type { Dialect } from './dialect.js';
import { MIGRATIONS } from './migrations.js';
import type { Tables } from './tables.js';

/**
 * Migrates the tables to the schema of this program. If several processes start at once, one migrates and the others wait.
 *
 * @param place names the store in errors and in the log, without secrets
 * @throws ControlStoreError if a newer program has used the store; DatabaseFailure
 */
export async function migrate(
  database: Kysely<Tables>,
  dialect: Dialect,
  place: string,
  logger?: Logger,
): Promise<void> {
  const migrator = new Migrator({
    db: database,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(MIGRATIONS).map(([name, statements]) => [
            name,
            {
              up: async (db: Kysely<unknown>) => {
                for (const statement of statements(dialect.text)) await sql.raw(statement).execute(db);
              },
            },
          ]),
        ),
    },
    // Clocks may be set back, so the times of migrations do not define their order.
    allowUnorderedMigrations: true,
  });
  const done = await refuseNewer(database, place);
  // Writes to a full disk only if necessary.
  const missing = Object.keys(MIGRATIONS).filter((name) => !done.includes(name));
  if (missing.length === 0) return;
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) {
    if (done.length > 0) logger?.info({ store: place, migrations: missing }, 'Upgraded the control store.');
    return;
  }
  // A newer program may have migrated between the two steps.
  await refuseNewer(database, place);
  throw error instanceof Error ? error : new Error('the migrations failed');
}

/** Adds the store's name to an error at the start, unless the error already has it. */
export function openError(place: string, error: unknown): unknown {
  if (!(error instanceof DatabaseFailure)) return error;
  return new ControlStoreError(`The control store ${place} cannot be opened: ${error.message}.`, {
    cause: error,
  });
}

/** @returns the names of the completed migrations */
async function refuseNewer(database: Kysely<Tables>, place: string): Promise<readonly string[]> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return [];
  const done = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(database);
  const names = done.rows.map(({ name }) => name);
  const unknown = names.filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0)
    throw new ControlStoreError(
      `The control store ${place} was created by a newer version of Jackdaw (it has ${unknown.join(', ')}). Run that version, or use another store.`,
    );
  return names;
}
