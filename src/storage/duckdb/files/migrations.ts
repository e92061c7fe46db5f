import { AGENT_SPANS } from '../../schema/agent-spans-table.js';
import type { Logger } from '../../../component/telemetry.js';
import { createTable } from '../../schema/table.js';
import { NAMED_BATCHES } from '../../schema/named-batches-table.js';
import { SCORES } from '../../schema/scores-table.js';
import { CALL_SUMS } from '../../schema/sum-tables.js';
import { COLD_TABLES } from '../../schema/cold-tables.js';
import { SEGMENT_TABLES, TEXT_FILTERS } from '../../schema/tables.js';
import { createLogTerms } from '../../schema/log-tables.js';
import type { Connection } from './connection.js';
import { identifier } from './database.js';
import { StoreOpenError } from './store-open-error.js';

/** One step forward in the schema of a kind of file. Released steps are never changed, and there is no way back. */
interface Upgrade {
  readonly version: number;
  readonly statements: (catalog: string) => readonly string[];
}

/** The schema of a kind of file: new files are created by `create`, older ones go through the upgrades. */
export interface Schema {
  readonly version: number;
  readonly create: (catalog: string) => readonly string[];
  readonly upgrades: readonly Upgrade[];
}

/** The hot segments and the cold file. */
export const SEGMENT_SCHEMA: Schema = {
  version: 17,
  create: (catalog) => [
    ...SEGMENT_TABLES.map((table) => createTable(catalog, table)),
    // In the cold file: which segments it has taken over, and what follows from its rows.
    `CREATE TABLE ${catalog}.main.moved (segment BIGINT NOT NULL, last_seq BIGINT NOT NULL)`,
    // Which segments it has not taken over, although it has later ones.
    `CREATE TABLE ${catalog}.main.segments_aside (segment BIGINT NOT NULL, last_seq BIGINT NOT NULL, last_number BIGINT NOT NULL, is_read BOOLEAN NOT NULL)`,
    ...COLD_TABLES.map((table) => createTable(catalog, table)),
    createLogTerms(catalog),
  ],
  upgrades: [
    {
      // Columns that identify spans of the same model call.
      version: 3,
      statements: (catalog) =>
        ['call_key VARCHAR', 'same_as UUID', 'counted UTINYINT'].map(
          (column) => `ALTER TABLE ${catalog}.main.spans ADD COLUMN ${column}`,
        ),
    },
    {
      // The run's sampling rate.
      version: 4,
      statements: (catalog) => [`ALTER TABLE ${catalog}.main.traces ADD COLUMN sample_rate DOUBLE`],
    },
    {
      // The names of batches that must not be taken twice.
      version: 5,
      statements: (catalog) => [createTable(catalog, NAMED_BATCHES)],
    },
    {
      // How the spans went that the service map counts.
      version: 6,
      statements: (catalog) =>
        ['map_nodes', 'map_edges'].map(
          (table) => `ALTER TABLE ${catalog}.main.${table} ADD COLUMN grade UTINYINT`,
        ),
    },
    {
      // Calls by agent, with the tokens that prices need; filled when the cold file is opened.
      version: 7,
      statements: (catalog) => [createTable(catalog, CALL_SUMS)],
    },
    {
      // The spans of agents' runs, also a derived table.
      version: 8,
      statements: (catalog) => [createTable(catalog, AGENT_SPANS)],
    },
    {
      // Sums of calls by model alone, and what texts the runs of segments have: reads do without them.
      version: 9,
      statements: (catalog) =>
        ['model_sums', 'text_blocks'].map((table) => `DROP TABLE IF EXISTS ${catalog}.main.${table}`),
    },
    {
      // The counted amounts of spans. The sums of calls now contain only these; rebuilt when the cold file is opened.
      version: 10,
      statements: (catalog) => [
        ...['counted_tokens', 'counted_cost'].map(
          (column) => `ALTER TABLE ${catalog}.main.spans ADD COLUMN ${column} BIGINT`,
        ),
        `DELETE FROM ${catalog}.main.${CALL_SUMS.name}`,
      ],
    },
    {
      // Searched texts of log records in addition to the body; null for older records.
      version: 11,
      statements: (catalog) => [`ALTER TABLE ${catalog}.main.logs ADD COLUMN other_text VARCHAR`],
    },
    {
      // How long a run waits for the parents of its topmost spans.
      version: 12,
      statements: (catalog) => [`ALTER TABLE ${catalog}.main.traces ADD COLUMN orphan_wait_ms BIGINT`],
    },
    {
      // Dimensions of runs.
      version: 13,
      statements: (catalog) =>
        ['environment', 'release', 'agent_version', 'repository'].map(
          (column) => `ALTER TABLE ${catalog}.main.traces ADD COLUMN ${column} VARCHAR`,
        ),
    },
    {
      // Scores of runs, spans and responses.
      version: 14,
      statements: (catalog) => [createTable(catalog, SCORES)],
    },
    {
      // Finer buckets of durations in the sums of the service map need larger numbers.
      version: 15,
      statements: (catalog) =>
        ['map_nodes', 'map_edges'].map(
          (table) => `ALTER TABLE ${catalog}.main.${table} ALTER COLUMN grade TYPE INTEGER`,
        ),
    },
    {
      // The session that a score judges, and further data of its sender. Version 14 creates the table as it is now.
      version: 16,
      statements: (catalog) =>
        ['session_id', 'metadata'].map(
          (column) => `ALTER TABLE ${catalog}.main.scores ADD COLUMN IF NOT EXISTS ${column} VARCHAR`,
        ),
    },
    {
      // Which commits may have which words; older commits are searched without.
      version: 17,
      statements: (catalog) => [createTable(catalog, TEXT_FILTERS)],
    },
  ],
};

