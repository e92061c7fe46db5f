import { join } from 'node:path';
import t from 'tap';
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
import { fill } from './filled-daemon.js';

const NOW = Date.UTC(2026, 10, 20, 12) * 1000;

/** What a daemon has in memory alone. */
const IN_MEMORY = { fields: ['refused', 'reasons'] };

const [postgres, server] = [await PostgresServer.start(t), await ClickHouseServer.start(t)];
const skip = typeof postgres === 'string' ? postgres : typeof server === 'string' ? server : false;

t.setTimeout(120_000);
void t.test('from the embedded stores into ClickHouse and PostgreSQL', { skip }, async (t) => {
  if (typeof postgres === 'string' || typeof server === 'string') return;
  const clock = new StillClock(NOW);
  const first = await startTestDaemon(t, {
    clock,
    overlay: 'service: { pipelines: { events: { exporters: [debug] } } }\nexporters: { debug: {} }',
  });
  const api = new ApiCaller(first.url, first.key);
  await fill(api, 1, 'https://hooks.example.com/');
  const named = {
    json: logRequest('shop', [{ body: 'quokka', nanos: BigInt(NOW) * 1000n }]),
    headers: { 'jackdaw-batch-id': 'first' },
  };
  t.equal((await api.call('POST', '/otlp/v1/logs', named)).status, 200);
  const directory = join(testFolder(t), 'export');
  const exported = await runInProcess(['export', '--to', directory, '--url', first.url, '--key', first.key]);
  t.equal(exported.code, 0, exported.stderr);
  const place = new TransferPlace(t, {
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
  const imported = await place.import(directory);
  t.equal(imported.code, 0, imported.stderr);
  t.match(await place.import(directory), { code: 2, stderr: /has users already/ });
  const second = await startTestDaemon(t, { ...place.daemon(first.key), clock });
  const there = new ApiCaller(second.url, first.key);
  const answers = await everyAnswer(api, IN_MEMORY);
  t.ok(answers.size > 100);
  t.strictSame(differences(answers, await everyAnswer(there, IN_MEMORY)), []);
  t.equal((await there.call('POST', '/otlp/v1/logs', named)).status, 200);
  const again = await there.get('/dashboard/logs/search?query=quokka');
  t.match(again, { count: 1 }, 'a repeat adds nothing there, too');
});
