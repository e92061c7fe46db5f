import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { backupsAt } from '../../src/storage/transfer/backup-bucket.js';
import { StillClock } from '../../src/telemetry/still-clock.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { differences, everyAnswer } from '../support/every-answer.js';
import { PostgresServer } from '../support/postgres.js';
import { smallDisk } from '../support/small-disk.js';
import { testFolder } from '../support/test-folder.js';
import { TransferPlace } from '../support/transfer-place.js';
import { fill, fillTelemetry } from './filled-daemon.js';

const NOW = Date.UTC(2026, 10, 20, 12) * 1000;
const CLI = resolve(import.meta.dirname, '../../src/jackdaw.cjs');
/** Values a daemon keeps only in memory. */
const IN_MEMORY = { fields: ['refused', 'reasons'] };
/** Prevents deliveries to the endpoint. */
const UNDELIVERED = 'service: { pipelines: { events: { exporters: [debug] } } }\nexporters: { debug: {} }';

function openToOthers(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return (statSync(path).mode & 0o077) === 0 ? [] : [path];
  });
}

t.setTimeout(600_000);

void t.test('restores every answer as of the moment of the backup', async (t) => {
  const folder = testFolder(t);
  const to = join(folder, 'backups');
  const clock = new StillClock(NOW);
  const { url, key, daemon, directory } = await startTestDaemon(t, { clock, overlay: UNDELIVERED });
  const api = new ApiCaller(url, key);
  await fill(api, 1, 'https://hooks.example.com/');
  const run = async (...args: string[]) => await runInProcess(args, { JACKDAW_URL: url, JACKDAW_KEY: key });
  const backUp = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('backup', '--to', to, '--json', ...args);
    t.equal(code, 0, stderr);
    clock.advance(1000);
    return JSON.parse(stdout) as { readonly backup: string; bytes: number; copied_bytes: number };
  };
  const answers = await everyAnswer(api, IN_MEMORY);
  const first = await backUp();
  const again = await backUp();
  // Most of this small store is the control store, whose last use of the key has changed.
  t.ok(again.copied_bytes < again.bytes / 3, `${again.copied_bytes} of ${again.bytes}`);
  await fillTelemetry(api, 2);
  await api.createKey(['read']);
  t.not(differences(answers, await everyAnswer(api, IN_MEMORY)).length, 0);
  const last = await backUp();
  t.strictSame(openToOthers(to), []);

  await t.test('answers as at the moment', async (t) => {
    const restored = join(folder, 'restored');
    const { code, stderr } = await run('restore', '--from', to, '--to', restored, '--backup', first.backup);
    t.equal(code, 0, stderr);
    t.strictSame(openToOthers(restored), []);
    const second = await startTestDaemon(t, {
      ...{ directory: restored, key, overlay: UNDELIVERED },
      clock: new StillClock(NOW),
    });
    const there = new ApiCaller(second.url, key);
    t.ok(answers.size > 100);
    t.strictSame(differences(answers, await everyAnswer(there, IN_MEMORY)), []);
    await second.daemon.shutdown();
  });

  await t.test('verifies, and reports damage and bad input', async (t) => {
    const verified = await run('backup', 'verify', '--from', to);
    t.match(verified, { code: 0, stdout: /can be restored: [1-9]\d* spans/ }, verified.stderr);
    const { backup } = await backupsAt(to, {}).read();
    const [part = ''] = backup.files.at(-1)?.parts ?? [];
    const object = join(to, 'objects', part.slice(0, 2), part);
    const content = readFileSync(object);
    writeFileSync(object, Buffer.alloc(content.length));
    t.match(await run('backup', 'verify', '--from', to), { code: 1, stderr: /is damaged: restore another/ });
    const missing = join(folder, 'missing');
    t.match(await run('restore', '--from', to, '--to', missing), { code: 1, stderr: /is damaged/ });
    t.notOk(existsSync(missing));
    writeFileSync(object, content);
    const used = join(folder, 'used');
    await mkdir(used);
    writeFileSync(join(used, 'notes'), '');
    const restore = ['restore', '--from', to, '--to', used];
    t.match(await run(...restore), { code: 1, stderr: /is not empty: move its files away/ });
    t.match(await run('backup', '--to', folder), { code: 1, stderr: /holds other files/ });
    t.match(await run('backup'), { code: 2, stderr: /--to/ });
    t.match(await run('backup', 'list', '--from', used), { code: 1, stderr: /holds no backups/ });
  });

  await t.test('restores into existing directories, and refuses newer and incomplete backups', async (t) => {
    const [volume, link, file] = [join(folder, 'volume'), join(folder, 'link'), join(folder, 'file')];
    mkdirSync(join(volume, 'lost+found'), { recursive: true });
    mkdirSync(join(volume, '.restoring'));
    writeFileSync(join(volume, '.restoring', 'left'), '');
    const { ino } = statSync(volume);
    symlinkSync(volume, link);
    const restored = await run('restore', '--from', to, '--to', link);
    t.equal(restored.code, 0, restored.stderr);
    t.equal(statSync(volume).ino, ino);
    t.ok(lstatSync(link).isSymbolicLink());
    const backups = backupsAt(to, {});
    const { backup } = await backups.read();
    t.strictSame(
      new Set(readdirSync(volume)),
      new Set(['lost+found', ...backup.files.map(({ name }) => name)]),
    );
    writeFileSync(file, '');
    t.match(await run('restore', '--from', to, '--to', file), { code: 1, stderr: /is not a directory/ });

    const lock = await backups.place.lock('', new AbortController().signal);
    const id = await backups.complete({ ...backup, jackdaw: '99.0.0' });
    const newer = await run('restore', '--from', to, '--to', join(folder, 'newer'));
    t.match(newer, { code: 1, stderr: /made by Jackdaw 99\.0\.0, .*: restore it with that version/ });
    t.notOk(existsSync(join(folder, 'newer')));
    await backups.complete({ ...backup, control_rows: { ...backup.control_rows, users: 1000 } });
    const lacking = await run('backup', 'verify', '--from', to);
    t.match(lacking, { code: 1, stderr: /has \d+ rows of users instead of 1000: use another backup/ });
    t.equal(await backups.complete(backup), id);
    await lock.release();
  });

  await t.test('keeps as many as requested, also without a daemon', async (t) => {
    await daemon.shutdown();
    const place = new TransferPlace(t, { directory });
    const kept = await run('backup', '--offline', ...place.files, '--to', to, '--keep', '2');
    t.equal(kept.code, 0, kept.stderr);
    const { stdout } = await run('backup', 'list', '--from', to);
    t.equal(stdout.split('\n').filter((line) => /^2026/.test(line)).length, 2);
    t.ok(stdout.includes(last.backup));
    t.match(await run('backup', 'verify', '--from', to, '--backup', last.backup), { code: 0 });
  });
});

