import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { readManifest } from '../../src/storage/transfer/manifest.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess, type CommandOutput } from '../support/cli.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { PostgresServer } from '../support/postgres.js';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { smallDisk, type SmallDisk } from '../support/small-disk.js';
import { testFolder } from '../support/test-folder.js';
import { anItem, type Item } from '../support/trace-batch.js';
import { inClickHouse, TransferPlace } from '../support/transfer-place.js';
import { until } from '../support/until.js';

const run = promisify(execFile);
const DISK_BYTES = 64 * 1024 * 1024;
const REQUESTS = 20;
const AT_ONCE = 5;
const RUNS = 20;
const NOISE_BYTES = 4000;

interface FailedExport {
  readonly under_way: unknown;
  readonly failed: { readonly directory: string; readonly message: string } | null;
}

/** Exports of a daemon into a directory on a small disk, separate from that of its stores. */
class Exports {
  readonly target: string;
  /** The directory as this process sees it. */
  readonly seen: string;
  readonly #disk: SmallDisk;
  readonly #daemon: DaemonProcess;
  readonly #api: ApiCaller;

  constructor(disk: SmallDisk, daemon: DaemonProcess, api: ApiCaller) {
    this.target = join(disk.path, 'export');
    this.seen = join(disk.seen, 'export');
    this.#disk = disk;
    this.#daemon = daemon;
    this.#api = api;
  }

  async begin(): Promise<CommandOutput> {
    const { url, key } = this.#daemon;
    return await runInProcess(['export', '--to', this.target, '--url', url, '--key', key]);
  }

  /** Runs an action while files are being written and the daemon is suspended. */
  async during(happens: () => unknown): Promise<CommandOutput> {
    const exporting = this.begin();
    await until('files are written', () => existsSync(join(this.seen, 'telemetry', 'agents.parquet')));
    const { child } = this.#daemon;
    child.kill('SIGSTOP');
    await until('the daemon is suspended', () =>
      /\) T/.test(readFileSync(`/proc/${String(child.pid)}/stat`, 'utf8')),
    );
    await happens();
    child.kill('SIGCONT');
    return await exporting;
  }

  /** Mounts in the namespace that sees the disk. */
  async mount(...args: readonly string[]): Promise<void> {
    const [command = '', ...before] = this.#disk.through;
    await run(command, [...before, ...args]);
  }

  /** Checks the error and that no resources are held. */
  async failedWith(t: Test, { code, stderr }: CommandOutput, message: RegExp): Promise<void> {
    t.equal(code, 1);
    t.match(stderr, message);
    const { under_way, failed } = await this.#api.get<FailedExport>('/admin/export');
    t.equal(under_way, null);
    t.match(failed, { directory: this.target, message });
    const files = readdirSync(`/proc/${String(this.#daemon.child.pid)}/fd`).map((fd) =>
      readlinkSync(`/proc/${String(this.#daemon.child.pid)}/fd/${fd}`),
    );
    t.strictSame(
      files.filter((file) => /\/export\//.test(file)),
      [],
      'no file is open',
    );
    const ready = await fetch(`${this.#daemon.healthUrl}/readyz`);
    t.equal(ready.status, 200);
    t.notMatch(await ready.text(), /"state":"(degraded|recoverable)"/);
  }
}

