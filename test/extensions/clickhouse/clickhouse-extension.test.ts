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
import { logRequest } from '../../support/log-request.js';
import { StatusHost } from '../../support/status-host.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';

const NANOS = 1_700_000_000_000_000_000n;

void t.test('what the schema cannot say is checked', async (t) => {
  sectionOf(clickHouseExtension);
  const wrong = (config: object, message: RegExp): void => {
    t.throws(() => sectionOf(clickHouseExtension, config), { message });
  };
  wrong({ replicated: true }, /\/replicated: needs more than one server/);
  wrong({ retention: { logs: '36h' } }, /\/retention\/logs: must be a number of whole days/);
  wrong({ request_timeout: '10ms' }, /\/request_timeout: must be at least 1s/);
  wrong({ tls: { cert_file: 'a.pem', key_file: 'b.pem' } }, /\/tls\/ca_file: is missing/);
  wrong({ urls: ['http://user:hidden@host'] }, /^(?!.*hidden).*\/urls\/0: must be a scheme/);
});

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('the conformance kit finds nothing wrong with it', { skip }, async (t) => {
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
  { exporter = 'storage/logs', urls = [url] } = {},
): string {
  return `
extensions:
  clickhouse: { urls: ${JSON.stringify(urls)}, database: ${database}, password: ${password}, control: sqlite }
  query: { store: clickhouse }
exporters:
  ${exporter}: { store: clickhouse }
service:
  extensions: [sqlite, duckdb, clickhouse, query, health]
  pipelines:
    logs: { receivers: [otlp], processors: [validation], exporters: [${exporter}] }
`;
}

void t.test('a daemon with its logs in ClickHouse', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const database = server.newDatabase();

  await t.test('takes and finds them, over a restart and while the server is lost for a while', async (t) => {
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
    const missing = await fetch(`${first.url}/api/v1/dashboard/metrics/`, {
      headers: { authorization: `Bearer ${first.key}` },
    });
    t.equal(missing.status, 404, 'a route that needs metrics is not there');

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
    t.notMatch([...first.logs, ...second.logs].join('\n'), server.password);
    await second.daemon.shutdown();
  });

  await t.test('does not start where it would have to take metrics, or is not there', async (t) => {
    const metrics = overlay(server, server.newDatabase(), { exporter: 'storage' });
    await t.rejects(startTestDaemon(t, { overlay: metrics }), /takes traces and logs so far, and no metrics/);
    const nowhere = overlay(server, `t${randomUUID().slice(0, 8)}`, { urls: ['http://127.0.0.1:1'] });
    const failed = startTestDaemon(t, { overlay: nowhere });
    await t.rejects(failed, /in ClickHouse at http:\/\/127.0.0.1:1 cannot be opened: .*ECONNREFUSED/);
  });
});