void t.test('leaves the old or the new backup if the process is killed at any moment', async (t) => {
  const folder = testFolder(t);
  const to = join(folder, 'backups');
  const { url, key, daemon, directory } = await startTestDaemon(t, { overlay: UNDELIVERED });
  await fill(new ApiCaller(url, key), 3, 'https://hooks.example.com/');
  await daemon.shutdown();
  const { files } = new TransferPlace(t, { directory });
  const args = ['backup', '--offline', ...files, '--to', to, '--keep', '1'];
  const ids = async () => await backupsAt(to, {}).list();
  t.equal((await runInProcess(args)).code, 0);
  let kills = 0;
  for (let round = 0; round < 4; round++) {
    const before = await ids();
    const child = spawn(process.execPath, [CLI, ...args], { stdio: 'ignore' });
    // The scratch directory exists only while a backup is written.
    while (child.exitCode === null && !existsSync(join(to, 'scratch'))) await wait(1);
    await wait(round * 20);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    if (child.signalCode === 'SIGKILL') kills++;
    const after = await ids();
    // Killed between the two: the new one is complete, and the old one not yet removed.
    t.ok(after.length === 1 || (after.length === 2 && after[0] === before[0]), after.join());
    const verified = await runInProcess(['backup', 'verify', '--from', to]);
    t.equal(verified.code, 0, verified.stderr);
  }
  t.ok(kills > 0);
  const whole = await runInProcess(args);
  t.equal(whole.code, 0, whole.stderr);
  t.equal((await ids()).length, 1);
});

