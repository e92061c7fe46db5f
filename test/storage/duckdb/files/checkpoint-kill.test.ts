import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { checkpoint } from '../../../../src/storage/duckdb/files/checkpoint.js';
import { Connection } from '../../../../src/storage/duckdb/files/connection.js';
import { Database, MAIN } from '../../../../src/storage/duckdb/files/database.js';
import { testFolder } from '../../../support/test-folder.js';

const HEAD_BYTES = 3 * 4096;
const PAGE_BYTES = 4096;

/** Fails after the checkpoint, before later steps. */
class Dying extends Connection {
  override async run(sql: string): Promise<void> {
    await super.run(sql);
    if (sql.startsWith('CHECKPOINT')) throw new Error('killed');
  }
}

async function openDatabase(path: string): Promise<Database> {
  return await Database.open({ path, memoryLimit: '256MiB', threads: 1 });
}

async function rowsOf(path: string): Promise<number> {
  const database = await openDatabase(path);
  try {
    const [row] = await (await database.connect()).rows(`SELECT count(*) AS rows FROM ${MAIN}.main.t`);
    return Number(row?.rows);
  } finally {
    database.close();
  }
}

/**
 * A file of 2000 rows, 1000 of them in its log, before a checkpoint (`before`) and after one whose process died
 * before recording it (`path`), with the metadata copy next to it.
 */
async function diedInCheckpoint(folder: string) {
  const path = join(folder, 'jackdaw.duckdb');
  const before = join(folder, 'before.duckdb');
  const database = await openDatabase(path);
  const connection = await database.connect();
  await connection.run(`USE ${MAIN}`);
  await connection.run('CREATE TABLE t (a BIGINT, b VARCHAR)');
  await connection.run("INSERT INTO t SELECT range, 'text ' || range FROM range(1000)");
  await checkpoint(connection, MAIN);
  await connection.run("INSERT INTO t SELECT range, 'text ' || range FROM range(1000)");
  for (const end of ['', '.wal']) await copyFile(`${path}${end}`, `${before}${end}`);
  const { raw, files } = connection;
  await t.rejects(checkpoint(new Dying(raw, files), MAIN), { message: 'killed' });
  database.close();
  return { path, before };
}

void t.test('DuckDB rejects a file whose process died while writing a metadata block', async (t) => {
  const { path, before } = await diedInCheckpoint(testFolder(t));
  await tear(before, path);
  await t.rejects(
    rowsOf(before),
    { message: /Corrupt database file/ },
    'if this fails, the copy is no longer needed',
  );
});

void t.test(
  'restores the state before the checkpoint from the copy without losing log entries',
  async (t) => {
    const { path, before } = await diedInCheckpoint(testFolder(t));
    await tear(before, path);
    await rename(`${path}.metadata`, `${before}.metadata`);
    t.equal(await rowsOf(before), 2000);
    t.notOk(existsSync(`${before}.metadata`));
    t.equal(await rowsOf(before), 2000);
  },
);

void t.test('keeps a completed checkpoint', async (t) => {
  const { path } = await diedInCheckpoint(testFolder(t));
  const after = await readFile(path);
  t.ok(existsSync(`${path}.metadata`));
  t.equal(await rowsOf(path), 2000);
  t.notOk(existsSync(`${path}.metadata`));
  t.ok(after.equals(await readFile(path)), 'the file was not restored');
});

void t.test('ignores an incomplete copy', async (t) => {
  const folder = testFolder(t);
  const { path } = await diedInCheckpoint(folder);
  await rename(`${path}.metadata`, `${path}.metadata.new`);
  await writeFile(`${path}.metadata.new`, 'half of it');
  t.equal(await rowsOf(path), 2000);
});

void t.test('a checkpoint does not release the file lock', async (t) => {
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const database = await openDatabase(path);
  t.teardown(() => {
    database.close();
  });
  const connection = await database.connect();
  await connection.run(`CREATE TABLE ${MAIN}.main.t (a BIGINT)`);
  for (let i = 0; i < 2; i++) {
    await connection.run(`INSERT INTO ${MAIN}.main.t VALUES (1)`);
    await checkpoint(connection, MAIN);
  }
  const module = new URL('../../../../src/storage/duckdb/files/database.js', import.meta.url).href;
  const options = JSON.stringify({ path, memoryLimit: '256MiB', threads: 1 });
  const script = `const { Database } = await import('${module}'); (await Database.open(${options})).close();`;
  const other = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  t.not(other.status, 0);
  t.match(other.stderr, new RegExp(`is in use by process ${process.pid}`));
});

/** Simulates a killed write: the first page of a block is as after the checkpoint. */
async function tear(before: string, after: string): Promise<void> {
  const written = (await readFile(after)).subarray(HEAD_BYTES, HEAD_BYTES + PAGE_BYTES);
  const file = await open(before, 'r+');
  try {
    await file.write(written, 0, written.length, HEAD_BYTES);
  } finally {
    await file.close();
  }
}
