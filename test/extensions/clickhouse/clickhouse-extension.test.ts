import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { clickHouseExtension } from '../../../src/extensions/clickhouse/factory.js';
import { ControlExtension } from '../../../src/storage/control/control-extension.js';
import { conformance } from '../../../src/testing/conformance.js';
import { sectionOf } from '../../../src/testing/section-of.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { componentSettings } from '../../support/component-settings.js';
import { startTestDaemon } from '../../support/daemon.js';
import { gaugeRequest } from '../../support/gauge-request.js';
import { logRequest } from '../../support/log-request.js';
import { StatusHost } from '../../support/status-host.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';

// @alone: the conformance kit looks at everything that its process has open.

const NANOS = 1_700_000_000_000_000_000n;

void t.test('rejects invalid configurations beyond the schema', async (t) => {
  sectionOf(clickHouseExtension);
  const wrong = (config: object, message: RegExp): void => {
    t.throws(() => sectionOf(clickHouseExtension, config), { message });
  };
  wrong({ replicated: true }, /\/replicated: needs more than one server/);
  wrong({ retention: { logs: '36h' } }, /\/retention\/logs: must be a whole number of days/);
  wrong({ request_timeout: '10ms' }, /\/request_timeout: must be at least 1s/);
  wrong({ tls: { cert_file: 'a.pem', key_file: 'b.pem' } }, /\/tls\/ca_file: is missing/);
  wrong({ urls: ['http://user:hidden@host'] }, /^(?!.*hidden).*\/urls\/0: must be only scheme/);
});

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('passes the conformance kit', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const { url, password } = server;
  const path = join(testFolder(t), 'control.db');
  const control = new ControlExtension(componentSettings('sqlite'), { engine: 'sqlite', path });
  t.teardown(() => control.shutdown(AbortSignal.abort()));
  await control.start(new StatusHost().host);
  const config = (urls: readonly string[]) => ({
    config: { urls, database: server.newDatabase(), password, control: 'sqlite' },
    extensions: { sqlite: control },
  });
  const subject = {
    prepare: () => config([url]),
    unstartable: { ...config(['http://127.0.0.1:1']), error: /cannot be opened/ },
  };
  for (const { name, run } of conformance(clickHouseExtension, subject)) await t.test(name, run);
});

function overlay(
  { url, password }: ClickHouseServer,
  database: string,
  urls: readonly string[] = [url],
): string {
  return `
extensions:
  clickhouse: { urls: ${JSON.stringify(urls)}, database: ${database}, password: ${password}, control: sqlite }
  query: { store: clickhouse }
exporters:
  storage: { store: clickhouse }
  alerts: { store: clickhouse }
processors:
  quota: { store: clickhouse }
service:
  extensions: [sqlite, clickhouse, query, health]
  intake: { threads: 1 }
`;
}

void t.test('the default pipelines store into ClickHouse', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const database = server.newDatabase();

  await t.test('stores and finds records across a restart and a server outage', async (t) => {
    const first = await startTestDaemon(t, { overlay: overlay(server, database) });
    const send = async (otlpUrl: string, body: string): Promise<number> => {
      const response = await fetch(`${otlpUrl}/v1/logs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(logRequest('shop', [{ body, nanos: NANOS }])),
      });
      return response.status;
    };
    const bodies = async (url: string, query: string): Promise<unknown> => {
      const response = await fetch(`${url}/api/v1/dashboard/logs/search?query=${query}`, {
        headers: { authorization: `Bearer ${first.key}` },
      });
      const found = (await response.json()) as { readonly items: readonly { readonly body: string }[] };
      return found.items.map(({ body }) => body).sort();
    };
    t.equal(await send(first.otlpUrl, 'payment declined'), 200);
    t.strictSame(await bodies(first.url, 'DECLINED'), ['payment declined']);
    const { key, otlpUrl } = first;
    const sent = await fetch(`${otlpUrl}/v1/metrics`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(
        gaugeRequest('shop', [{ name: 'load', value: 3, nanos: NANOS, attributes: { host: 'a' } }]),
      ),
    });
    t.equal(sent.status, 200);
    const points = async (url: string): Promise<unknown> => {
      const found = await fetch(`${url}/api/v1/dashboard/metrics/query?name=load`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return await found.json();
    };
    const load = { type: 'gauge', unit: 's', data_points: [{ value: 3, labels: { host: 'a' } }] };
    t.match(await points(first.url), load);

    await server.kill();
    t.equal(await send(first.otlpUrl, 'payment lost'), 503);
    await until('it says so', async () => (await fetch(`${first.healthUrl}/readyz`)).status === 503);
    await server.resume();
    await until('it says that it works again', async () => (await fetch(`${first.healthUrl}/readyz`)).ok);
    t.equal(await send(first.otlpUrl, 'payment accepted'), 200);
    await first.daemon.shutdown();

    const second = await startTestDaemon(t, {
      overlay: overlay(server, database),
      directory: first.directory,
      key: first.key,
    });
    t.strictSame(await bodies(second.url, 'payment'), ['payment accepted', 'payment declined']);
    t.match(await points(second.url), load);
    t.notMatch([...first.logs, ...second.logs].join('\n'), server.password);
    await second.daemon.shutdown();
  });

  await t.test('fails to start without a server', async (t) => {
    const nowhere = overlay(server, `t${randomUUID().slice(0, 8)}`, ['http://127.0.0.1:1']);
    const failed = startTestDaemon(t, { overlay: nowhere });
    await t.rejects(failed, /in ClickHouse at http:\/\/127.0.0.1:1 cannot be opened: .*ECONNREFUSED/);
  });
});
