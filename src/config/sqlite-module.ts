import type { DatabaseSync } from '@photostructure/sqlite';

/** The interface shared by both SQLite drivers: Node's own, and the one that copies it. */
export interface SqliteModule {
  readonly DatabaseSync: typeof DatabaseSync;
}

/**
 * Node's own `node:sqlite` if it needs no flag (from 22.13 on), otherwise `@photostructure/sqlite`, which supports Node 20.
 *
 * @throws Error if the platform has neither
 */
export async function loadSqlite(): Promise<SqliteModule> {
  const own: unknown = process.getBuiltinModule('node:sqlite');
  if (isSqliteModule(own)) return own;
  return await import('@photostructure/sqlite');
}

function isSqliteModule(found: unknown): found is SqliteModule {
  return typeof found === 'object' && found !== null && 'DatabaseSync' in found;
}
