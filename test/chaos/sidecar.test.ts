import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { ChaosLoad, metricOf, POINTS_OF_A_METRIC } from '../support/chaos-load.js';
import { freePort } from '../support/free-port.js';
import { pause } from '../support/http-listener.js';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { projectFolder } from '../support/project-file.js';
import { testConfig } from '../support/test-config.js';

/** `npm run test:chaos` has 50 kills during 100 000 items of each signal. */
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 3);
const ITEMS = Number(process.env['JACKDAW_TEST_ITEMS'] ?? 2000);
const PER_REQUEST = ITEMS > 10_000 ? 100 : 20;
/** A kill comes within so many milliseconds after its turn: in the middle of anything. */
const SPREAD_MS = 100;
const PAGE = 1000;

t.setTimeout(0);

const SIDECAR = join(projectFolder(), 'plugins/sidecar');

async function read<T>(gateway: DaemonProcess, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${gateway.key}` };
  const response = await fetch(`${gateway.url}/api/v1/dashboard${path}`, { headers });
  if (response.status !== 200) throw new Error(`${path} was answered ${response.status}`);
  return (await response.json()) as T;
}

/** Waits until a sidecar has nothing left to deliver. */
async function emptied(sidecar: DaemonProcess): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${sidecar.metricsUrl}/metrics`)).text();
    const waiting = [...text.matchAll(/^jackdaw_exporter_queue_items\{.*\} (\d+)$/gm)];
    if (waiting.length === 3 && waiting.every(([, count]) => count === '0')) return text;
    await pause();
  }
}

void t.test(
  'the sidecar and the gateway of the example are killed at random: all that was acknowledged is stored, once',
  { timeout: 0 },
  async (t) => {
    const folder = t.testdir({ gateway: {}, sidecar: {} });
    const [gatewayPlace, sidecarPlace] = [join(folder, 'gateway'), join(folder, 'sidecar')];
    const port = await freePort();
    const { key, sources } = testConfig(gatewayPlace);
    const ports = sources[1]?.text.replace('127.0.0.1:000 }', `127.0.0.1:${port} }`) ?? '';
    const startGateway = () =>
      spawnDaemon(t, {
        ...{ directory: gatewayPlace, key, overlay: ports, files: [join(SIDECAR, 'gateway.yaml')] },
      });
    const startSidecar = () =>
      spawnDaemon(t, {
        directory: sidecarPlace,
        files: [join(SIDECAR, 'sidecar.yaml')],
        overlay: `receivers:
  trace_batch: { endpoint: 127.0.0.1:0 }
  otlp: { api_endpoint: null, protocols: { http: { endpoint: 127.0.0.1:000 }, grpc: { endpoint: null } } }
extensions: { health: { endpoint: localhost:0 } }
exporters: { otlp_http: { retry: { initial_interval: 50ms, max_interval: 200ms } } }
service: { telemetry: { logs: { format: json }, metrics: { endpoint: 127.0.0.1:00 } } }
`,
        env: {
          GATEWAY_URL: `http://127.0.0.1:${port}`,
          GATEWAY_KEY: key,
          SIDECAR_QUEUE: join(sidecarPlace, 'queue'),
        },
      });
    let gateway = await startGateway();
    let sidecar = await startSidecar();
    const load = new ChaosLoad(() => sidecar.otlpUrl, ITEMS, PER_REQUEST);
    const killed = { sidecar: 0, gateway: 0 };
    for (let kill = 1; kill <= KILLS; kill++) {
      await load.reached(Math.floor((3 * ITEMS * (kill - Math.random() * 0.9)) / (KILLS + 1)));
      await wait(Math.random() * SPREAD_MS);
      // Both come at least once.
      if (kill === 1 || (kill > 2 && Math.random() < 0.5)) {
        killed.sidecar += 1;
        await sidecar.stop('SIGKILL');
        sidecar = await startSidecar();
      } else {
        killed.gateway += 1;
        await gateway.stop('SIGKILL');
        gateway = await startGateway();
      }
    }
    await load.done;
    const metrics = await emptied(sidecar);
    t.comment(`killed: ${JSON.stringify(killed)}`);
    t.match(metrics, /dead_letter_items_total\{.*\} 0/);
    t.notMatch(
      metrics,
      /(dead_letter_items|dropped_items|lost_items)_total\{.*\} [1-9]/,
      'nothing was given up',
    );

    const bodies: string[] = [];
    let count = 0;
    for (let offset = 0; offset === 0 || offset < count; offset += PAGE) {
      type Page = { readonly count: number; readonly items: readonly { readonly body: string }[] };
      const page = await read<Page>(gateway, `/logs/search?limit=${PAGE}&offset=${offset}`);
      count = page.count;
      bodies.push(...page.items.map(({ body }) => body));
    }
    t.equal(bodies.length, ITEMS, 'every record once');
    t.equal(new Set(bodies).size, ITEMS, 'and no other twice');

    const values: number[] = [];
    for (let first = 0; first < ITEMS; first += POINTS_OF_A_METRIC) {
      type Points = { readonly data_points: readonly { readonly value: number }[] };
      const query = `/metrics/query?name=${metricOf(first)}&limit=${POINTS_OF_A_METRIC}`;
      values.push(...(await read<Points>(gateway, query)).data_points.map(({ value }) => value));
    }
    t.equal(values.length, ITEMS, 'every point once');
    t.equal(new Set(values).size, ITEMS);
    type Metrics = readonly { readonly data_point_count: number }[];
    const listed = await read<Metrics | { readonly items: Metrics }>(gateway, '/metrics/?limit=1000');
    const counts = 'items' in listed ? listed.items : listed;
    t.equal(
      counts.reduce((sum, one) => sum + one.data_point_count, 0),
      ITEMS,
    );

    let spans = 0;
    for (const id of load.traces) {
      const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      const trace = await read<{ readonly spans: readonly unknown[] }>(gateway, `/traces/${uuid}`);
      spans += trace.spans.length;
    }
    t.equal(spans, ITEMS, 'every span once');
    t.notMatch(sidecar.stderr() + sidecar.stdout(), key, 'the key of the gateway is never shown');
    t.strictSame(await sidecar.stop(), { code: 0, signal: null });
    t.strictSame(await gateway.stop(), { code: 0, signal: null });
  },
);
