import { join } from 'node:path';
import type { Test } from 'tap';
import type { Connection } from '../../../src/storage/duckdb/files/connection.js';
import { Database, literal } from '../../../src/storage/duckdb/files/database.js';
import { testFolder } from '../../support/test-folder.js';

/**
 * A database with a second file attached as `cold`. Closed when the test ends.
 *
 * @param options attachment options in parentheses
 */
export async function openTwoFiles(
  t: Pick<Test, 'testdir' | 'teardown'>,
  options = '',
): Promise<{ readonly database: Database; readonly writer: Connection }> {
  const folder = testFolder(t);
  const database = await Database.open({
    path: join(folder, 'main.duckdb'),
    memoryLimit: '256MiB',
    threads: 1,
  });
  t.teardown(() => {
    database.close();
  });
  const writer = await database.connect();
  await writer.run(`ATTACH ${literal(join(folder, 'cold.duckdb'))} AS cold ${options}`);
  return { database, writer };
}