/** The control store whose numbers of tenants and prompts the rows of all files use, and the id of the store: one row, or none. */
const STORE_IDENTITY = table('store_identity', 'id UUID NOT NULL, control UUID NOT NULL');

/** The state of retention's clock: one row, or none. */
const CLOCK_NOTE = table(
  'clock_note',
  'trusted_at TIMESTAMP NOT NULL, ahead_since TIMESTAMP, ahead_at TIMESTAMP',
);

/** Rows that were quarantined when the file was opened, as DuckDB prints them. Only people read them. */
const UNUSABLE_ROWS = table('unusable_rows', 'table_name VARCHAR NOT NULL, content VARCHAR NOT NULL');

/** The cold file and the hot segments that belong to the store, by their names in its directory. */
export const STORE_FILES = table('store_files', 'name VARCHAR NOT NULL');

const MAIN_TABLES = [STORE_IDENTITY, CLOCK_NOTE, UNUSABLE_ROWS, STORE_FILES] as const;

/** The main file. In its first schema it also held users, keys and all the rest of the control store. */
export const MAIN_SCHEMA: Schema = {
  version: 3,
  create: (catalog) => MAIN_TABLES.map((create) => create(catalog)),
  upgrades: [
    {
      // Which files belong to the store; filled when they are opened.
      version: 3,
      statements: (catalog) => [STORE_FILES(catalog)],
    },
  ],
};

/**
 * Brings an attached file to the schema of this program, in one transaction.
 *
 * @param catalog the name of the attached database; for the main file it is derived from the file's name
 * @param path named in the error
 * @returns the earlier schema of an upgraded file; null if the file was new or current
 * @throws StoreOpenError if a newer program wrote the file, or one too old to upgrade from
 */
export async function migrate(
  connection: Connection,
  catalog: string,
  schema: Schema,
  path: string,
): Promise<number | null> {
  const version = await schemaVersion(connection, catalog);
  if (version === schema.version) return null;
  if (version !== null && version > schema.version) {
    throw new StoreOpenError(
      `The store file ${path} has schema ${version}, but this version of Jackdaw supports only schema ${schema.version}: it was written by a newer version. Start that version, or restore a backup made before the upgrade.`,
    );
  }
  const first = schema.upgrades[0]?.version ?? schema.version + 1;
  if (version !== null && version + 1 < first) {
    throw new StoreOpenError(
      `The store file ${path} has schema ${version}, that of an earlier development version of Jackdaw, which cannot be upgraded to schema ${schema.version}. Start that version, or move the files of this store away (all that begin with its name) to start with an empty one.`,
    );
  }
  const changes =
    version === null
      ? [
          `CREATE TABLE ${catalog}.main.schema_versions (version INTEGER NOT NULL, applied_at TIMESTAMP NOT NULL)`,
          ...schema.create(catalog),
        ]
      : schema.upgrades
          .filter((upgrade) => upgrade.version > version)
          .flatMap((upgrade) => upgrade.statements(catalog));
  const note = `INSERT INTO ${catalog}.main.schema_versions VALUES (${schema.version}, now()::TIMESTAMP)`;
  await connection.run('BEGIN');
  try {
    // All in one call: a store creates a hundred tables at its first start, and the round trips to DuckDB would take as long as
    // creating most of them.
    await connection.run([...changes, note].join(';\n'));
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
  return version;
}

/** Migrates an existing file, and logs an upgrade. @throws StoreOpenError */
export async function upgrade(
  file: { readonly connection: Connection; readonly catalog: string; readonly path: string },
  schema: Schema,
  logger: Logger,
): Promise<void> {
  const from = await migrate(file.connection, file.catalog, schema, file.path);
  if (from !== null) logger.info({ path: file.path, from, to: schema.version }, 'Upgraded a store file.');
}

/** The newest schema version noted in a file; null for a file that has none yet. */
export async function schemaVersion(connection: Connection, name: string): Promise<number | null> {
  const tables = await connection.rows(
    `SELECT 1 AS found FROM duckdb_tables() WHERE database_name = ? AND table_name = 'schema_versions'`,
    [name],
  );
  if (tables.length === 0) return null;
  const [row] = await connection.rows(
    `SELECT max(version)::INTEGER AS version FROM ${identifier(name)}.main.schema_versions`,
  );
  return typeof row?.version === 'number' ? row.version : null;
}

function table(name: string, columns: string): (catalog: string) => string {
  return (catalog) => `CREATE TABLE ${catalog}.main.${name} (${columns})`;
}
