import { createHash } from 'node:crypto';
import { Client } from 'pg';

/** The PostgreSQL server for the API tests, instead of SQLite files. */
const SERVER = process.env['JACKDAW_TEST_POSTGRES'];

/** Whether the API tests use PostgreSQL for the control store: `test/api/on-postgres.test.ts`. */
const IS_ON_POSTGRES = SERVER !== undefined;

/** Skip reason for tests that need files next to the control store. */
export const NEEDS_FILES = IS_ON_POSTGRES && 'PostgreSQL has no folder for keys';

/** YAML overlay that stores the control store in a database. */
export function postgresOverlay(url: string): string {
  return JSON.stringify({
    // PostgreSQL has no directory in which a key could be generated.
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

/** The database of a test's folder, created if missing. @returns its URL; undefined for SQLite */
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
