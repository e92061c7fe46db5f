import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { Database, MAIN } from '../../../../src/storage/duckdb/files/database.js';
import { RemoteError, RemoteStore } from '../remote-store.js';
import { filesOf, inOneFile } from '../stored-rows.js';
import { aPoint } from '../../../support/metric-points.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { controlPathOf } from '../../../support/control-store.js';
import { watchWorkers } from '../../../support/watch-workers.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const ALL = { offset: 0, limit: 100 };

/** A closed store with 20 traces, some compacted and some in a hot file. */
async function aClosedStore(t: Test): Promise<{ opened: TestStore; tenant: string }> {
  const opened = await TestStore.open(t, { segmentSize: { rows: 10, bytes: 1e9 } });
  const tenant = await opened.addUser();
  await opened.store.writer.metrics({ tenant, items: [aPoint()] }, RECEIVED);
  for (let i = 0; i < 18; i++) await opened.store.writer.traces({ tenant, items: [aTrace(2)] }, RECEIVED);
  await opened.store.settled();
  await opened.store.writer.traces({ tenant, items: [aTrace(2), aTrace(0)] }, RECEIVED);
  await opened.close();
  return { opened, tenant };
}

function fileNamed(path: string, part: RegExp): string {
  const file = filesOf(path).find((name) => part.test(basename(name)));
  if (file === undefined) throw new Error(`there is no file like ${String(part)}`);
  return file;
}

void t.test('tells a second process who has the store and what to do', async (t) => {
  const { opened } = await aClosedStore(t);
  // Each has its own control store, as if it were shareable.
  const copies = ['first', 'second'].map((name) => join(dirname(opened.path), name));
  for (const copy of copies) copyFileSync(controlPathOf(opened.path), copy);
  const [control = '', another = ''] = copies;
  const first = await RemoteStore.open(t, opened.path, 100, {}, { control });
  await t.rejects(opened.start(), {
    name: 'StoreOpenError',
    message: new RegExp(
      `in use by process ${first.pid}\\. Stop that process, or .* extensions\\.duckdb\\.path`,
    ),
  });
  const second = RemoteStore.open(t, opened.path, 100, {}, { control: another });
  const error: unknown = await second.catch((reason: unknown) => reason);
  t.match(error instanceof RemoteError && error.error, {
    name: 'StoreOpenError',
    message: /in use by process/,
  });
  await first.close();
  await opened.start();
  t.pass('it opens after the first process exits');
});

void t.test('refuses to start with a missing file unless the loss is accepted', async (t) => {
  const { opened, tenant } = await aClosedStore(t);
  const count = async (): Promise<number> => (await opened.store.runs.list(tenant, {}, ALL)).count;
  const find = [/\.cold\./, /\.hot-/].map((part) => (): string => fileNamed(opened.path, part));
  const places = [...find, (): string => `${fileNamed(opened.path, /\.hot-/)}.wal`];
  for (const [i, place] of places.entries()) {
    const path = place();
    renameSync(path, `${path}.away`);
    await t.rejects(opened.start(), {
      name: 'StoreOpenError',
      message: new RegExp(`missing or empty: ${path.replaceAll('.', '\\.')}.*run --accept-loss`),
    });
    renameSync(`${path}.away`, path);
    await opened.start();
    t.equal(await count(), 20 + i, 'all runs are back');
    // Stays in a hot segment.
    await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, RECEIVED);
    await opened.store.writer.metrics({ tenant, items: [aPoint()] }, RECEIVED);
    await opened.close();
  }
  const left = new Set<unknown>();
  for (const file of filesOf(opened.path).filter((name) => name.includes('.hot-')))
    for (const { id } of await inOneFile(file, 'SELECT trace_id::VARCHAR AS id FROM traces')) left.add(id);
  t.ok(left.size > 0, `${left.size} runs are in hot segments`);
  const cold = fileNamed(opened.path, /\.cold\./);
  renameSync(cold, `${cold}.away`);
  await opened.start({ acceptsLoss: true });
  t.equal(await count(), left.size, 'runs outside the missing file are readable');
  const names = async (): Promise<string[]> =>
    (await opened.store.agents.list(tenant)).map(({ name }) => name.replace(/\d+/, 'N')).sort();
  t.same(await names(), ['(lost agent N)'], 'although the name of its agent is lost');
  t.same(
    (await opened.store.metrics.list(tenant)).map(({ name }) => name.replace(/\d+/, 'N')),
    ['(lost metric N)'],
  );
  await opened.close();
  await opened.start();
  t.equal(await count(), left.size, 'the loss is accepted once');
  await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, RECEIVED);
  t.same(await names(), ['(lost agent N)', 'researcher'], 'no number refers to two agents');
  t.equal(await count(), left.size + 1);
});

const FILES = [
  ['main', (path: string) => path],
  ['cold', (path: string) => fileNamed(path, /\.cold\./)],
  ['hot', (path: string) => fileNamed(path, /\.hot-/)],
] as const;

for (const [which, find] of FILES) {
  void t.test(`rejects a ${which} file of a newer version by name`, async (t) => {
    const { opened, tenant } = await aClosedStore(t);
    const file = find(opened.path);
    const version = await setSchemaVersion(file, 999);
    await t.rejects(opened.start(), {
      name: 'StoreOpenError',
      message: new RegExp(
        `${basename(file).replaceAll('.', '\\.')} has schema 999, .* newer version\\. Start that version`,
      ),
    });
    await setSchemaVersion(file, version);
    await opened.start();
    t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 20, 'the file is unchanged');
  });
}

