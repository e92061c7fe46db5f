import { once } from 'node:events';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { logRequest } from '../support/log-request.js';
import { runCli, spawnDaemon, type DaemonProcess } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';
import { until } from '../support/until.js';

/** A plugin with an exporter `odd` that fails in the way that its configuration says. */
const PLUGIN = `import { Type, deliveryKeys, section } from 'jackdaw';
let created = 0;
let tries = 0;
export default { name: 'odd', apiVersion: 1, factories: [{
  kind: 'exporter', type: 'odd', description: 'DESCRIPTION', stability: 'stable', signals: ['logs'], delivery: 'queued',
  configSchema: section({ fault: Type.String({ default: '', description: 'Fault.' }), ...deliveryKeys() }),
  create: ({ config: { fault }, meter }) => {
    const number = created += 1;
    const isSecond = fault === 'second' && (tries += 1) % 2 === 0;
    meter.gauge('odd_number', { description: 'Number.', labelNames: ['number'] }, () => 1, { number: String(number) });
    if (fault === 'create') throw new Error('fault create');
    return {
      inputs: { logs: { consume: async ({ items }) => ({ accepted: items.length, refused: [] }) } },
      start: async () => {
        if (fault === 'start') throw new Error('fault start');
        if (fault === 'hang') await new Promise(() => undefined);
        // The first start finds the directory taken, the second one is that of the hand-over.
        if (isSecond) throw new Error('fault second');
      },
    };
  },
}] };
`;

const OVERLAY = `
plugins: [./plugin/odd.mjs]
exporters:
  http/a: { url: "http://127.0.0.1:PORT/a/NUMBER", item: log, queue: QUEUE, targets: { allow_cidrs: [127.0.0.1/32] } }
  odd: { fault: "FAULT", queue: { type: disk, directory: ./queue } }
service:
  pipelines:
    logs: { receivers: [otlp, scores], processors: [], exporters: [http/a, odd] }
`;
const ON_DISK = '{ type: disk, directory: ./queue }';

interface Place {
  readonly daemon: DaemonProcess;
  readonly folder: string;
  put(name: string, text: string): void;
  /** Writes the overlay and reloads. */
  reload(overlay: string): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  send(body: string): Promise<number>;
  /** Lines of /metrics that match. */
  series(pattern: RegExp): Promise<readonly string[]>;
}

