import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t from 'tap';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/http-certificate.js';
import { logRequest } from '../support/log-request.js';
import { spawnDaemon } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';
import { until } from '../support/until.js';
import { RECEIVER_KEY, VALID } from '../support/webhook-certificates.js';

/** Reads log records and forwards them with three secrets: in a header, in a URL and as a template parameter. */
const OVERLAY = `
plugins: [./relay.yaml]
smtp: { host: 127.0.0.1, port: 1, user: jackdaw, password: "\${file:secret}", from: a@example.com }
receivers: { trace_batch: { endpoint: "127.0.0.1:00000", tls: { cert_file: ./tls.crt, key_file: ./tls.key } } }
processors: { validation: { max_name_length: "\${file:limit}" } }
exporters:
  otlp_http: { endpoint: "http://127.0.0.1:PORT", headers: { x-secret: "\${file:secret}" } }
  http: { url: "http://127.0.0.1:PORT/\${file:secret}", item: log, targets: { allow_cidrs: [127.0.0.1/32] } }
  relay: { key: "\${file:secret}", port: PORT }
service: { pipelines: { logs: { receivers: [otlp], processors: [validation], exporters: [storage, otlp_http, http, relay] } } }
`;
const RELAY = `kind: exporter
type: relay
parameters: { properties: { key: { type: string }, port: { type: integer } } }
components:
  - otlp_http: { endpoint: "http://127.0.0.1:\${param.port}/relay", headers: { x-key: "\${param.key}" } }
`;