void t.test('keeps the last backup if the clock was set back, and what the kept ones need', async (t) => {
  const backups = backupsAt(join(testFolder(t), 'backups'), {});
  const lock = await backups.place.lock('', new AbortController().signal);
  const make = async (made_at: number, ...texts: string[]): Promise<string> => {
    const parts: string[] = [];
    for (const { sha256 } of await Promise.all(
      texts.map((text) => backups.put(new Uint8Array(Buffer.from(text)))),
    ))
      parts.push(sha256);
    return await backups.complete({
      ...{ format: 1, jackdaw: '0.1.0', made_at, store: '', rows: {}, main: 'a' },
      files: [{ name: 'a', bytes: texts.join('').length, parts }],
    });
  };
  const textOf = async (id: string): Promise<string> => {
    const [file] = (await backups.read(id)).backup.files;
    return Buffer.concat(await Promise.all((file?.parts ?? []).map((part) => backups.get(part)))).toString();
  };
  const old = await make(NOW, 'gone', 'shared');
  const future = await make(NOW + 10, 'future', 'shared', 'shared');
  const last = await make(NOW + 5, 'last', 'shared');
  await backups.prune(2, last);
  t.strictSame(await backups.list(), [last, future]);
  t.equal(await textOf(future), 'futuresharedshared');
  t.equal(await textOf(last), 'lastshared');
  await t.rejects(backups.read(old), /holds no backup/);
  await backups.prune(1, last);
  t.strictSame(await backups.list(), [last]);
  t.equal(await textOf(last), 'lastshared');
  const objects: string[] = [];
  for await (const name of backups.place.list('objects')) objects.push(name);
  t.equal(objects.length, 2);
  await lock.release();
});

void t.test('reports a full disk, and keeps earlier backups', async (t) => {
  const folder = testFolder(t);
  const disk = await smallDisk(t, folder, 16 * 1024 * 1024);
  if (disk === null) return void t.pass('file systems cannot be mounted here');
  const { daemon, directory } = await startTestDaemon(t);
  await daemon.shutdown();
  const { files } = new TransferPlace(t, { directory });
  const [command = '', ...before] = disk.through;
  const backUp = (): string => {
    const args = ['backup', '--offline', ...files, '--to', join(disk.path, 'backups')];
    const { status, stderr } = spawnSync(command, [...before, process.execPath, CLI, ...args], {
      encoding: 'utf8',
    });
    return `${status}: ${stderr}`;
  };
  t.match(backUp(), /^0:/);
  disk.fill(100_000);
  t.match(
    backUp(),
    /^1: .*Not enough disk space in .*backups.*: free space or use a directory on another disk/s,
  );
  disk.empty();
  const seen = backupsAt(join(disk.seen, 'backups'), {});
  t.equal((await seen.list()).length, 1);
  t.match(backUp(), /^0:/);
  t.equal((await seen.list()).length, 2);
});

