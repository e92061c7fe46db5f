import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { BackupDirectory } from '../../src/storage/transfer/backup-directory.js';
import { StillClock } from '../../src/telemetry/still-clock.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { differences, everyAnswer } from '../support/every-answer.js';
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

t.setTimeout(300_000);

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
    const { backup } = await new BackupDirectory(to).read();
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
  const ids = async () => await new BackupDirectory(to).list();
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

void t.test('backs up on a schedule, and reports failures', async (t) => {
  const folder = testFolder(t);
  const to = join(folder, 'backups');
  const clock = new StillClock(NOW);
  const overlay = (place: string): string =>
    `extensions: { backup: { to: ${JSON.stringify(place)}, every: 1h, keep: 2 } }\nservice: { extensions: [sqlite, duckdb, query, health, backup] }`;
  const directory = new BackupDirectory(to);
  const { daemon, directory: stores, key } = await startTestDaemon(t, { clock, overlay: overlay(to) });
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
  await until(async () => !(await listed()).includes(first ?? ''));
  t.ok((await listed()).length <= 2);
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