void t.test('SIGHUP applies new secrets, certificates and settings', async (t) => {
  const secrets: string[] = [];
  const server = createServer((request, response) => {
    const { 'x-secret': header, 'x-key': parameter } = request.headers;
    secrets.push(
      ...(header === undefined ? [] : [`header ${String(header)}`]),
      ...(parameter === undefined ? [] : [`parameter ${String(parameter)}`]),
      ...(request.url?.startsWith('/v1/') === true || request.url?.startsWith('/relay') === true
        ? []
        : [`url ${String(request.url)}`]),
    );
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const directory = testFolder(t);
  const put = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
  };
  put('secret', 'first-secret\n');
  put('limit', '1000');
  put('tls.crt', TEST_CERTIFICATE);
  put('tls.key', TEST_KEY);
  put('relay.yaml', RELAY);
  const overlay = OVERLAY.replaceAll('PORT', String((server.address() as AddressInfo).port));
  const daemon = await spawnDaemon(t, { directory, overlay });
  const lines = () =>
    daemon
      .stderr()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const { addresses } = lines().find(({ msg }) => msg === 'Running') as {
    readonly addresses: Readonly<Record<string, string>>;
  };
  const port = Number(new URL(addresses['127.0.0.1:00000'] ?? '').port);
  const certificate = async (): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return String(CN);
  };
  let count = 0;
  const sent = async (): Promise<readonly string[]> => {
    secrets.length = 0;
    const nanos = BigInt(Date.now()) * 1_000_000n + BigInt((count += 1));
    const response = await fetch(`${daemon.otlpUrl}/v1/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(logRequest('app', [{ body: 'hello', nanos }])),
    });
    t.equal(response.status, 200);
    await until('all three have sent', () => secrets.length === 3);
    return [...secrets].sort();
  };
  const hangup = async (): Promise<Record<string, unknown> | undefined> => {
    const reports = () => lines().filter(({ config_hash: hash }) => hash !== undefined);
    const before = reports().length;
    daemon.child.kill('SIGHUP');
    await until('the log has a report', () => reports().length > before);
    return reports().at(-1);
  };
  t.strictSame(await sent(), ['header first-secret', 'parameter first-secret', 'url /first-secret']);
  t.match(await hangup(), { level: 'info', result: 'unchanged', changed: [], keys: [] });

  put('secret', 'second-secret\n');
  put('limit', '2000');
  put('tls.crt', VALID);
  put('tls.key', RECEIVER_KEY);
  const report = await hangup();
  t.match(report, { level: 'info', result: 'applied', added: [], removed: [], not_renewed: [] });
  t.strictSame(report?.['changed'], [
    'exporter "otlp_http"',
    'exporter "http"',
    'exporter "relay"',
    'processor "validation" in pipeline "logs"',
    'processor "validation" in pipeline "metrics"',
    'processor "validation" in pipeline "traces"',
  ]);
  t.strictSame(report?.['renewed'], ['listener 127.0.0.1:00000', 'exporter "alerts"']);
  t.strictSame(report?.['keys'], [
    'smtp',
    'processors.validation.max_name_length',
    'exporters.otlp_http.headers.x-secret',
    'exporters.http.url',
    'exporters.relay.key',
  ]);
  t.equal(await certificate(), 'hook.test');
  t.strictSame(await sent(), ['header second-secret', 'parameter second-secret', 'url /second-secret']);

  rmSync(join(directory, 'secret'));
  put('tls.key', TEST_KEY);
  const failed = await hangup();
  t.match(failed, { level: 'error', result: 'invalid', not_renewed: [{ name: /listener/ }] });
  t.match(daemon.stderr(), /config-2\.yaml:\d+:\d+: error: .*\$\{file:secret\} cannot be read/);
  t.equal(await certificate(), 'hook.test');
  t.strictSame(await sent(), ['header second-secret', 'parameter second-secret', 'url /second-secret']);
  t.notMatch(daemon.stderr(), 'second-secret');
  t.strictSame(await daemon.stop(), { code: 0, signal: null });
});

const PLUGIN = `export default { name: 'breaking', apiVersion: 1, factories: [{
  kind: 'exporter', type: 'breaking', description: 'VERSION', stability: 'stable', signals: ['logs'], delivery: 'direct',
  configSchema: { type: 'object', properties: { fails: { type: 'boolean', default: false } } },
  create: ({ config }) => ({
    inputs: { logs: { consume: async ({ items }) => ({ accepted: items.length, refused: [] }) } },
    start: async () => { if (config.fails) throw new Error('no server'); },
  }),
}] };
`;

/** Log records go to the store and by queues in memory and on disk to a server. */
const LOADED = `
plugins: [./breaking.mjs]
processors:
  filter: { logs: ['log.body == "NUMBER"'] }
exporters:
  http/memory: { url: "http://127.0.0.1:PORT/memory/NUMBER", item: log, targets: { allow_cidrs: [127.0.0.1/32] } }
  http/disk:
    url: "http://127.0.0.1:PORT/disk/NUMBER"
    item: log
    queue: { type: disk, directory: ./queue }
    targets: { allow_cidrs: [127.0.0.1/32] }
  breaking: { fails: FAILS }
service:
  pipelines:
    logs: { receivers: [otlp], processors: [validation, filter], exporters: [storage, http/memory, http/disk, breaking] }
`;
const RELOADS = 50;

void t.test('50 reloads under load fail no request, and lose and repeat nothing', async (t) => {
  const received: Record<string, string[]> = { memory: [], disk: [] };
  const server = createServer((request, response) => {
    const queue = request.url?.split('/')[1] ?? '';
    let text = '';
    request.on('data', (piece: Buffer) => (text += piece.toString()));
    request.on('end', () => {
      received[queue]?.push(...(text.match(/item-\d+/g) ?? []));
      setTimeout(() => response.end(), 5);
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const configured = (number: number, fails = false) =>
    LOADED.replaceAll('PORT', String(port))
      .replaceAll('NUMBER', String(number))
      .replace('FAILS', String(fails));
  const directory = testFolder(t);
  writeFileSync(join(directory, 'breaking.mjs'), PLUGIN);
  const daemon = await spawnDaemon(t, { directory, overlay: configured(0) });
  const file = join(directory, 'config-2.yaml');
  const authorization = `Bearer ${daemon.key}`;
  const reload = async (): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(`${daemon.url}/api/v1/admin/reload`, {
      method: 'POST',
      headers: { authorization },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const sent: string[] = [];
  const failures: unknown[] = [];
  let isOver = false;
  const send = async (): Promise<void> => {
    while (!isOver) {
      const body = `item-${sent.length}`;
      sent.push(body);
      const nanos = BigInt(Date.now()) * 1_000_000n;
      const response = await fetch(`${daemon.otlpUrl}/v1/logs`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(logRequest('app', [{ body, nanos }])),
      });
      if (response.status !== 200) failures.push(await response.text());
    }
  };
  const senders = Promise.all(Array.from({ length: 16 }, send));
  for (let number = 1; number <= RELOADS; number++) {
    writeFileSync(file, configured(number));
    const { status, body } = await reload();
    t.equal(status, 200, JSON.stringify(body));
    t.strictSame(body['changed'], [
      'exporter "http/memory"',
      'exporter "http/disk"',
      'processor "filter" in pipeline "logs"',
    ]);
    if (number % 10 !== 0) continue;
    writeFileSync(file, configured(number).replace('item: log', 'item: lug'));
    t.match(await reload(), {
      status: 422,
      body: { errors: [{ message: /config-2\.yaml:\d+:\d+: error: .*item/ }] },
    });
    writeFileSync(file, configured(-number, true));
    t.match(await reload(), {
      status: 409,
      body: { detail: /exporter "breaking" could not start.*no server/ },
    });
    writeFileSync(
      file,
      configured(number).replace('service:', 'service:\n  shutdown_delay: 1ms\n  http: { hosts: [a.b] }'),
    );
    t.match(await reload(), {
      status: 409,
      body: { detail: /service\.http\.hosts can only be changed by a restart/ },
    });
  }
  isOver = true;
  await senders;
  t.strictSame(failures, []);
  writeFileSync(join(directory, 'breaking.mjs'), PLUGIN.replace('VERSION', 'another'));
  writeFileSync(file, configured(RELOADS));
  t.match(await reload(), { status: 200, body: { changed: ['exporter "breaking"'] } });
  for (const [queue, bodies] of Object.entries(received)) {
    await until(`${queue} has sent all`, () => bodies.length >= sent.length);
    t.strictSame(bodies.toSorted(), sent.toSorted(), queue);
  }
  const metrics = await (await fetch(`${daemon.metricsUrl}/metrics`)).text();
  t.match(
    metrics,
    `jackdaw_exporter_accepted_items_total{exporter="storage",signal="logs"} ${sent.length}\n`,
  );
  t.match(metrics, 'jackdaw_config_reloads_total{result="failed"} 5');
  t.match(await daemon.stop(), { code: 0 });
});

void t.test('--watch reloads changed files once', async (t) => {
  const directory = testFolder(t);
  const overlay = 'service: { telemetry: { logs: { level: info } } }\n';
  const daemon = await spawnDaemon(t, { directory, overlay, arguments: ['--watch'] });
  const file = join(directory, 'config-2.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('info', 'warn'));
  writeFileSync(file, readFileSync(file, 'utf8').replace('warn', 'debug'));
  await daemon.logged(/"keys":\["service\.telemetry\.logs\.level"\].*"msg":"Reloaded the configuration"/);
  t.equal(daemon.stderr().split('Reloading the configuration').length, 2);
  t.match(await daemon.stop(), { code: 0 });
});

const ROUTED = `
processors:
  transform: { logs: [{ set: { body: 'log.body + " VERSION"' } }] }
exporters:
  route: { routes: [{ condition: 'true', pipelines: [logs/stored] }] }
service:
  pipelines:
    logs: { receivers: [otlp], processors: [], exporters: [route] }
    logs/stored: { receivers: [route], processors: [transform], exporters: [storage] }
`;

void t.test('a kept connector passes items on to the new components', async (t) => {
  const directory = testFolder(t);
  const overlay = (version: string) => ROUTED.replace('VERSION', version);
  const daemon = await spawnDaemon(t, { directory, overlay: overlay('one') });
  const authorization = `Bearer ${daemon.key}`;
  const send = async (): Promise<void> => {
    const response = await fetch(`${daemon.otlpUrl}/v1/logs`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(logRequest('app', [{ body: 'hello', nanos: BigInt(Date.now()) * 1_000_000n }])),
    });
    t.equal(response.status, 200);
  };
  await send();
  writeFileSync(join(directory, 'config-2.yaml'), overlay('two'));
  const reloaded = await fetch(`${daemon.url}/api/v1/admin/reload`, {
    method: 'POST',
    headers: { authorization },
  });
  t.match(await reloaded.json(), {
    result: 'applied',
    changed: ['processor "transform" in pipeline "logs/stored"'],
  });
  await send();
  const found = await fetch(`${daemon.url}/api/v1/dashboard/logs/search`, { headers: { authorization } });
  const { items } = (await found.json()) as { readonly items: readonly { readonly body: string }[] };
  t.same(items.map(({ body }) => body).sort(), ['hello one', 'hello two']);
});
