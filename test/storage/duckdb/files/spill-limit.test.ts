import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../../../src/storage/duckdb/files/database.js';
import { testFolder } from '../../../support/test-folder.js';
import { until } from '../../../support/until.js';

void t.test('rechecks the free disk space after a spill failed', async (t) => {
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const database = await Database.open({ path, memoryLimit: '32MiB', threads: 1 });
  t.teardown(() => {
    database.close();
  });
  const connection = await database.connect();
  const limit = async () =>
    (await connection.rows(`SELECT current_setting('max_temp_directory_size') AS bytes`))[0]?.['bytes'];
  // The limit DuckDB sets when the disk is nearly full.
  await connection.run(`SET GLOBAL max_temp_directory_size = '1MiB'`);
  const small = await limit();
  const large =
    'CREATE OR REPLACE TEMP TABLE large AS SELECT hash(i) AS x, hash(i + 1) AS y FROM range(4000000) t(i)';
  await t.rejects(connection.run(large), /max_temp_directory_size/);
  await until('the clock was checked', async () => (await limit()) !== small);
  await connection.run(large);
});

void t.test('statements access only files in the store directory', async (t) => {
  const folder = testFolder(t);
  const database = await Database.open({
    path: join(folder, 'store', 'jackdaw.duckdb'),
    memoryLimit: '64MiB',
    threads: 1,
  });
  t.teardown(() => {
    database.close();
  });
  const connection = await database.connect();
  await connection.copyTo(join(folder, 'store', 'one.parquet'), 'SELECT 1 AS one');
  const refused = /Permission Error/;
  await t.rejects(connection.copyTo(join(folder, 'one.parquet'), 'SELECT 1 AS one'), refused);
  await t.rejects(connection.run(`ATTACH '${join(folder, 'other.duckdb')}' AS other`), refused);
  await t.rejects(connection.rows("SELECT content FROM read_text('/etc/hosts')"), refused);
  await t.rejects(connection.run('SET GLOBAL enable_external_access = true'), /locked/);
});
