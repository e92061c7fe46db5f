import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { movedEvidence } from '../../src/alerting/evidence.js';
import { invariant } from '../../src/signal/checked.js';
import { importStores } from '../../src/storage/transfer/import-stores.js';
import { ParquetReader } from '../../src/storage/duckdb/files/parquet-files.js';
import { EXPORTED } from '../../src/storage/transfer/exported-tables.js';
import { readManifest } from '../../src/storage/transfer/manifest.js';
import { exportedRows, parquet } from '../../src/storage/transfer/parquet.js';
import { StillClock } from '../../src/telemetry/still-clock.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon, type TestDaemon } from '../support/daemon.js';
import { differences, everyAnswer } from '../support/every-answer.js';
import { traceIdOf } from '../support/header-text.js';
import { PostgresServer } from '../support/postgres.js';
import { aTrace, NOON } from '../support/run-records.js';
import { testFolder } from '../support/test-folder.js';
import { anItem } from '../support/trace-batch.js';
import { TransferPlace } from '../support/transfer-place.js';
import { until } from '../support/until.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { answerText, startReceiver } from '../support/webhook-receiver.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { TestStore } from '../storage/duckdb/test-store.js';
import { alerted, fill } from './filled-daemon.js';

/** All daemons share one time, so that time-dependent values match. */
const NOW = Date.UTC(2026, 10, 20, 12) * 1000;
const HOUR_MS = 3_600_000;

