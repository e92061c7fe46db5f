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
import { TransferPlace } from '../support/transfer-place.js';
import { fill, fillTelemetry } from './filled-daemon.js';

const NOW = Date.UTC(2026, 10, 20, 12) * 1000;

/** What a daemon has in memory alone. */
const IN_MEMORY = { fields: ['refused', 'reasons'] };

const [postgres, server] = [await PostgresServer.start(t), await ClickHouseServer.start(t)];
const skip = typeof postgres === 'string' ? postgres : typeof server === 'string' ? server : false;

/** Nothing is delivered to the endpoint that is made. */
const UNDELIVERED = 'service: { pipelines: { events: { exporters: [debug] } } }\nexporters: { debug: {} }';

const ENDPOINTS = '/org/default/webhooks/endpoints';

t.setTimeout(180_000);
void t.test(
  'from the embedded stores into ClickHouse and PostgreSQL, and out of them',
  { skip },
  async (t) => {
    if (typeof postgres === 'string' || typeof server === 'string') return;
    const folder = testFolder(t);
    const clock = new StillClock(NOW);
    const placeThere = async (): Promise<TransferPlace> =>
      new TransferPlace(t, {
        postgres: await postgres.createDatabase(),
        overlay: `
extensions:
  clickhouse: { urls: ['${server.url}'], database: ${server.newDatabase()}, password: ${server.password}, control: postgres }
  query: { store: clickhouse }
exporters: { storage: { store: clickhouse }, alerts: { store: clickhouse } }
processors: { quota: { store: clickhouse } }
service: { extensions: [postgres, clickhouse, query, health] }
`,
      });
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
    const place = await placeThere();
    const imported = await place.import(exported);
    t.equal(imported.code, 0, imported.stderr);
    t.match(await place.import(exported), { code: 2, stderr: /has users already/ });
    const second = await startTestDaemon(t, { ...place.daemon(key), clock });
    const answers = await answersOf(first);
    t.ok(answers.size > 100);
    t.strictSame(differences(answers, await answersOf(second)), []);
    await first.daemon.shutdown();

    const there = new ApiCaller(second.url, key);
    const isKnown = async (of: ApiCaller): Promise<void> => {
      t.equal((await of.call('POST', '/otlp/v1/logs', named)).status, 200);
      const again = await of.get('/dashboard/logs/search?query=quokka');
      t.match(again, { count: 1 }, 'a repeat adds nothing there, too');
    };
    await isKnown(there);

    for (const { id } of await there.get<readonly { readonly id: string }[]>(ENDPOINTS))
      t.equal((await there.call('PATCH', `${ENDPOINTS}/${id}`, { json: { is_active: false } })).status, 200);
    // What comes in the ways of this store, and not by an import.
    await fillTelemetry(there, 2);
    const outOfFirst = await exportOf({ url: second.url, key }, 'clickhouse');
    const now = await answersOf(second);
    const next = await placeThere();
    const onward = await next.import(outOfFirst);
    t.equal(onward.code, 0, onward.stderr);
    const third = await startTestDaemon(t, { ...next.daemon(key), clock });
    t.strictSame(differences(now, await answersOf(third)), []);
    await isKnown(new ApiCaller(third.url, key));
    const outOfSecond = await exportOf({ url: third.url, key }, 'once-more');
    await third.daemon.shutdown();
    const rowsOf = async (directory: string) =>
      (await readManifest(directory)).files.map(({ path, rows }) => ({ path, rows }));
    const offline = join(folder, 'offline');
    const { code, stderr } = await next.exportOffline(offline);
    t.equal(code, 0, stderr);
    t.strictSame(await rowsOf(offline), await rowsOf(outOfSecond));

    const embedded = new TransferPlace(t);
    const back = await embedded.import(outOfSecond);
    t.equal(back.code, 0, back.stderr);
    const fourth = await startTestDaemon(t, { ...embedded.daemon(key), clock });
    t.strictSame(differences(now, await answersOf(fourth)), []);
    await isKnown(new ApiCaller(fourth.url, key));
  },
);
