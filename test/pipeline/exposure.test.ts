import t from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { formatProblem } from '../../src/config/config-error.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf } from '../support/config-problems.js';
import { startTestDaemon } from '../support/daemon.js';
import { send } from '../support/http-listener.js';

/** The warnings of the default configuration with an overlay. */
async function warningsOf(text: string): Promise<readonly string[]> {
  const sources = [DEFAULT_CONFIG, { file: 'over.yaml', text }];
  const { warnings } = await prepare(sources, environmentOf({}), builtinFactories);
  return warnings.map(formatProblem);
}

void t.test('warns once about each exposed listener without TLS', async (t) => {
  t.strictSame(await warningsOf('{}'), []);
  t.strictSame(await warningsOf('extensions: { health: { endpoint: "localhost:1" } }'), []);
  const shared = await warningsOf(
    'extensions: { query: { endpoint: ":4319" } }\nreceivers: { trace_batch: { endpoint: ":4319" }, otlp: { api_endpoint: ":4319" } }',
  );
  t.equal(shared.length, 1);
  t.match(shared[0], /^over\.yaml:1:24: warning: extensions\.query\.endpoint: .* without TLS, .*set tls/);
  t.match(await warningsOf('receivers: { otlp: { protocols: { grpc: { endpoint: "10.1.2.3:4317" } } } }'), [
    /receivers\.otlp\.protocols\.grpc\.endpoint/,
  ]);
});

void t.test('health and metrics may listen anywhere, but not on an endpoint shared with data', async (t) => {
  const open = (mode: string) => `auth: { enabled: ${mode} }
extensions: { health: { endpoint: "0.0.0.0:13133" } }
service: { telemetry: { metrics: { endpoint: "0.0.0.0:8888" } } }`;
  t.strictSame(await warningsOf(open('true')), []);
  t.strictSame(await warningsOf(open('false')), []);
  await t.rejects(
    warningsOf(`auth: { enabled: false }
extensions: { health: { endpoint: ":4319" }, query: { endpoint: ":4319" } }
receivers: { trace_batch: { endpoint: ":4319" }, otlp: { api_endpoint: ":4319" } }`),
    /query\.endpoint: is reachable from other machines/,
  );
});

void t.test('TLS of any component on the listener prevents the warning', async (t) => {
  const tls = 'tls: { cert_file: /tls.crt, key_file: /tls.key }';
  t.strictSame(
    await warningsOf(
      `extensions: { query: { endpoint: ":4319" } }
receivers:
  trace_batch: { endpoint: ":4319", ${tls} }
  otlp: { api_endpoint: ":4319", protocols: { grpc: { endpoint: ":4317", ${tls} } } }`,
    ),
    [],
  );
});

void t.test('validates service.http.hosts', async (t) => {
  t.strictSame(
    await warningsOf('service: { http: { hosts: [a.example, "*.b:1", "[::1]:2", 10.0.0.1] } }'),
    [],
  );
  for (const host of ['http://a.example', 'a/b', '*', 'a:x', 'a b', ''])
    await t.rejects(
      warningsOf(`service: { http: { hosts: [${JSON.stringify(host)}] } }`),
      /service\.http\.hosts\[0\]: must be a name/,
      host,
    );
});

void t.test('every HTTP listener checks the Host', async (t) => {
  const { url, otlpUrl, healthUrl, metricsUrl, key } = await startTestDaemon(t, {
    overlay: 'service: { http: { hosts: [jackdaw] } }',
  });
  const authorization = `Bearer ${key}`;
  const paths = [
    `${url}/api/v1/agents`,
    `${url}/api/v1/openapi.json`,
    `${healthUrl}/healthz`,
    `${healthUrl}/readyz`,
    `${metricsUrl}/metrics`,
  ];
  for (const path of paths) {
    const { status, body } = await send(path, { headers: { host: 'evil.example', authorization } });
    t.equal(status, 421, path);
    t.match(body, /misdirected_request/);
    t.equal((await send(path, { headers: { host: 'jackdaw:80', authorization } })).status, 200, path);
  }
  for (const base of [otlpUrl, `${url}/api/v1/otlp`]) {
    const headers = { host: 'evil.example', authorization, 'content-type': 'application/json' };
    const { status, body } = await send(`${base}/v1/traces`, { method: 'POST', headers, body: '{}' });
    t.equal(status, 421, base);
    t.match(JSON.parse(body), { code: 7, message: /service\.http\.hosts/ }, 'in OTLP format');
  }
});

void t.test(
  'without authentication, pages of other origins reach no listener, regardless of CORS',
  async (t) => {
    const { url, otlpUrl, logs } = await startTestDaemon(t, {
      overlay:
        'auth: { enabled: false }\nextensions: { query: { cors: { allowed_origins: ["https://dash.example"] } } }',
    });
    t.match(
      logs.join('\n'),
      /warn Authentication is off: pages of other origins are refused.*cors\.allowed_origins/,
    );
    for (const base of [`${url}/api/v1/agents`, `${otlpUrl}/v1/traces`]) {
      const { status } = await send(base, { headers: { origin: 'https://dash.example' } });
      t.equal(status, 403, base);
    }
    t.equal((await send(`${url}/api/v1/agents`, { headers: { origin: url } })).status, 200);
  },
);
