import type { Database } from '../../../src/storage/duckdb/files/database.js';

/** The queries a database runs during some work, in order, from DuckDB's own log. */
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
    // Files opened meanwhile are queried for their tables.
    return logged
      .map(({ message }) => String(message))
      .filter((query) => query.startsWith('SELECT') && !query.includes('duckdb_tables()'));
  } finally {
    connection.close();
  }
}

/** Number of table rows these queries scan on the current files, as counted by DuckDB. */
export async function rowsScannedBy(database: Database, queries: readonly string[]): Promise<number> {
  const connection = await database.connect();
  try {
    let rows = 0;
    for (const query of queries) {
      const [plan] = await connection.rows(`EXPLAIN (ANALYZE, FORMAT json) ${query}`);
      const { cumulative_rows_scanned: scanned } = JSON.parse(String(plan?.explain_value)) as {
        cumulative_rows_scanned: number;
      };
      rows += scanned;
    }
    return rows;
  } finally {
    connection.close();
  }
}
