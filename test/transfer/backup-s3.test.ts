import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { BackupBucket, backupsAt } from '../../src/storage/transfer/backup-bucket.js';
import { UnusableBackup, type BackupPlace } from '../../src/storage/transfer/backups.js';
import { StillClock } from '../../src/telemetry/still-clock.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { differences, everyAnswer } from '../support/every-answer.js';
import { S3Server } from '../support/s3-server.js';
import { testFolder } from '../support/test-folder.js';
import { TransferPlace } from '../support/transfer-place.js';
import { until } from '../support/until.js';
import { fill, fillTelemetry } from './filled-daemon.js';

const NOW = Date.UTC(2026, 10, 20, 12) * 1000;
const CLI = resolve(import.meta.dirname, '../../src/jackdaw.cjs');
/** Values a daemon keeps only in memory. */
const IN_MEMORY = { fields: ['refused', 'reasons'] };
/** Prevents deliveries to the endpoint. */
const UNDELIVERED = 'service: { pipelines: { events: { exporters: [debug] } } }\nexporters: { debug: {} }';
const OBJECTS = 'PUT /backups/daemon/objects/';
const NEVER = new AbortController().signal;

t.setTimeout(600_000);

void t.test('backs up to S3 and restores every answer', async (t) => {
  const s3 = await S3Server.start(t);
  s3.setVariables(t);
  const folder = testFolder(t);
  const clock = new StillClock(NOW);
  const place = 's3://backups/daemon';
  const allowed = JSON.stringify({ url: place, ...s3.section });
  const overlay = `${UNDELIVERED}\nextensions: { query: { backup_s3: ${allowed} } }`;
  const { url, key, daemon, directory } = await startTestDaemon(t, { clock, overlay });
  const api = new ApiCaller(url, key);
  await fill(api, 1, 'https://hooks.example.com/');
  const run = async (...args: string[]) => await runInProcess(args, { JACKDAW_URL: url, JACKDAW_KEY: key });
  const backUp = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('backup', '--to', place, '--json', ...args);
    t.equal(code, 0, stderr);
    clock.advance(1000);
    return JSON.parse(stdout) as { readonly backup: string; bytes: number; copied_bytes: number };
  };
  const answers = await everyAnswer(api, IN_MEMORY);

  await t.test('retries, and uploads nothing twice', async (t) => {
    const faults = [503, 'cut', 500] as const;
    let failed = 0;
    s3.fault = (request) => (request.startsWith(OBJECTS) ? (faults[failed++] ?? null) : null);
    const first = await backUp();
    t.ok(failed > faults.length);
    const uploads = s3.count(OBJECTS);
    const again = await backUp();
    t.ok(again.copied_bytes < again.bytes / 3, `${again.copied_bytes} of ${again.bytes}`);
    t.ok(s3.count(OBJECTS) - uploads < uploads / 2);
    t.equal(new Set(s3.requests.filter((request) => request.startsWith(OBJECTS))).size, s3.count(OBJECTS));
    const { stdout } = await run('backup', 'list', '--from', place);
    t.match(stdout, first.backup);
    t.match(stdout, again.backup);
    t.notOk(existsSync(join(directory, 'backup-scratch')));
  });

  await t.test('verifies and restores', async (t) => {
    const verified = await run('backup', 'verify', '--from', place);
    t.match(verified, { code: 0, stdout: /can be restored: [1-9]\d* spans/ }, verified.stderr);
    const restored = join(folder, 'restored');
    let failed = 0;
    s3.fault = (request) =>
      request.startsWith('GET /backups/daemon/objects/') && failed++ < 2 ? 'cut' : null;
    const { code, stderr } = await run('restore', '--from', place, '--to', restored);
    t.equal(code, 0, stderr);
    const second = await startTestDaemon(t, {
      ...{ directory: restored, key, overlay: UNDELIVERED },
      clock: new StillClock(NOW),
    });
    t.ok(answers.size > 100);
    const there = new ApiCaller(second.url, key);
    t.strictSame(differences(answers, await everyAnswer(there, IN_MEMORY)), []);
    await second.daemon.shutdown();
    const scheduled = JSON.stringify({ to: 's3://backups/scheduled', s3: s3.section });
    const third = await startTestDaemon(t, {
      ...{ directory: restored, key, clock: new StillClock(NOW) },
      overlay: `extensions: { backup: ${scheduled} }\nservice: { extensions: [sqlite, duckdb, query, health, backup] }`,
    });
    const made = backupsAt('s3://backups/scheduled', s3.section);
    await until('the schedule has made a backup', async () => (await made.list()).length === 1);
    await third.daemon.shutdown();
  });

  await t.test('keeps as many as requested, and what they need', async (t) => {
    await fillTelemetry(api, 2);
    await backUp('--keep', '1');
    const { stdout } = await run('backup', 'list', '--from', place);
    t.equal(stdout.split('\n').filter((line) => /^2026/.test(line)).length, 1);
    const kept = backupsAt(place, {});
    const { backup } = await kept.read();
    const needed = new Set(backup.files.flatMap(({ parts }) => parts));
    const stored: string[] = [];
    for await (const name of kept.place.list('objects')) stored.push(name.slice('objects/00/'.length));
    t.strictSame(new Set(stored), needed);
    t.match(await run('backup', 'verify', '--from', place), { code: 0 });
  });

  await t.test('refuses other prefixes, and reports errors', async (t) => {
    const failsWith = async (to: string, message: RegExp, ...args: string[]): Promise<void> => {
      const { code, stderr } = await run('backup', '--to', to, ...args);
      t.equal(code, 1);
      t.match(stderr, message);
    };
    await failsWith('s3://backups/daemon2', /is not below s3:\/\/backups\/daemon: use a prefix there/);
    await failsWith('s3://other/daemon', /is not below/);
    await failsWith(`${place}/../x`, /is not the URL of a bucket: use s3:\/\//);
    await daemon.shutdown();
    const offline = ['--offline', ...new TransferPlace(t, { directory }).files];
    await failsWith('s3://missing/x', /bucket missing does not exist on http.*: create it/, ...offline);
    s3.fault = () => 403;
    await failsWith(
      place,
      /Access to s3:\/\/backups\/daemon was denied .*: the credentials need/,
      ...offline,
    );
    s3.fault = (request) => (request.startsWith('PUT /backups/daemon/manifests/') ? 403 : null);
    await failsWith(place, /was denied/, ...offline);
    s3.fault = () => null;
    t.equal((await backupsAt(place, {}).list()).length, 1);
    const wrong = backupsAt(place, { ...s3.section, access_key_id: 'wrong' });
    await t.rejects(wrong.list(), /refused the credentials \(InvalidAccessKeyId\): check the access key/);
    const nowhere = backupsAt(place, { ...s3.section, endpoint: 'http://127.0.0.1:1' });
    await t.rejects(nowhere.list(), /127\.0\.0\.1:1 cannot be reached \(.*\): check the endpoint/);
    const unset = await startTestDaemon(t, { directory, key, clock });
    const there = new ApiCaller(unset.url, key);
    const { status, body } = await there.call('POST', '/admin/backup', { json: { directory: place } });
    t.match({ status, body }, { status: 409, body: { detail: /set extensions.query.backup_s3/ } });
  });
});

