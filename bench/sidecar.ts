import { createServer } from 'node:http';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { TelemetrySignal } from '../src/signal/batch.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { LoadProcess } from './load-process.js';
import { cpuSeconds } from './process-usage.js';
import { formatLatency, lines, printSetup, type Print } from './report.js';

/** Spans per second with a queue on disk. */
const GOAL = 60_000;

export interface SidecarOptions {
  readonly signal: TelemetrySignal;
  readonly perRequest: number;
  readonly connections: number;
  readonly seconds: number;
  readonly warmup: number;
  readonly bodies: number;
  /** Number of rounds over all queues. */
  readonly turns: number;
  readonly queues: readonly QueueKind[];
  readonly profile?: string;
}

/** `always` and `interval` are disk queues with this `sync` setting. */
export const QUEUE_KINDS = ['memory', 'always', 'interval'] as const;
type QueueKind = (typeof QUEUE_KINDS)[number];

/**
 * `npm run bench -- sidecar`: OTLP items per second that a sidecar relays to a gateway, with each kind of queue. The gateway responds
 * immediately. CPU time is that of the whole process until everything is delivered.
 */
export async function sidecar(options: SidecarOptions, print: Print): Promise<void> {
  printSetup(print, 'sidecar', { ...options });
  for (let turn = 1; turn <= options.turns; turn++)
    for (const kind of options.queues) {
      print(
        `\nqueue ${kind}, turn ${turn}${options.signal === 'traces' ? ` (goal: ${GOAL} per second)` : ''}`,
      );
      await withTempDirectory((directory) => measure(options, kind, directory, print));
    }
}

async function measure(
  options: SidecarOptions,
  kind: QueueKind,
  directory: string,
  print: Print,
): Promise<void> {
  const { signal, perRequest, connections, seconds, warmup, bodies, profile } = options;
  const gateway = await startGateway();
  const extra = join(directory, 'sidecar.yaml');
  await writeFile(extra, configOf(kind, gateway.url, directory));
  const daemon = await DaemonProcess.start(
    await writeDaemonConfig({ directory, key: BENCH_KEY, extra }),
    profile,
  );
  let load: LoadProcess | undefined;
  try {
    load = await LoadProcess.start({
      ...{ kind: signal, url: daemon.url, key: BENCH_KEY, seed: 'sidecar', connections },
      ...{ itemsPerRequest: perRequest, templates: bodies, warmupSeconds: warmup, seconds },
      ...{ times: 'now', samples: 0 },
    });
    const before = await cpuSeconds(daemon.pid);
    load.go();
    const result = await load.result;
    const endedMs = performance.now();
    await waitUntilDelivered(daemon.url);
    const drainedMs = performance.now() - endedMs;
    const after = await cpuSeconds(daemon.pid);
    const { acknowledged, measured, errors } = result;
    const cpu = ((after ?? NaN) - (before ?? NaN)) * 1e6;
    print(
      lines([
        ['accepted per second', (measured.items / measured.seconds).toFixed(0)],
        ['acknowledgement', formatLatency(measured.latency)],
        ['CPU time per item', `${(cpu / acknowledged.items).toFixed(1)} µs, including delivery`],
        ['time to drain the queue', `${(drainedMs / 1000).toFixed(1)} s`],
        ['errors', JSON.stringify(errors)],
        ['requests', `${acknowledged.requests} accepted, ${gateway.requests()} sent`],
      ]),
    );
    await daemon.stop();
  } finally {
    await load?.kill();
    await daemon.kill();
    await gateway.close();
  }
}

function configOf(kind: QueueKind, endpoint: string, directory: string): string {
  const onDisk = {
    type: 'disk',
    directory: join(directory, 'queue'),
    sync: kind,
  };
  // The memory queue is as large as the disk queue, so that it does not fill up.
  const queue = kind === 'memory' ? { max_items: 10_000_000, max_size: '1GiB' } : onDisk;
  const pipeline = { processors: ['validation'], exporters: ['otlp_http'] };
  return stringify({
    exporters: { otlp_http: { endpoint, queue } },
    service: { pipelines: { traces: pipeline, metrics: pipeline, logs: pipeline } },
  });
}

/** Starts a server that accepts every request without parsing it. */
async function startGateway() {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    request.once('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Waits until all queues of the daemon are empty. */
async function waitUntilDelivered(url: string): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const queues = [...text.matchAll(/^jackdaw_exporter_queue_items\{.*\} (\d+)$/gm)];
    if (queues.length > 0 && queues.every(([, count]) => count === '0')) return;
    await sleep(50);
  }
}