async function checkFullDisk(
  t: Test,
  options: { readonly overlay?: string; readonly postgres?: string },
  isAtRest: () => Promise<void>,
): Promise<void> {
  const disk = await smallDisk(t, testFolder(t), DISK_BYTES);
  if (disk === null) {
    t.pass('file systems cannot be mounted here');
    return;
  }
  const daemon = await spawnDaemon(t, { ...options, through: disk.through });
  const api = new ApiCaller(daemon.url, daemon.key);
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => api.send(Array.from({ length: RUNS }, aNoisyItem))),
    );
  // Writes continue regardless of exports.
  const statuses: number[] = [];
  const isOver = new AbortController();
  const writing = (async () => {
    while (!isOver.signal.aborted) {
      statuses.push((await api.call('POST', '/traces/batch', { json: { traces: [anItem()] } })).status);
      await wait(20);
    }
  })();
  const exports = new Exports(disk, daemon, api);
  const { target, seen } = exports;
  const NO_ROOM = new RegExp(
    `Not enough disk space for the export in ${target}: free space, or use a directory on another disk`,
  );

  await t.test('reports a disk that is already full', async (t) => {
    disk.fill();
    await exports.failedWith(t, await exports.begin(), NO_ROOM);
    t.notOk(existsSync(seen));
    disk.empty();
    await isAtRest();
  });

  await t.test('reports a disk that fills up during the export', async (t) => {
    const failed = await exports.during(() => {
      disk.fill();
    });
    await exports.failedWith(t, failed, NO_ROOM);
    t.match(failed.stderr, /The partial export was removed/);
    t.notOk(existsSync(seen));
    disk.empty();
    await isAtRest();
  });

  await t.test('reports a directory that becomes read-only', async (t) => {
    const failed = await exports.during(async () => {
      await exports.mount('mount', '--bind', target, target);
      await exports.mount('mount', '-o', 'remount,bind,ro', target);
    });
    await exports.failedWith(
      t,
      failed,
      new RegExp(`${target} cannot be written: .*could not be removed .*: remove the directory before`, 'i'),
    );
    await isAtRest();
    // Unmounting fails while a file in the directory is open.
    await exports.mount('umount', target);
    const again =
      /holds an export that is in progress or was interrupted.*remove the directory and export again/;
    await exports.failedWith(t, await exports.begin(), again);
    t.match(await new TransferPlace(t).import(seen), {
      code: 2,
      stderr: /holds an export that is in progress or was interrupted.*export again/,
    });
    rmSync(seen, { recursive: true });
  });

  const done = await exports.begin();
  t.equal(done.code, 0, done.stderr);
  t.match(await api.get<FailedExport>('/admin/export'), { under_way: null, failed: null });
  t.notOk(existsSync(join(seen, 'INCOMPLETE')));
  const { files } = await readManifest(seen);
  const runs = files.find(({ path }) => path === 'telemetry/runs.parquet')?.rows ?? 0;
  t.ok(runs >= REQUESTS * RUNS);
  await isAtRest();
  isOver.abort();
  await writing;
  t.strictSame(
    statuses.filter((status) => status !== 200),
    [],
    'nothing was refused meanwhile',
  );
  const { count } = await api.get<{ readonly count: number }>('/dashboard/traces');
  t.equal(count, REQUESTS * RUNS + statuses.length, 'nothing was lost');
}

/** An incompressible item. */
function aNoisyItem(): Item {
  const { trace, spans } = anItem({ spans: 2 });
  const noise = () => randomBytes(NOISE_BYTES).toString('base64');
  return { trace, spans: spans.map((span) => ({ ...span, input_data: { noise: noise() } })) };
}

t.setTimeout(120_000);
void t.test('embedded stores report an export without disk space', async (t) => {
  await checkFullDisk(t, {}, async () => undefined);
});

const [postgres, server] = [await PostgresServer.start(t), await ClickHouseServer.start(t)];
const skip = typeof postgres === 'string' ? postgres : typeof server === 'string' ? server : false;

void t.test('ClickHouse and PostgreSQL report an export without disk space', { skip }, async (t) => {
  if (typeof postgres === 'string' || typeof server === 'string') return;
  const database = server.newDatabase();
  const options = { overlay: inClickHouse(server, database), postgres: await postgres.createDatabase() };
  await checkFullDisk(t, options, async () => {
    const held = await postgres.query(
      `select name from leases where name like '%/export' and expires_at > 0`,
      options.postgres,
    );
    t.strictSame(held, [], 'the lease was released');
    const snapshots = `SELECT name FROM system.databases WHERE name = '${database}_export'`;
    t.strictSame(await server.query(snapshots), [], 'the snapshot was removed');
  });
});
