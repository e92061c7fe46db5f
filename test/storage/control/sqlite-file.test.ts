import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import { loadSqlite } from '../../../src/config/sqlite-module.js';
import { openSqlite } from '../../../src/storage/control/sqlite/open-sqlite.js';
import { HandClock } from '../../support/hand-clock.js';
import { testFolder } from '../../support/test-folder.js';

const WRITER = fileURLToPath(new URL('../../support/control-writer-app.js', import.meta.url));
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 4);
/** Facts per transaction of the writer. */
const FACTS = 3;
const LONG = 600_000;

const clock = new HandClock();

async function openStore(path: string): Promise<SqlControlStore> {
  return new SqlControlStore(await openSqlite({ path, clock }));
}

/** A path in a missing directory. */
function newPath(t: Test): string {
  return join(testFolder(t), 'data', 'jackdaw.control.db');
}

/** Runs statements on a file as another program. */
async function meddle(path: string, statements: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const file = new DatabaseSync(path);
  file.exec(statements);
  file.close();
}

void t.test(
  'restricts the file and its directory to the owner and leaves one file when closed',
  async (t) => {
    const path = newPath(t);
    const store = await openStore(path);
    await store.leases.take('a', 'b', 1);
    const folder = join(path, '..');
    t.equal(statSync(folder).mode & 0o777, 0o700);
    for (const name of readdirSync(folder)) t.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
    t.same(readdirSync(folder).sort(), ['jackdaw.control.db', 'jackdaw.control.db-wal']);
    await store.close();
    await store.close();
    t.same(readdirSync(folder), ['jackdaw.control.db']);
    chmodSync(path, 0o644);
    await (await openStore(path)).close();
    t.equal(statSync(path).mode & 0o777, 0o600, 'permissions are restored');
    await t.rejects(store.leases.take('a', 'b', 1), { code: 'storage_unavailable', retryable: true });
  },
);

void t.test('names an export that cannot be written and continues', async (t) => {
  const path = newPath(t);
  const store = await openStore(path);
  const nowhere = join(path, '..', 'nowhere');
  await t.rejects(store.transfer.export(nowhere), {
    name: 'Error',
    message: `${join(nowhere, 'snapshot.sqlite')} cannot be written: SQLite error 14 (unable to open database)`,
  });
  t.ok(await store.leases.take('a', 'b', 1));
  await store.check();
  await store.close();
});

void t.test('locks the file for one process', async (t) => {
  const path = newPath(t);
  const store = await openStore(path);
  const refused = {
    name: 'ControlStoreError',
    message: `The control store ${path} is in use by another process.`,
  };
  await t.rejects(openStore(path), refused, 'not even twice by the same process');
  const writer = spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'ignore', 'pipe'] });
  let message = '';
  writer.stderr.on('data', (chunk: Buffer) => (message += chunk.toString()));
  const [code] = (await once(writer, 'close')) as [number];
  t.not(code, 0);
  t.match(message, refused.message);
  t.ok(await store.leases.take('a', 'b', LONG), 'the store continues');
  await store.close();
  const again = await openStore(path);
  t.match(await again.leases.take('a', 'c', LONG), { token: 2 }, 'its lease ends with it');
  await again.close();
});

void t.test('rejects other databases and leaves them unchanged', async (t) => {
  const path = newPath(t);
  await (await openStore(path)).close();
  const folder = join(path, '..');
  const text = join(folder, 'text.db');
  writeFileSync(text, 'this is no database, and it is long enough to have had a header\n'.repeat(20));
  const foreign = join(folder, 'foreign.db');
  await meddle(foreign, 'create table bookmarks (url text)');
  for (const [file, message] of [
    [text, `The file ${text} is not a control store`],
    [foreign, `The file ${foreign} is a database of another program`],
  ] as const) {
    const before = readFileSync(file);
    await t.rejects(openStore(file), { name: 'ControlStoreError', message });
    t.ok(readFileSync(file).equals(before));
  }
  const damaged = Buffer.from(readFileSync(path));
  damaged.fill(0xff, 100, 4000);
  writeFileSync(path, damaged);
  await t.rejects(openStore(path), { name: 'ControlStoreError', message: path });
});

void t.test('rejects a store of a newer version with a remedy', async (t) => {
  const path = newPath(t);
  await (await openStore(path)).close();
  await meddle(
    path,
    "insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01T00:00:00.000Z')",
  );
  await t.rejects(openStore(path), {
    name: 'ControlStoreError',
    message: /created by a newer version of Jackdaw \(it has 9999-later\)\. Run that version/,
  });
  await meddle(path, "delete from kysely_migration where name = '9999-later'");
  await (await openStore(path)).close();
});

void t.test('keeps acknowledged transactions whole after kill -9', async (t) => {
  const path = newPath(t);
  for (let round = 1; round <= KILLS; round++) {
    const writer = spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => writer.kill('SIGKILL'));
    const exited = once(writer, 'exit');
    const stored = new Map<string, number>();
    let lines = 0;
    for await (const line of createInterface({ input: writer.stdout })) {
      const [source = '', mark] = line.split(' ');
      stored.set(source, Number(mark));
      // Several transactions are always in progress, so some are interrupted.
      if (++lines === 25 * round) writer.kill('SIGKILL');
    }
    t.same(await exited, [null, 'SIGKILL']);
    const store = await openStore(path);
    const { events } = await store.events.read('0', { events: 1e6, bytes: 1e9 });
    for (const [source, acknowledged] of stored) {
      const mark = Number(await store.events.markOf(source));
      t.ok(mark >= acknowledged);
      t.equal(events.filter(({ tenant }) => tenant === source).length, mark * FACTS);
    }
    await store.close();
  }
});
