import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../../support/free-port.js';
import { OtlpLoad } from '../../support/otlp-load.js';
import { spawnDaemon, type DaemonProcess } from '../../support/process.js';
import { emptied, exporterTotal, readRun, sidecarOverlay } from '../../support/sidecar.js';

/** A gateway that can be restarted on the same port and files. */
const gatewayOverlay = (endpoint: string) =>
  `receivers: { otlp: { protocols: { http: { endpoint: "${endpoint}" } } } }
`;

async function read(daemon: DaemonProcess, path: string): Promise<Response> {
  return fetch(`${daemon.url}/api/v1${path}`, { headers: { authorization: `Bearer ${daemon.key}` } });
}

void t.test(
  'everything accepted by a sidecar arrives while its gateway is killed and restarted',
  { timeout: 120_000 },
  async (t) => {
    const folder = t.testdir({ gateway: {}, sidecar: {} });
    const overlay = gatewayOverlay(`127.0.0.1:${await freePort()}`);
    const first = await spawnDaemon(t, { directory: join(folder, 'gateway'), overlay });
    const { directory, key } = first;
    const sidecar = await spawnDaemon(t, {
      directory: join(folder, 'sidecar'),
      overlay: sidecarOverlay(first.otlpUrl, key),
    });
    const load = new OtlpLoad(sidecar.otlpUrl, sidecar.key);
    await load.more(150);
    await first.stop('SIGKILL');
    await load.more(150);
    const second = await spawnDaemon(t, { directory, key, overlay });
    await load.more(150);
    await load.stop();
    await emptied(sidecar);
    t.equal(await exporterTotal(sidecar, 'dropped_items_total'), 0, 'nothing dropped');
    t.ok((await exporterTotal(sidecar, 'retries_total')) > 0, 'the gateway was unavailable');

    const { traces, points, logs } = load.acknowledged;
    t.ok(traces.size > 20 && points.size > 20 && logs.size > 20, 'load of every signal');
    for (const [traceId, spans] of traces) {
      const response = await readRun(second, traceId);
      const trace = (await response.json()) as {
        readonly status: string;
        readonly spans: readonly { readonly span_id: string }[];
      };
      t.equal(trace.status, 'completed');
      const ids = trace.spans.map(({ span_id: id }) => id.replaceAll('-', '').slice(16));
      t.strictSame(ids.sort(), [...spans].sort(), 'every span once');
    }
    const query = await read(second, '/dashboard/metrics/query?name=load&limit=10000');
    const found = (await query.json()) as { readonly data_points: readonly { readonly value: number }[] };
    const values = new Set(found.data_points.map(({ value }) => value));
    t.strictSame(
      [...points].filter((value) => !values.has(value)),
      [],
      'every point at least once',
    );
    const bodies = new Set<string>();
    for (let offset = 0; ; offset += 1000) {
      const search = await read(second, `/dashboard/logs/search?limit=1000&offset=${offset}`);
      const { items } = (await search.json()) as { readonly items: readonly { readonly body: string }[] };
      for (const { body } of items) bodies.add(body);
      if (items.length < 1000) break;
    }
    t.strictSame(
      [...logs].filter((body) => !bodies.has(body)),
      [],
      'every record at least once',
    );
    t.notMatch(sidecar.stderr(), key, 'the gateway key is never shown');
    t.strictSame(await sidecar.stop(), { code: 0, signal: null });
    t.strictSame(await second.stop(), { code: 0, signal: null });
  },
);

void t.test('a run of the batch route is equal on the gateway, and a stop delivers the queue', async (t) => {
  const folder = t.testdir({ gateway: {}, sidecar: {}, direct: {} });
  const gateway = await spawnDaemon(t, { directory: join(folder, 'gateway') });
  const sidecar = await spawnDaemon(t, {
    directory: join(folder, 'sidecar'),
    overlay: sidecarOverlay(gateway.otlpUrl, gateway.key).replace('max_wait: 20ms', 'max_wait: 1h'),
  });
  const [traceId, agentId, llmId] = [1, 2, 3].map((n) => `0000000${n}-aaaa-4bbb-8ccc-ddddeeeeffff`);
  const times = { started_at: '2026-01-15T12:00:00.000001Z', ended_at: '2026-01-15T12:00:02Z' };
  const trace = {
    trace_id: traceId,
    agent: 'support',
    success: false,
    outcome: 'escalated',
    metadata: { ticket: 7 },
    ...times,
  };
  const spans = [
    { span_id: agentId, trace_id: traceId, type: 'agent', name: 'answer', ...times },
    {
      span_id: llmId,
      trace_id: traceId,
      parent_span_id: agentId,
      type: 'llm',
      name: 'draft',
      model: 'gpt-5-mini',
      input_tokens: 12,
      output_tokens: 30,
      cost_usd: '0.001250',
      input_data: { prompt: 'Wo ist mein Paket? 📦' },
      output_data: { text: 'Unterwegs.' },
      metadata: { attempt: 2 },
      ...times,
    },
  ];
  const body = JSON.stringify({ traces: [{ trace, spans }] });
  const post = async (daemon: DaemonProcess) =>
    fetch(`${daemon.url}/api/v1/traces/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
      body,
    });
  t.match(await (await post(sidecar)).json(), { accepted: 1, rejected: 0 });
  t.strictSame(await sidecar.stop('SIGTERM'), { code: 0, signal: null });

  const direct = await spawnDaemon(t, { directory: join(folder, 'direct') });
  await post(direct);
  const [relayed, sent] = await Promise.all(
    [gateway, direct].map(async (daemon) => (await read(daemon, `/dashboard/traces/${traceId}`)).json()),
  );
  t.strictSame(relayed, sent);
});
