import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Status } from '../../../../src/component/status.js';
import type { DuckDBStoreOptions } from '../../../../src/storage/duckdb/client/store.js';
import { loadSqlite } from '../../../../src/config/sqlite-module.js';
import { ApiCaller } from '../../../support/api-caller.js';
import { spawnDaemon } from '../../../support/process.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { smallDisk, type SmallDisk } from '../../../support/small-disk.js';
import { testFolder } from '../../../support/test-folder.js';
import { anItem } from '../../../support/trace-batch.js';
import { until } from '../../../support/until.js';
import { RemoteError, RemoteStore } from '../remote-store.js';

const NO_DISK = 'file systems cannot be mounted here';
const DAY = 86_400_000_000;
const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 1 };
const MIB = 1024 * 1024;
const FULL = { name: 'ConsumeError', code: 'storage_unavailable', retryable: true, retryAfterMs: 5000 };
const USER = {
  id: '00000000-0000-4000-8000-000000000001',
  email: 'somebody@example.org',
  name: 'somebody',
  monthly_event_limit: null,
  stored_bytes_limit: null,
  disabled: false,
  created_at: NOON,
};

/** A store on a small disk, with its control store elsewhere. */
class FullStore {
  readonly #t: Test;
  readonly disk: SmallDisk;
  #store: RemoteStore | null = null;

  constructor(t: Test, disk: SmallDisk) {
    this.#t = t;
    this.disk = disk;
  }

  get store(): RemoteStore {
    if (this.#store === null) throw new Error('the store of this test is closed');
    return this.#store;
  }

  async open(options: Partial<DuckDBStoreOptions> = {}): Promise<RemoteStore> {
    const path = join(this.disk.path, 'jackdaw.duckdb');
    const size = { memoryLimit: '64MiB', ...options };
    const { through } = this.disk;
    this.#store = await RemoteStore.open(this.#t, path, 300, size, { through });
    return this.#store;
  }

  async write(count: number, startedAt = NOON): Promise<void> {
    const items = Array.from({ length: count }, () => aTrace(4, { started_at: startedAt }));
    await this.store.call('writer.traces', { tenant: USER.id, items }, RECEIVED);
  }

  async count(): Promise<number> {
    return (await this.store.call<{ count: number }>('runs.list', USER.id, {}, PAGE)).count;
  }

  /** Null if the store is currently unreadable. */
  async countNow(): Promise<number | null> {
    try {
      return await this.count();
    } catch (error) {
      if (error instanceof RemoteError && isUnavailable(error.error)) return null;
      throw error;
    }
  }

  async refusal(): Promise<unknown> {
    return await this.write(1).then(
      () => 'taken',
      (reason: unknown) => (reason instanceof RemoteError ? reason.error : reason),
    );
  }

  async lastStatus(): Promise<Status | undefined> {
    return (await this.store.call<Status[]>('statuses')).at(-1);
  }
}

function isUnavailable(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'storage_unavailable'
  );
}

async function open(t: Test): Promise<FullStore | null> {
  const disk = await smallDisk(t, testFolder(t), 48 * MIB);
  return disk === null ? null : new FullStore(t, disk);
}

for (const how of ['kill', 'close'] as const)
  void t.test(`reads a store on a full disk without a reserve after a ${how}`, async (t) => {
    const full = await open(t);
    if (full === null) {
      t.pass(NO_DISK);
      return;
    }
    await full.open();
    await full.store.call('createUser', USER);
    for (let i = 0; i < 12; i++) await full.write(10);
    await full.store[how]();
    full.disk.fill();
    t.equal(full.disk.free(), 0);
    await full.open();
    t.equal(await full.count(), 120);
    t.match(await full.refusal(), FULL);
    t.match(await full.refusal(), { ...FULL, message: /disk of the store is full/ });
    t.match(await full.lastStatus(), { level: 'recoverable', message: /disk of the store is full/ });
    if (how === 'kill') {
      // Restart once more, as a supervisor would.
      await full.store.kill();
      await full.open();
      t.equal(await full.count(), 120);
    }
    full.disk.empty();
    await until('writes are taken', async () => (await full.refusal()) === 'taken');
    t.match(await full.lastStatus(), { level: 'ok' });
    t.equal(await full.count(), 121);
    await full.store.kill();
    await full.open();
    t.equal(await full.count(), 121);
  });

