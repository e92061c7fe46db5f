import t from 'tap';
import { parse } from 'yaml';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { anItem } from '../../support/trace-batch.js';

const CANARIES = {
  smtp: 'smtp-C4N4RY-1',
  header: 'header-C4N4RY-2',
  url: 'hook-C4N4RY-3',
  key: Buffer.from('a-key-of-32-bytes-for-the-canary').toString('base64'),
  hash: 'hash-C4N4RY-4-which-is-long',
};

const OVERLAY = `
smtp: { host: smtp.example.com, user: jackdaw, password: ${CANARIES.smtp}, from: a@example.com }
secrets: { key: ${CANARIES.key} }
processors:
  redact/pii: { hash: { keys: [user_id], secret: ${CANARIES.hash} } }
exporters:
  otlp_http: { endpoint: "http://127.0.0.1:9/", headers: { authorization: "Bearer ${CANARIES.header}" }, retry: { enabled: false } }
  http: { url: "https://hooks.example.com/${CANARIES.url}" }
service:
  pipelines:
    traces: { receivers: [trace_batch, otlp], processors: [validation, quota, redact/pii, cost, service_map], exporters: [storage, otlp_http] }
`;

interface Daemon {
  readonly version: string;
  readonly phase: string;
  readonly components: readonly { readonly kind: string; readonly id: string; readonly state: string }[];
  readonly edges: readonly {
    readonly pipeline: string;
    readonly from: { readonly kind: string; readonly id: string };
    readonly to: { readonly id: string };
    readonly accepted: number;
    readonly queue: { readonly items: number } | null;
  }[];
}

void t.test('an administrator sees the state of the daemon without secrets', async (t) => {
  const { url, key } = await startTestDaemon(t, { overlay: OVERLAY });
  const api = new ApiCaller(url, key);
  await api.send([anItem(), anItem()]);
  const daemon = await api.get<Daemon>('/daemon');
  t.match(daemon, { version: /^\d+\./, phase: 'running', uptime_s: Number, started_at: /Z$/ });
  t.ok(daemon.components.every(({ state }) => ['ok', 'degraded'].includes(state)));
  t.match(
    daemon.components.find(({ id }) => id === 'validation'),
    { kind: 'processor', pipeline: 'traces', message: null },
  );
  const first = daemon.edges.find(({ from }) => from.id === 'trace_batch');
  t.match(first, {
    pipeline: 'traces',
    from: { kind: 'receiver' },
    to: { kind: 'processor', id: 'validation' },
    offered: 2,
    accepted: 2,
    refused: 0,
    failed: 0,
    p99_ms: Number,
    queue: null,
  });
  t.equal(daemon.edges.find(({ to }) => to.id === 'storage')?.accepted, 2);
  t.type(daemon.edges.find(({ to }) => to.id === 'otlp_http')?.queue?.items, 'number');

  const answer = await api.call('GET', '/daemon/config');
  t.match(answer, { status: 200 });
  t.equal(answer.headers.get('content-type'), 'application/yaml');
  t.equal(answer.headers.get('cache-control'), 'no-store');
  const text = String(answer.body);
  for (const canary of [...Object.values(CANARIES), key]) t.notOk(text.includes(canary), canary);
  t.match(parse(text), {
    auth: { bootstrap_key: '[secret]' },
    secrets: { key: '[secret]' },
    smtp: { password: '[secret]', host: 'smtp.example.com' },
    exporters: {
      otlp_http: { headers: { authorization: '[secret]' }, endpoint: 'http://127.0.0.1:9/' },
      http: { url: '[secret]' },
    },
  });
  t.notMatch(JSON.stringify(daemon), 'C4N4RY');

  const { key: reader } = await api.createKey(['read', 'write', 'manage']);
  for (const path of ['/daemon', '/daemon/config']) {
    t.match(await api.call('GET', path, { key: reader }), { status: 403, body: { code: 'forbidden_scope' } });
    t.match(await api.call('GET', path, { key: null }), { status: 401 });
  }
});