void t.test('leaves backups of PostgreSQL to its own tools', async (t) => {
  const server = await PostgresServer.start(t);
  if (typeof server === 'string') return void t.pass(server);
  const directory = testFolder(t);
  const postgres = await server.createDatabase();
  const root = JSON.stringify(join(directory, 'exports'));
  const overlay = `extensions: { query: { export_root: ${root} } }\nsecrets: { key: ${randomBytes(32).toString('base64')} }`;
  const { url, key, daemon } = await startTestDaemon(t, { directory, postgres, overlay });
  const args = ['backup', '--to', 'backups'];
  const refused = {
    code: 1,
    stderr: /Only the embedded stores .* can be backed up: for ClickHouse and PostgreSQL use/,
  };
  t.match(await runInProcess([...args, '--url', url, '--key', key]), refused);
  await daemon.shutdown();
  const place = new TransferPlace(t, { directory, postgres, overlay });
  t.match(await runInProcess([...args, '--offline', ...place.files]), refused);
  const scheduled = `${overlay}\nservice: { extensions: [postgres, duckdb, query, health, backup] }`;
  const started = startTestDaemon(t, {
    ...{ directory, postgres, key },
    overlay: scheduled.replace('extensions: {', 'extensions: { backup: { control: postgres },'),
  });
  await t.rejects(started, refused.stderr);
});

void t.test('backs up on a schedule, and reports failures', async (t) => {
  const folder = testFolder(t);
  const to = join(folder, 'backups');
  const clock = new StillClock(NOW);
  const overlay = (place: string): string =>
    `extensions: { backup: { to: ${JSON.stringify(place)}, every: 1h, keep: 2 } }\nservice: { extensions: [sqlite, duckdb, query, health, backup] }`;
  const directory = backupsAt(to, {});
  const { daemon, directory: stores, key, url } = await startTestDaemon(t, { clock, overlay: overlay(to) });
  const listed = async (): Promise<readonly string[]> => await directory.list().catch(() => []);
  const until = async (isDone: () => Promise<boolean>): Promise<void> => {
    while (!(await isDone())) {
      clock.advance(60_000);
      await wait(50);
    }
  };
  await until(async () => (await listed()).length === 1);
  const [first] = await listed();
  await until(async () => (await listed()).length === 2);
  // Creates the key that encrypts secrets, which did not exist at the start.
  const json = { url: 'https://hooks.example.com/', name: 'a', event_types: ['trace.failed'] };
  const made = await new ApiCaller(url, key).call('POST', '/org/default/webhooks/endpoints', { json });
  t.equal(made.status, 201);
  await until(async () => !(await listed()).includes(first ?? ''));
  t.ok((await listed()).length <= 2);
  const hasKey = async (): Promise<boolean> =>
    (await directory.read()).backup.files.some(({ name }) => name === 'secrets-key');
  await until(hasKey);
  t.ok(await hasKey());
  await daemon.shutdown();

  const used = join(folder, 'used');
  await mkdir(used);
  writeFileSync(join(used, 'notes'), '');
  const second = await startTestDaemon(t, { clock, key, directory: stores, overlay: overlay(used) });
  const isDegraded = async (): Promise<boolean> =>
    /degraded","message":"The last backup failed: .*holds other files/.test(
      await (await fetch(`${second.healthUrl}/readyz`)).text(),
    );
  await until(isDegraded);
  t.match(await (await fetch(`${second.metricsUrl}/metrics`)).text(), /jackdaw_backup_failures_total [1-9]/);
});

void t.test('upgrades the stores of an earlier build', async (t) => {
  const folder = testFolder(t);
  // Stores of commit 7d3d17c0 with a run, a log record and a prompt.
  const fixture = resolve(import.meta.dirname, '../../../test/testdata/stores/7d3d17c0.tgz');
  execFileSync('tar', ['xzf', fixture, '-C', folder]);
  const key = readFileSync(join(folder, 'initial-api-key'), 'utf8').trim();
  const { url, logs, daemon } = await startTestDaemon(t, { directory: folder });
  const api = new ApiCaller(url, key);
  t.match(await api.get('/dashboard/traces/01234567-89ab-cdef-0123-456789abcdef'), { agent_name: 'old' });
  t.match(await api.get('/dashboard/logs/search?query=quokka'), { count: 1 });
  t.match(await api.get('/dashboard/prompts'), [{ name: 'greeting' }]);
  t.ok(logs.some((line) => line.includes('Upgraded a store file.')));
  await daemon.shutdown();
});
