import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../src/storage/duckdb/database.js';
import { ReadPool } from '../../src/storage/duckdb/read-pool.js';
import { testFolder } from '../support/test-folder.js';

void t.test('reads beyond the line are refused and counted; those in it are served', async (t) => {
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const database = await Database.open({ path, memoryLimit: '128MB', threads: 1 });
  const pool = await ReadPool.open(database, 1, 1);
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => (end = resolve));
  const first = pool.use(() => held);
  const second = pool.use(async (connection) => connection.rows('SELECT 42 AS answer'));
  t.equal(pool.waiting, 1);
  for (const time of [1, 2]) {
    await t.rejects(
      pool.use(async () => 'never'),
      { code: 'overloaded', retryable: true, retryAfterMs: 1000 },
    );
    t.equal(pool.refused, time);
  }
  end();
  await first;
  t.match(await second, [{ answer: 42 }]);
  t.equal(await pool.use(async () => 'again'), 'again');
  t.equal(pool.refused, 2);
  await pool.close();
  database.close();
});