void t.test('retention frees space on a full disk, and writes continue', async (t) => {
  const full = await open(t);
  if (full === null) {
    t.pass(NO_DISK);
    return;
  }
  const reserveBytes = 8 * MIB;
  const reserve = join(full.disk.seen, 'jackdaw.reserve');
  const hasReserve = async (): Promise<boolean> =>
    existsSync(reserve) && statSync(reserve).size === reserveBytes;
  await full.open({ reserveBytes });
  await until('there is a reserve', hasReserve);
  await full.store.call('createUser', USER);
  for (let i = 0; i < 12; i++) await full.write(10, NOON - 20 * DAY);
  await full.write(5);
  await full.store.call('settled');
  await full.store.kill();
  full.disk.fill();
  await full.open({ reserveBytes, traceRetentionDays: 7 });
  t.match(await full.lastStatus(), { level: 'recoverable', message: /disk of the store is full/ });
  t.match(await full.refusal(), FULL);
  // After a checkpoint ran out of space, DuckDB rejects the file until it is reattached; reads are retried.
  await until('old runs are removed', async () => (await full.countNow()) === 5);
  t.notOk(existsSync(reserve));
  full.disk.empty();
  await until('writes are taken', async () => (await full.refusal()) === 'taken');
  t.ok(await hasReserve(), 'the reserve exists again');
  t.equal(await full.count(), 6);
});

void t.test('reports a disk that fills up while the store is open until space is free', async (t) => {
  const full = await open(t);
  if (full === null) {
    t.pass(NO_DISK);
    return;
  }
  await full.open({ reserveBytes: MIB });
  await full.store.call('createUser', USER);
  await full.write(1);
  full.disk.fill();
  await until('writes are refused', async () => (await full.refusal()) !== 'taken');
  t.match(await full.lastStatus(), { level: 'recoverable', message: /disk of the store is full/ });
  t.match(await full.refusal(), { ...FULL, message: /disk of the store is full/ });
  const count = await full.count();
  full.disk.empty();
  await until('writes are taken', async () => (await full.refusal()) === 'taken');
  t.equal(await full.count(), count + 1);
  t.match(await full.lastStatus(), { level: 'ok' });
});

void t.test('the daemon reports a full disk and recovers automatically', async (t) => {
  const directory = testFolder(t);
  const disk = await smallDisk(t, directory, 48 * MIB);
  if (disk === null) {
    t.pass(NO_DISK);
    return;
  }
  const place = (name: string): string => JSON.stringify(join(disk.path, name));
  const overlay = `extensions:
  duckdb: { path: ${place('jackdaw.duckdb')} }
  sqlite: { path: ${place('jackdaw.control.db')} }
`;
  const first = await spawnDaemon(t, { overlay, directory, through: disk.through });
  const send = async (api: ApiCaller): Promise<number> =>
    (await api.call('POST', '/traces/batch', { json: { traces: [anItem()] } })).status;
  const makeUser = async (api: ApiCaller): Promise<number> => {
    const json = { email: `${randomUUID()}@example.org`, name: 'x'.repeat(90) };
    return (await api.call('POST', '/admin/users', { json })).status;
  };
  t.equal(await send(new ApiCaller(first.url, first.key)), 200);
  t.equal(await makeUser(new ApiCaller(first.url, first.key)), 201);
  // Shut down in order: the control store must write when it opens after a crash.
  await first.stop();
  disk.fill();
  const { key } = first;
  // With an event reader that the control store cannot record now.
  const late = `receivers: { outbox/late: {} }
exporters: { debug: {} }
service: { pipelines: { events/late: { receivers: [outbox/late], exporters: [debug] } } }
`;
  const daemon = await spawnDaemon(t, {
    ...{ directory, key, through: disk.through },
    overlay: `${overlay}${late}`,
  });
  const api = new ApiCaller(daemon.url, key);
  t.equal((await api.get<{ count: number }>('/dashboard/traces')).count, 1);
  await until('writes are refused', async () => (await send(api)) === 503);
  await until('users are refused', async () => {
    // The reserve of the store provides space at first.
    disk.fill();
    return (await makeUser(api)) === 503;
  });
  const ready = async (): Promise<string> => {
    const answer = await fetch(`${daemon.healthUrl}/readyz`);
    return `${String(answer.status)} ${await answer.text()}`;
  };
  await until('the state is reported', async () => /Nothing can be written to/.test(await ready()));
  t.match(await ready(), /jackdaw\.control\.db: SQLite error 13 .*Free space/);
  const isLateDegraded = /"outbox\/late","state":"degraded"/;
  await until('the new reader reports it too', async () => isLateDegraded.test(await ready()));
  t.match(await ready(), /^503 .*"id":"duckdb","state":"recoverable"/, 'clients would get 503');
  disk.empty();
  await until('writes are taken', async () => (await send(api)) === 200);
  await until('users are taken', async () => (await makeUser(api)) === 201);
  t.equal((await api.get<{ count: number }>('/dashboard/traces')).count, 2);
  await until('all is well', async () => !/"state":"(degraded|recoverable)"/.test(await ready()));
  const log = `${daemon.stdout()}${daemon.stderr()}`.split('\n');
  const lines = log.filter((line) => line.includes('SQLite error 13')).length;
  t.ok(lines > 0 && lines < 100, `the log is not flooded: ${String(lines)} lines`);
  await daemon.stop();
  const { DatabaseSync } = await loadSqlite();
  const file = new DatabaseSync(join(disk.seen, 'jackdaw.control.db'));
  t.match(file.prepare('pragma integrity_check').all(), [{ integrity_check: 'ok' }]);
  file.close();
});