t.setTimeout(300_000);
void t.test('export and import', async (t) => {
  const clock = new StillClock(NOW);
  const folder = testFolder(t);
  const hook = await startReceiver(t, (socket) => socket.write(answerText('200 OK')));
  const caFile = join(folder, 'authority.pem');
  writeFileSync(caFile, AUTHORITY);
  const targets = { allow_cidrs: ['127.0.0.1/32'], ca_file: caFile };
  const overlay = JSON.stringify({
    exporters: { webhook: { targets }, alerts: { interval: '1s', targets } },
  });
  const first = await startTestDaemon(t, { clock, overlay });
  const api = new ApiCaller(first.url, first.key);
  await fill(api, 1, `https://127.0.0.1:${String(hook.port)}/`);
  const rule = await alerted(api, '2026-11-20T11:59:00Z');
  const firings = async (of: ApiCaller) =>
    (await of.get<{ readonly count: number }>(`/alerts/${rule}/events`)).count;
  await until('the alert fired', async () => {
    clock.advance(1000);
    return (await firings(api)) === 1;
  });
  // Runs without news for an hour time out.
  clock.sleep(HOUR_MS);
  await until('a run timed out', async () => {
    const found = await api.get<{ readonly items: readonly unknown[] }>(
      '/dashboard/traces?status=timed_out&agent=shop',
    );
    return found.items.length > 0;
  });
  await evaluatedAgain(first, clock);
  const deliveries = async (of: ApiCaller) =>
    (
      await of.get<{ readonly items: readonly { readonly status: string }[] }>(
        '/org/default/webhooks/deliveries',
      )
    ).items;
  await until('everything is delivered', async () => {
    const all = await deliveries(api);
    return all.length >= 2 && all.every(({ status }) => status === 'success');
  });
  const requestsBefore = hook.requests.length;

  // Writes continue meanwhile.
  const writer = await api.createUser('writer@example.com', ['read', 'write']);
  const answered: string[] = [];
  const isOver = new AbortController();
  const writing = (async () => {
    for (let i = 0; !isOver.signal.aborted; i++) {
      const item = anItem({ spans: 3, trace: { agent: `writer ${String(i)}` } });
      await api.send([item], writer.key);
      answered.push(traceIdOf(item));
    }
  })();
  await until('some runs are there', () => answered.length > 5);
  const certain = answered.length;
  const directory = join(folder, 'export');
  const toApi = ['--url', first.url, '--key', first.key];
  const exported = await runInProcess(['export', '--to', directory, ...toApi]);
  isOver.abort();
  await writing;
  t.equal(exported.code, 0, exported.stderr);
  const then = clock.now();
  const before = await everyAnswer(api, IN_MEMORY);
  t.ok(before.size > 100);

  await t.test('is private to its owner and never overwrites a directory', async (t) => {
    const open = ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })].filter(
      (name) => (statSync(join(directory, name)).mode & 0o077) !== 0,
    );
    t.strictSame(open, []);
    const again = await runInProcess(['export', '--to', directory, ...toApi]);
    t.match(again, { code: 1, stderr: /is not empty/ });
    t.ok(statSync(join(directory, 'manifest.json')));
    const nowhere = await runInProcess(['export', '--to', join(caFile, 'x'), ...toApi]);
    t.match(nowhere, { code: 1, stderr: /cannot be written/ });
  });

  await t.test('refuses changed, missing and foreign files', async (t) => {
    const place = new TransferPlace(t);
    const broken = join(folder, 'broken');
    const refuses = async (message: RegExp, change: () => void): Promise<void> => {
      rmSync(broken, { recursive: true, force: true });
      cpSync(directory, broken, { recursive: true });
      change();
      t.match(await place.import(broken), { code: 2, stderr: message });
    };
    const manifest = join(broken, 'manifest.json');
    const spans = join(broken, 'telemetry', 'spans-000001.parquet');
    await refuses(/spans-000001.parquet differs from the exported file/, () => {
      const bytes = readFileSync(spans);
      bytes[100] = (bytes[100] ?? 0) ^ 1;
      writeFileSync(spans, bytes);
    });
    await refuses(/spans-000001.parquet is missing/, () => {
      rmSync(spans);
    });
    await refuses(/has no manifest.json/, () => {
      rmSync(manifest);
    });
    await refuses(/is of format 2/, () => {
      writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"format": 1', '"format": 2'));
    });
    await refuses(/is not the manifest of an export/, () => {
      writeFileSync(
        manifest,
        readFileSync(manifest, 'utf8').replace('control/users.jsonl', '../users.jsonl'),
      );
    });
    t.match(await place.import(join(folder, 'nowhere')), { code: 2, stderr: /There is no directory/ });
    t.notOk(readdirSync(place.directory).includes('jackdaw.duckdb'), 'no store was made');
  });

  await t.test('reads files of a version that lacks columns', async (t) => {
    const path = join(folder, 'older.parquet');
    const { columns } = EXPORTED.spans;
    const reader = await ParquetReader.open(testFolder(t));
    t.teardown(() => {
      reader.close();
    });
    const file = parquet(join(directory, 'telemetry', 'spans-000001.parquet'));
    await reader.run(
      `COPY (SELECT * EXCLUDE (counted_tokens, counted_cost) FROM ${file}) TO '${path}' (FORMAT parquet)`,
    );
    const rows = await reader.all(columns, file);
    t.ok(rows.length > 10);
    t.strictSame(
      await reader.all(columns, exportedRows(path, columns)),
      rows.map((row) => ({ ...row, counted_tokens: null, counted_cost: null })),
    );
  });

  await t.test('an interrupted import leaves nothing visible to users', async (t) => {
    const { store, control } = await TestStore.open(t);
    const abort = new AbortController();
    const target = {
      telemetry: store.transfer.in,
      store: await store.identity(),
      control: control.transfer,
      moveEvidence: movedEvidence,
      placeKey: () => Promise.reject(new Error('nothing is sealed yet')),
    };
    const manifest = await readManifest(directory);
    const wrote = (): void => {
      abort.abort(new Error('interrupted'));
    };
    await t.rejects(importStores(target, directory, manifest, { wrote, abort: abort.signal }), /interrupted/);
    t.equal(await control.transfer.holds(), null);
    t.ok(await store.transfer.in.holds());
    const user = aUser({ email: 'new@example.com' });
    await control.accounts.createUser(user);
    t.equal((await store.runs.list(user.id, {}, { offset: 0, limit: 10 })).count, 0);
  });

  await t.test('places the secrets key before the data it opens', async (t) => {
    const { store, control } = await TestStore.open(t);
    const heldThen: (string | null)[] = [];
    const target = {
      telemetry: store.transfer.in,
      store: await store.identity(),
      control: control.transfer,
      moveEvidence: movedEvidence,
      placeKey: async () => {
        heldThen.push(await control.transfer.holds());
        throw new Error('killed');
      },
    };
    const { signal: abort } = new AbortController();
    const manifest = await readManifest(directory);
    const wrote = (): void => undefined;
    await t.rejects(importStores(target, directory, manifest, { wrote, abort }), /killed.* is incomplete/s);
    t.strictSame(heldThen, [null]);
    t.equal(await control.transfer.holds(), null, 'without the key nothing is imported');
  });

  await t.test('an export aborts before writes are slowed down', async (t) => {
    const opened = await TestStore.open(t, { maxWaitingSegments: 2 });
    const { writer, transfer } = opened.store;
    const tenant = await opened.addUser();
    const out = invariant(transfer.out, 'a way out');
    const fillSegment = async (): Promise<void> => {
      await writer.traces({ tenant, items: [aTrace(30), aTrace(30)] }, { receivedAt: NOON });
    };
    const place = join(folder, 'busy');
    mkdirSync(place);
    const { signal } = new AbortController();
    t.ok(await out.begin());
    t.notOk(await out.begin(), 'one at a time');
    await fillSegment();
    await fillSegment();
    await t.rejects(out.write(place, signal, false), /Export aborted: it blocks compaction/);
    await out.end();
    await opened.settled();
    t.ok(await out.begin());
    const { files } = await out.write(place, signal, false);
    t.match(await out.progress(), { rows: 120, total: 120 });
    await out.end();
    t.equal(files.find(({ name }) => name === 'spans-000001.parquet')?.rows, 120);
    await fillSegment();
  });

  await t.test(
    'every route responds the same after an import and after another one with PostgreSQL',
    async (t) => {
      const place = new TransferPlace(t, { overlay });
      const imported = await place.import(directory);
      t.equal(imported.code, 0, imported.stderr);
      t.match(await place.import(directory), { code: 2, stderr: /already contains users/ });
      const key = readFileSync(join(place.directory, 'secrets-key'), 'utf8');
      t.equal(key, readFileSync(join(first.directory, 'secrets-key'), 'utf8'));
      const clockThere = new StillClock(then);
      const second = await startTestDaemon(t, { ...place.daemon(first.key), clock: clockThere });
      const there = new ApiCaller(second.url, first.key);
      t.strictSame(differences(before, await everyAnswer(there, IN_MEMORY)), []);
      await sameWriter(there, writer.key);
      await evaluatedAgain(second, clockThere);
      t.equal(await firings(there), 1, 'a fired alert does not fire again');
      await second.daemon.shutdown();

      const server = await PostgresServer.start(t);
      if (typeof server === 'string') {
        t.comment(server);
        return;
      }
      const next = join(folder, 'next');
      const offline = await place.exportOffline(next);
      t.equal(offline.code, 0, offline.stderr);
      const secrets = { key: key.trim() };
      const last = new TransferPlace(t, {
        overlay: JSON.stringify({ ...(JSON.parse(overlay) as object), secrets }),
        postgres: await server.createDatabase(),
      });
      const again = await last.import(next);
      t.match(again, { code: 0, stderr: /Set secrets.key in the configuration/ });
      const third = await startTestDaemon(t, { ...last.daemon(first.key), clock: new StillClock(then) });
      t.notMatch(third.logs.join('\n'), /encrypted with a different key/);
      t.strictSame(
        differences(before, await everyAnswer(new ApiCaller(third.url, first.key), IN_MEMORY)),
        [],
      );
      t.equal(hook.requests.length, requestsBefore, 'nothing was delivered again');
    },
  );

  /** Runs acknowledged before the export are complete, and no run is incomplete. */
  async function sameWriter(there: ApiCaller, key: string): Promise<void> {
    const { items } = await there.get<{
      readonly items: readonly { readonly trace_id: string; readonly span_count: number }[];
    }>('/dashboard/traces?page_size=100', key);
    const found = new Map(items.map((run) => [run.trace_id, run.span_count]));
    for (const id of answered.slice(0, Math.min(certain, 50)))
      t.equal(found.get(id), 3, 'an acknowledged run');
    for (const spans of found.values()) t.equal(spans, 3);
  }
});

/** Advances the clock until the active alert was evaluated twice. */
async function evaluatedAgain(of: TestDaemon, clock: StillClock): Promise<void> {
  const evaluated = async (): Promise<number> => {
    const text = await (await fetch(`${of.metricsUrl}/metrics`)).text();
    return Number(/evaluated_rules_total{exporter="alerts"} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const enough = (await evaluated()) + 2;
  await until('alerts were evaluated', async () => {
    clock.advance(1000);
    return (await evaluated()) >= enough;
  });
}

/** Values a daemon keeps only in memory. */
const IN_MEMORY = { fields: ['refused', 'reasons'] };
