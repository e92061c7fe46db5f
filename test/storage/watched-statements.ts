import type { Database } from '../../src/storage/duckdb/database.js';

/** The queries that a database runs while something is done with it, in their order: what DuckDB itself logs of them. */
export async function queriesDuring(database: Database, work: () => Promise<unknown>): Promise<string[]> {
  const connection = await database.connect();
  try {
    await connection.run("CALL enable_logging('QueryLog')");
    try {
      await work();
    } finally {
      await connection.run('CALL disable_logging()');
    }
    const logged = await connection.rows("SELECT message FROM duckdb_logs WHERE type = 'QueryLog'");
    await connection.run('CALL truncate_duckdb_logs()');
    return logged.map(({ message }) => String(message)).filter((query) => query.startsWith('SELECT'));
  } finally {
    connection.close();
  }
}
