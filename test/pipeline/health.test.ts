import t from 'tap';
import { healthExtension } from '../../src/extensions/health/factory.js';
import { startTestDaemon } from '../support/daemon.js';
import { startEngine } from '../support/engine.js';
import { EngineComponents } from '../support/engine-components.js';

const CONFIG = `extensions: { health: { endpoint: 127.0.0.1:0 } }
receivers: { source: {} }
exporters: { sink: {} }
service:
  extensions: [health]
  pipelines: { traces: { receivers: [source], exporters: [sink] } }
`;

async function get(url: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.json() };
}

void t.test('ready while every component is ok, live while it responds', async (t) => {
  const components = new EngineComponents();
  const { daemon } = await startEngine(t, {
    config: CONFIG,
    factories: [...components.factories, healthExtension],
  });
  const url = daemon.addresses.get('127.0.0.1:0') ?? '';
  t.match(await get(`${url}/readyz`), {
    status: 200,
    body: {
      status: 'ready',
      phase: 'running',
      components: [{ id: 'source', state: 'ok' }, { id: 'sink' }, { id: 'health' }],
    },
  });
  components.hosts.get('sink')?.reportStatus({ level: 'degraded', message: 'a file was set aside' });
  t.match(await get(`${url}/readyz`), {
    status: 200,
    body: {
      status: 'degraded',
      components: [{}, { id: 'sink', state: 'degraded', message: 'a file was set aside' }, {}],
    },
  });
  components.hosts.get('sink')?.reportStatus({ level: 'permanent', message: 'wrong password' });
  t.match(await get(`${url}/readyz`), {
    status: 503,
    body: {
      status: 'not_ready',
      components: [{}, { id: 'sink', state: 'permanent', message: 'wrong password' }, {}],
    },
  });
  t.match(await get(`${url}/healthz`), { status: 200, body: { status: 'ok', phase: 'running' } });
});

void t.test('not ready but still live while accepted batches are finished', async (t) => {
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const components = new EngineComponents({ sink: { shutdown: () => held } });
  const { daemon } = await startEngine(t, {
    config: CONFIG,
    factories: [...components.factories, healthExtension],
  });
  const url = daemon.addresses.get('127.0.0.1:0') ?? '';
  const stopping = daemon.shutdown();
  t.match(await get(`${url}/readyz`), { status: 503, body: { phase: 'stopping' } });
  t.match(await get(`${url}/healthz`), { status: 200, body: { phase: 'stopping' } });
  finish();
  await stopping;
  await t.rejects(fetch(`${url}/healthz`));
});

void t.test('metrics use the Prometheus text format without a key', async (t) => {
  const { metricsUrl } = await startTestDaemon(t);
  const response = await fetch(`${metricsUrl}/metrics`);
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  t.match(text, /^# TYPE jackdaw_receiver_accepted_items_total counter$/m);
  t.match(text, /^jackdaw_receiver_accepted_items_total\{receiver="trace_batch",signal="traces"\} 0$/m);
});
