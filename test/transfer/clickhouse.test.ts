import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readManifest } from '../../src/storage/transfer/manifest.js';
import { StillClock } from '../../src/telemetry/still-clock.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { startTestDaemon } from '../support/daemon.js';
import { differences, everyAnswer } from '../support/every-answer.js';
import { logRequest } from '../support/log-request.js';
import { PostgresServer } from '../support/postgres.js';
import { testFolder } from '../support/test-folder.js';
import { breakImports, Target } from './broken-imports.js';
import { fill, fillTelemetry } from './filled-daemon.js';

const NOW = Date.UTC(2026, 10, 20, 12) * 1000;

/** Values a daemon keeps only in memory. */
const IN_MEMORY = { fields: ['refused', 'reasons'] };

const [postgres, server] = [await PostgresServer.start(t), await ClickHouseServer.start(t)];
const skip = typeof postgres === 'string' ? postgres : typeof server === 'string' ? server : false;

/** Prevents deliveries to the new endpoint. */
const UNDELIVERED = 'service: { pipelines: { events: { exporters: [debug] } } }\nexporters: { debug: {} }';

const ENDPOINTS = '/org/default/webhooks/endpoints';

t.setTimeout(600_000);
void t.test(
  'moves data from embedded stores into ClickHouse and PostgreSQL and back',
  { skip },
  async (t) => {
    if (typeof postgres === 'string' || typeof server === 'string') return;
    const folder = testFolder(t);
    const clock = new StillClock(NOW);
    const exportOf = async ({ url, key }: { url: string; key: string }, name: string): Promise<string> => {
      const directory = join(folder, name);
      const { code, stderr } = await runInProcess(['export', '--to', directory, '--url', url, '--key', key]);
      t.equal(code, 0, stderr);
      return directory;
    };
    const first = await startTestDaemon(t, { clock, overlay: UNDELIVERED });
    const { key } = first;
    const answersOf = async ({ url }: { url: string }) =>
      await everyAnswer(new ApiCaller(url, key), IN_MEMORY);
    const api = new ApiCaller(first.url, key);
    await fill(api, 1, 'https://hooks.example.com/');
    const named = {
      json: logRequest('shop', [{ body: 'quokka', nanos: BigInt(NOW) * 1000n }]),
      headers: { 'jackdaw-batch-id': 'first' },
    };
    t.equal((await api.call('POST', '/otlp/v1/logs', named)).status, 200);
    const exported = await exportOf(first, 'embedded');
    const servers = { postgres, server };
    const { database, place } = await breakImports(t, servers, { from: exported, key });
    const imported = await place.import(exported);
    t.equal(imported.code, 0, imported.stderr);
    t.match(await place.import(exported), { code: 2, stderr: /already contains users/ });
    const second = await startTestDaemon(t, { ...place.daemon(key), clock });
    const answers = await answersOf(first);
    t.ok(answers.size > 100);
    t.strictSame(differences(answers, await answersOf(second)), []);
    await first.daemon.shutdown();

    const there = new ApiCaller(second.url, key);
    const isKnown = async (of: ApiCaller): Promise<void> => {
      t.equal((await of.call('POST', '/otlp/v1/logs', named)).status, 200);
      const again = await of.get('/dashboard/logs/search?query=quokka');
      t.match(again, { count: 1 }, 'a repeat adds nothing there either');
    };
    await isKnown(there);

    await t.test('reports failures and leaves nothing behind', async (t) => {
      const directory = join(folder, 'wrong');
      const exporting = async (as = key, to = directory) =>
        await runInProcess(['export', '--to', to, '--url', second.url, '--key', as]);
      const snapshots = async () =>
        await server.query(`SELECT name FROM system.databases WHERE name = '${database}_export'`);
      const isClean = async (): Promise<void> => {
        t.notOk(existsSync(directory));
        t.strictSame(await snapshots(), []);
      };
      const { key: writer } = await there.createKey(['read', 'write', 'manage']);
      t.match(await exporting(writer), { code: 1, stderr: /scope|admin/ });
      await isClean();
      for (const [kind, matching, times] of [
        ['half', 'FROM logs WHERE', 100],
        ['cut', 'FROM exported_traces', 100],
        ['lost', 'ATTACH PARTITION ALL', 1],
        [243, 'FROM spans WHERE seq > 0', 100],
      ] as const) {
        await server.fault({ kind, times, matching });
        const failed = await exporting();
        t.match(failed, { code: 1, stderr: /The store request failed/ }, matching);
        await server.heal();
        await isClean();
      }
      // Leftovers of a killed gateway.
      await server.query(
        `CREATE DATABASE ${database}_export`,
        `CREATE TABLE ${database}_export.spans (a Int32) ENGINE = MergeTree ORDER BY a`,
      );
      const both = await Promise.all([exporting(), exporting(key, `${directory}-too`)]);
      t.strictSame(both.map(({ code }) => code).toSorted(), [0, 1]);
      t.match(
        both.find(({ code }) => code === 1),
        { stderr: /Another export is in progress/ },
      );
      t.strictSame(await snapshots(), []);
    });

    for (const { id } of await there.get<readonly { readonly id: string }[]>(ENDPOINTS))
      t.equal((await there.call('PATCH', `${ENDPOINTS}/${id}`, { json: { is_active: false } })).status, 200);
    // Data written by this store, not by an import.
    await fillTelemetry(there, 2);
    const outOfFirst = await exportOf({ url: second.url, key }, 'clickhouse');
    const now = await answersOf(second);
    const { place: next } = await Target.make(t, servers, outOfFirst);
    const onward = await next.import(outOfFirst);
    t.equal(onward.code, 0, onward.stderr);
    const third = await startTestDaemon(t, { ...next.daemon(key), clock });
    t.strictSame(differences(now, await answersOf(third)), []);
    await isKnown(new ApiCaller(third.url, key));
    await third.daemon.shutdown();
    const rowsOf = async (directory: string) =>
      (await readManifest(directory)).files.map(({ path, rows }) => ({ path, rows }));
    const offline = join(folder, 'offline');
    const { code, stderr } = await next.exportOffline(offline);
    t.equal(code, 0, stderr);
    const telemetry = (files: Awaited<ReturnType<typeof rowsOf>>) =>
      files.filter(({ path }) => path.startsWith('telemetry/'));
    t.strictSame(telemetry(await rowsOf(offline)), telemetry(await rowsOf(outOfFirst)));
  },
);
