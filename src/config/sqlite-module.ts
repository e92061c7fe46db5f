import type { DatabaseSync } from '@photostructure/sqlite';

/** What both drivers of SQLite have: Node's own, and the one that copies its interface. */
export interface SqliteModule {
  readonly DatabaseSync: typeof DatabaseSync;
}

/**
 * Node's own `node:sqlite`, where it needs no flag (from 22.13 on), else `@photostructure/sqlite`, which runs from Node 20 on.
 *
 * @throws Error where the platform has neither
 */
export async function loadSqlite(): Promise<SqliteModule> {
  const own: unknown = process.getBuiltinModule('node:sqlite');
  if (isSqliteModule(own)) return own;
  return await import('@photostructure/sqlite');
}

function isSqliteModule(found: unknown): found is SqliteModule {
  return typeof found === 'object' && found !== null && 'DatabaseSync' in found;
}
