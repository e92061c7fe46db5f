import { createHash } from 'node:crypto';
import { Client } from 'pg';

/** Where a PostgreSQL runs whose databases the API's tests are to use, in place of files of SQLite. */
const SERVER = process.env['JACKDAW_TEST_POSTGRES'];

/** Whether the daemons of API tests have their control store in PostgreSQL: `test/api/on-postgres.test.ts`. */
const IS_ON_POSTGRES = SERVER !== undefined;

/** What a test that needs files beside the control store is skipped for. */
export const NEEDS_FILES = IS_ON_POSTGRES && 'PostgreSQL has no folder for keys';

/** YAML laid over a daemon's configuration that puts its control store into a database. */
export function postgresOverlay(url: string): string {
  return JSON.stringify({
    // Without a folder no key can be made.
    secrets: { key: Buffer.alloc(32, 'k').toString('base64') },
    extensions: {
      postgres: { url, connections: 4 },
      duckdb: { control: 'postgres' },
      query: { control: 'postgres' },
    },
    receivers: { outbox: { control: 'postgres' } },
    processors: { quota: { control: 'postgres' } },
    exporters: { webhook: { control: 'postgres' }, alerts: { control: 'postgres' } },
    service: { extensions: ['postgres', 'duckdb', 'query', 'health'] },
  });
}

/** The database that belongs to a test's folder, made where it is missing. @returns its URL; undefined where SQLite is to be used */
export async function databaseOf(directory: string): Promise<string | undefined> {
  if (SERVER === undefined) return undefined;
  const name = `t${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`;
  const client = new Client({ connectionString: SERVER });
  await client.connect();
  try {
    const known = await client.query('select from pg_database where datname = $1', [name]);
    if (known.rowCount === 0) await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  return new URL(name, SERVER).href;
}
