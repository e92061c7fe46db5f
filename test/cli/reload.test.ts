import { once } from 'node:events';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
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

void t.test('SIGHUP reloads secrets and certificates, and reports other changes', async (t) => {
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
    const reports = () => lines().filter(({ reloaded }) => reloaded !== undefined);
    const before = reports().length;
    daemon.child.kill('SIGHUP');
    await until('the log has a report', () => reports().length > before);
    return reports().at(-1);
  };
  t.strictSame(await sent(), ['header first-secret', 'parameter first-secret', 'url /first-secret']);
  t.match(await hangup(), { level: 'info', reloaded: [], failed: [], need_restart: [] });

  put('secret', 'second-secret\n');
  put('limit', '2000');
  put('tls.crt', VALID);
  put('tls.key', RECEIVER_KEY);
  const last = 'config-2.yaml';
  appendFileSync(join(directory, last), '\n# changed\n');
  const report = await hangup();
  t.match(report, { level: 'info', failed: [], msg: /other settings need a restart/ });
  const names = ['listener 127.0.0.1:00000', 'exporter "alerts"', 'otlp_http', 'http', 'relay'];
  for (const name of names) t.match(String(report?.['reloaded']), name);
  t.strictSame(report?.['need_restart'], ['processor "validation"', join(directory, last)]);
  t.equal(await certificate(), 'hook.test');
  t.strictSame(await sent(), ['header second-secret', 'parameter second-secret', 'url /second-secret']);

  rmSync(join(directory, 'secret'));
  put('tls.key', TEST_KEY);
  t.match(await hangup(), {
    level: 'warn',
    reloaded: [],
    failed: [
      { name: 'configuration', reason: /\$\{file:secret\} cannot be read/ },
      {},
      {},
      {},
      { name: /listener/, reason: /does not belong to the certificate/ },
    ],
    msg: /keep their old secrets/,
  });
  t.equal(await certificate(), 'hook.test');
  t.strictSame(await sent(), ['header second-secret', 'parameter second-secret', 'url /second-secret']);
  t.notMatch(daemon.stderr(), 'second-secret');
  t.strictSame(await daemon.stop(), { code: 0, signal: null });
});