async function startPlace(
  t: Test,
  overlay: string,
  {
    folder = testFolder(t),
    ...options
  }: { folder?: string; key?: string; arguments?: readonly string[] } = {},
): Promise<Place> {
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
  };
  mkdirSync(join(folder, 'plugin'), { recursive: true });
  put('plugin/odd.mjs', PLUGIN);
  const daemon = await spawnDaemon(t, { directory: folder, overlay, ...options });
  const headers = { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' };
  return {
    daemon,
    folder,
    put,
    reload: async (changed) => {
      put('config-2.yaml', changed);
      const response = await fetch(`${daemon.url}/api/v1/admin/reload`, { method: 'POST', headers });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    send: async (body) => {
      const nanos = BigInt(Date.now()) * 1_000_000n;
      const request = JSON.stringify(logRequest('app', [{ body, nanos }]));
      return (await fetch(`${daemon.otlpUrl}/v1/logs`, { method: 'POST', headers, body: request })).status;
    },
    series: async (pattern) => {
      const text = await (await fetch(`${daemon.metricsUrl}/metrics`)).text();
      return text.split('\n').filter((line) => pattern.test(line));
    },
  };
}

/** Records which paths get which items; `isDown` answers 503. */
async function startServer(t: Test) {
  const state = { isDown: false, received: [] as string[] };
  const server: Server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => (text += piece.toString()));
    request.on('end', () => {
      if (!state.isDown)
        for (const [item] of text.matchAll(/item-\d+/g)) state.received.push(`${request.url} ${item}`);
      response.writeHead(state.isDown ? 503 : 200).end();
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return Object.assign(state, { port: (server.address() as AddressInfo).port });
}

function overlayOf(port: number, number: number, { queue = ON_DISK, fault = '' } = {}): string {
  return OVERLAY.replaceAll('PORT', String(port))
    .replaceAll('NUMBER', String(number))
    .replace('QUEUE', queue)
    .replace('FAULT', fault);
}

void t.test('a reload that fails leaves nothing behind and loses nothing', async (t) => {
  const server = await startServer(t);
  const place = await startPlace(t, overlayOf(server.port, 0));
  const all = /^jackdaw_(?!.*(_total|_bucket|_sum|_count)\b)/;
  const names = async () => (await place.series(all)).map((line) => line.replace(/ \S+$/, ''));
  const ofOthers = (all: readonly string[]) => all.filter((name) => !/config_|odd_number/.test(name)).sort();
  const before = await names();
  server.isDown = true;
  t.equal(await place.send('item-1'), 200);

  const faulty = (fault: string) => place.reload(overlayOf(server.port, 1, { fault }));
  t.match(await faulty('create'), {
    status: 422,
    body: { errors: [{ message: /:\d+:\d+: .*fault create/ }] },
  });
  t.match(await faulty('start'), {
    status: 409,
    body: { detail: /exporter "odd" could not start: .*fault start/ },
  });
  const loads = () => place.daemon.stderr().split('Loaded queued batches').length - 1;
  t.equal(loads(), 0);
  t.match(await faulty('second'), { status: 409, body: { detail: /fault second/ } });
  t.equal(loads(), 2, 'the queue was handed over, and back');
  t.strictSame(ofOthers(await names()), ofOthers(before), 'the same gauges');
  t.equal((await place.series(/^jackdaw_odd_number/)).length, 1, 'of one component only');

  t.equal(await place.send('item-2'), 200);
  server.isDown = false;
  await until('both items have arrived', () => server.received.length >= 2);
  t.strictSame(
    server.received.toSorted(),
    ['/a/0 item-1', '/a/0 item-2'],
    'the old exporter sends them, once',
  );

  server.isDown = true;
  t.equal(await place.send('item-3'), 200);
  t.match(await place.reload(overlayOf(server.port, 2)), { status: 200 });
  server.isDown = false;
  await until('the item has arrived', () => server.received.length >= 3);
  t.equal(server.received[2], '/a/2 item-3', 'the new exporter sends it');

  server.isDown = true;
  t.equal(await place.send('item-4'), 200);
  const hanging = faulty('hang');
  await place.daemon.logged(/"msg":"Reloading|Loaded queued batches/);
  await until('the reload is in progress', async () => (await place.series(/odd_number/)).length > 1);
  t.strictSame(
    await place.daemon.stop(),
    { code: 0, signal: null },
    'a start that hangs does not stop the stop',
  );
  await hanging.catch(() => undefined);
  t.match(place.daemon.stderr(), /exporter \\"odd\\" could not start: the daemon is stopping/);
});

void t.test('an exporter may change the type of its queue, and a removed one leaves no series', async (t) => {
  const server = await startServer(t);
  server.isDown = true;
  const inMemory = '{ type: memory, batch: { max_wait: 10ms } }';
  const place = await startPlace(t, overlayOf(server.port, 0, { queue: inMemory }));
  t.equal(await place.send('item-1'), 200);
  t.match(await place.reload(overlayOf(server.port, 1)), { status: 200 });
  await until(
    'the item is on disk',
    async () => (await place.series(/queue_items{exporter="http\/a",signal="logs"} 1$/)).length === 1,
  );
  await place.daemon.stop('SIGKILL');
  const { folder, daemon } = place;
  const again = await startPlace(t, overlayOf(server.port, 1), { folder, key: daemon.key });
  const ofRemoved = async () => (await again.series(/exporter="http\/a"/)).length;
  t.ok((await ofRemoved()) > 10);
  const without = overlayOf(server.port, 1).replace('[http/a, odd]', '[odd]');
  t.match(await again.reload(without), { status: 200, body: { removed: ['exporter "http/a"'] } });
  await again.daemon.logged(/"items":1.*no longer uses its queue on disk/);
  await until('all series are gone', async () => (await ofRemoved()) === 0);
  server.isDown = false;
  t.match(await again.reload(overlayOf(server.port, 2)), { status: 200 });
  await until('the item has arrived', () => server.received.length === 1);
  t.strictSame(server.received, ['/a/2 item-1'], 'after a crash and a removal');
  t.match(await again.daemon.stop(), { code: 0 });
});

void t.test('--watch notices renamed files, swapped links and plugins written in place', async (t) => {
  const folder = testFolder(t);
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
  };
  const level = (name: string) => `service: { telemetry: { logs: { level: ${name} } } }\n`;
  // As Kubernetes mounts a ConfigMap.
  for (const version of ['..1', '..2']) mkdirSync(join(folder, 'mounted', version), { recursive: true });
  put('mounted/..1/more.yaml', level('info'));
  put('mounted/..2/more.yaml', level('debug'));
  symlinkSync('..1', join(folder, 'mounted/..data'));
  symlinkSync('..data/more.yaml', join(folder, 'mounted/more.yaml'));
  const { daemon } = await startPlace(t, overlayOf(1, 0), {
    folder,
    arguments: ['--watch', '--config', 'mounted'],
  });
  const reports = () => daemon.stderr().split('"msg":"Reloaded the configuration"').length - 1;

  symlinkSync('..2', join(folder, 'mounted/..new'));
  renameSync(join(folder, 'mounted/..new'), join(folder, 'mounted/..data'));
  await daemon.logged(/"keys":\["service\.telemetry\.logs\.level"\].*"msg":"Reloaded the configuration"/);
  t.equal(reports(), 1);

  // Next to the daemon, a folder with a new file is still its own.
  put('mounted/more-2.yaml', 'service: { shutdown_delay: 1ms }\n');
  const args = ['config-0.yaml', 'config-1.yaml', 'config-2.yaml', 'mounted'].flatMap((name) => [
    '--config',
    name,
  ]);
  t.match(await runCli(['validate', ...args], { cwd: folder }), { code: 0 });
  await until('it is applied', () => reports() === 2);

  // Editors write a new file and rename it; for a moment there is none.
  renameSync(join(folder, 'config-2.yaml'), join(folder, 'config-2.yaml~'));
  put('config-2.yaml.new', overlayOf(1, 1));
  renameSync(join(folder, 'config-2.yaml.new'), join(folder, 'config-2.yaml'));
  await daemon.logged(/"keys":\["exporters\.http\/a\.url"\]/);
  t.equal(reports(), 3);

  put('plugin/odd.mjs', 'export default broken;');
  await daemon.logged(/config-2\.yaml:\d+:\d+: error: .*plugin .*broken is not defined/);
  put('plugin/odd.mjs', PLUGIN.replace('DESCRIPTION', 'description'));
  await until('the plugin is loaded again', () => reports() === 4);
  t.match(daemon.stderr(), /"changed":\["exporter \\"odd\\""\]/);
  t.match(await daemon.stop(), { code: 0 });
});

void t.test('a plugin that could not be loaded at first is loaded once it is mended', async (t) => {
  const place = await startPlace(t, 'service: {}');
  place.put('plugin/odd.mjs', 'export default {');
  t.match(await place.reload(overlayOf(1, 0)), { status: 422 });
  place.put('plugin/odd.mjs', PLUGIN);
  const { status, body } = await place.reload(overlayOf(1, 0));
  t.match(body, { result: 'applied' });
  t.equal(status, 200);
  t.match(await place.daemon.stop(), { code: 0 });
});