void t.test('is locked for one backup at a time', async (t) => {
  const { section } = await S3Server.start(t);
  const bucket = (): BackupPlace => new BackupBucket('s3://backups/daemon', section);
  const [first, second] = [bucket(), bucket()];
  const lock = await first.lock('a', NEVER);
  await t.rejects(
    second.lock('a', NEVER),
    /Another Jackdaw is backing up to s3:\/\/backups\/daemon: use another/,
  );
  await t.rejects(second.lock('b', NEVER), UnusableBackup);
  await lock.release();
  await (await second.lock('b', NEVER)).release();
  const left = async (store: string, renewedAt: number, host = hostname()): Promise<void> => {
    const content = JSON.stringify({ id: '1', process: 'other', store, host, renewedAt });
    const hash = createHash('sha256').update(content).digest('hex');
    await first.write('lock', Buffer.from(content), hash);
  };
  await left('a', Date.now());
  await t.rejects(second.lock('b', NEVER), UnusableBackup, 'another store is being backed up');
  await (await second.lock('a', NEVER)).release();
  await left('a', Date.now(), 'other');
  await t.rejects(second.lock('a', NEVER), UnusableBackup, 'a copy of the store is being backed up');
  await left('a', Date.now() - 600_000);
  await (await second.lock('b', NEVER)).release();
});

void t.test('leaves the old or the new backup if the process is killed at any request', async (t) => {
  const s3 = await S3Server.start(t);
  s3.setVariables(t);
  const { url, key, daemon, directory } = await startTestDaemon(t, { overlay: UNDELIVERED });
  await fill(new ApiCaller(url, key), 3, 'https://hooks.example.com/');
  await daemon.shutdown();
  const place = 's3://backups/daemon';
  const args = ['backup', '--offline', ...new TransferPlace(t, { directory }).files, '--to', place];
  const ids = async () => await backupsAt(place, {}).list();
  t.equal((await runInProcess(args)).code, 0);
  for (const [request, count] of [
    ['PUT /backups/daemon/lock', 1],
    [OBJECTS, 2],
    ['PUT /backups/daemon/manifests/', 1],
    ['DELETE /backups/daemon/manifests/', 1],
    ['DELETE /backups/daemon/objects/', 1],
    ['DELETE /backups/daemon/lock', 1],
  ] as const) {
    const before = await ids();
    const child = spawn(process.execPath, [CLI, ...args, '--keep', '1'], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    let seen = 0;
    s3.fault = (name) => {
      if (!name.startsWith(request) || ++seen < count) return null;
      child.kill('SIGKILL');
      // The server may have done what it was asked for or not.
      return count === 1 ? 'cut' : null;
    };
    await ended;
    s3.fault = () => null;
    t.equal(child.signalCode, 'SIGKILL', request);
    const after = await ids();
    t.ok(after.length > 0 && (after.includes(before.at(-1) ?? '') || !before.includes(after[0] ?? '')));
    const verified = await runInProcess(['backup', 'verify', '--from', place]);
    t.equal(verified.code, 0, verified.stderr);
  }
  const whole = await runInProcess([...args, '--keep', '1']);
  t.equal(whole.code, 0, whole.stderr);
  t.equal((await ids()).length, 1);
  t.strictSame(
    readdirSync(directory).filter((name) => name.includes('scratch')),
    [],
  );
});