// An invalid hot file is quarantined instead: see quarantine.test.ts.
for (const [which, find] of FILES.filter(([name]) => name !== 'hot')) {
  void t.test(`rejects a ${which} file that is not a database by name`, async (t) => {
    const { opened } = await aClosedStore(t);
    const file = find(opened.path);
    const size = statSync(file).size;
    writeFileSync(file, Buffer.alloc(size, 'garbage'));
    await t.rejects(opened.start(), {
      name: 'StoreOpenError',
      message: new RegExp(`${basename(file).replaceAll('.', '\\.')}.*(backup|move it away)`),
    });
    t.same(readFileSync(file), Buffer.alloc(size, 'garbage'), 'the file is unchanged');
  });
}

void t.test('removes a hot file that was incomplete when the process died', async (t) => {
  const { opened, tenant } = await aClosedStore(t);
  const whole = readFileSync(fileNamed(opened.path, /\.hot-/));
  const name = (n: number): string => join(dirname(opened.path), `jackdaw.hot-0000${n + 1}000.duckdb`);
  // Sizes of partially written first blocks.
  for (const [n, size] of [0, 1, 4096, 8192, 12_288].entries()) {
    writeFileSync(name(n), whole);
    truncateSync(name(n), size);
    await opened.start();
    t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 20, `with ${size} bytes`);
    await opened.store.writer.traces({ tenant, items: [] }, RECEIVED);
    t.notOk(readdirSync(dirname(opened.path)).includes(basename(name(n))), 'the file is gone');
    await opened.close();
  }
});

void t.test('counts a leftover compacted hot file once', async (t) => {
  const { opened, tenant } = await aClosedStore(t);
  const hot = filesOf(opened.path).filter((file) => /\.hot-/.test(file));
  const copies = hot
    .flatMap((file) => [file, `${file}.wal`])
    .map((file) => [file, readFileSync(file)] as const);
  await opened.start();
  await opened.store.settled();
  await opened.close();
  for (const [file, bytes] of copies) writeFileSync(file, bytes);
  await opened.start();
  t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 20);
  await opened.store.settled();
  t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 20);
  await opened.close();
});

void t.test('names the file when the directory cannot be created', async (t) => {
  const directory = t.testdir({ file: 'no directory' });
  const path = join(directory, 'file', 'deeper', 'jackdaw.duckdb');
  await t.rejects(TestStore.open(t, { path }, join(directory, 'control.db')), {
    name: 'StoreOpenError',
    message: /jackdaw\.duckdb/,
  });
});

void t.test('ends the thread of a store that failed to open and can be shut down', async (t) => {
  const { opened } = await aClosedStore(t);
  writeFileSync(opened.path, 'garbage');
  const workers = watchWorkers(t);
  await t.rejects(opened.start(), { name: 'StoreOpenError' });
  t.equal(workers.length, 1);
  t.equal(workers[0]?.threadId, -1, 'the thread exited');
});

void t.test('reports a dead store thread and fails calls as retryable', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.close();
  const workers = watchWorkers(t);
  await opened.start();
  const { store } = opened;
  // DuckDB's bindings abort the process if a thread dies during a statement. Startup ends with preparing the next segment
  // and with retention.
  await store.settled();
  await store.applyRetention();
  await workers[0]?.terminate();
  const unavailable = { name: 'ConsumeError', code: 'storage_unavailable', retryable: true };
  await t.rejects(store.writer.traces({ tenant, items: [aTrace(1)] }, RECEIVED), unavailable);
  await t.rejects(store.agents.list(tenant), unavailable);
  t.match(opened.statuses, [{ level: 'fatal', message: /thread ended/ }]);
  await store.shutdown(AbortSignal.timeout(1000));
});

void t.test('limits the writes waiting for a commit', async (t) => {
  const opened = await TestStore.open(t, { maxQueueBytes: 100_000 });
  const tenant = await opened.addUser();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, () => opened.store.writer.traces({ tenant, items: [aTrace(100)] }, RECEIVED)),
  );
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  t.ok(refused.length > 0 && refused.length < 40, `${refused.length} of 40 are refused`);
  for (const { reason } of refused) {
    t.match(reason, { name: 'ConsumeError', code: 'overloaded', retryable: true, retryAfterMs: 1000 });
  }
  t.match(
    (await opened.settings.meter.print()).text,
    new RegExp(`store_refused_batches_total ${refused.length}\\b`),
  );
  t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 40 - refused.length);
  await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, RECEIVED);
  t.match((await opened.settings.meter.print()).text, /store_queued_bytes 0\b/);
});

void t.test('shutdown completes accepted writes and reads', async (t) => {
  const { opened, tenant } = await aClosedStore(t);
  for (let round = 0; round < 5; round++) {
    await opened.start();
    const { store } = opened;
    const underWay = Promise.allSettled(
      Array.from({ length: 15 }, () => [
        store.writer.traces({ tenant, items: [aTrace(3)] }, RECEIVED),
        store.runs.list(tenant, {}, ALL),
        store.agents.list(tenant),
      ]).flat(),
    );
    await opened.close();
    t.same(
      (await underWay).filter(({ status }) => status === 'rejected'),
      [],
    );
    await t.rejects(store.agents.list(tenant), { code: 'storage_unavailable' });
    await store.shutdown(AbortSignal.timeout(1000));
  }
  await opened.start();
  t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 20 + 5 * 15);
});

/** @returns the previous version */
async function setSchemaVersion(file: string, version: number): Promise<number> {
  const database = await Database.open({ path: file, memoryLimit: '256MiB', threads: 1 });
  const connection = await database.connect();
  const [before] = await connection.rows(`SELECT version FROM ${MAIN}.schema_versions`);
  await connection.run(`UPDATE ${MAIN}.schema_versions SET version = ${version}`);
  database.close();
  return Number(before?.version);
}
