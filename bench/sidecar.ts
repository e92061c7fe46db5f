import { createServer } from 'node:http';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { TelemetrySignal } from '../src/signal/batch.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { LoadProcess } from './load-process.js';
import { cpuSeconds } from './process-usage.js';
import { formatLatency, lines, printSetup, type Print } from './report.js';

/** Spans a second that a sidecar with a queue on disk is to take. */
const GOAL = 60_000;

export interface SidecarOptions {
  readonly signal: TelemetrySignal;
  readonly perRequest: number;
  readonly connections: number;
  readonly seconds: number;
  readonly warmup: number;
  readonly bodies: number;
  /** How often each kind of queue is measured, in turns. */
  readonly turns: number;
  readonly queues: readonly QueueKind[];
  readonly profile?: string;
}

/** On disk by when it is synced. */
export const QUEUE_KINDS = ['memory', 'always', 'interval'] as const;
type QueueKind = (typeof QUEUE_KINDS)[number];

/**
 * What a sidecar takes by OTLP and passes on to a gateway that answers at once, with each kind of queue. Processor time is that of the
 * whole process, until everything it took is delivered.
 */
export async function sidecar(options: SidecarOptions, print: Print): Promise<void> {
  printSetup(print, 'sidecar', { ...options });
  for (let turn = 1; turn <= options.turns; turn++)
    for (const kind of options.queues) {
      print(`\nqueue ${kind}, turn ${turn}${options.signal === 'traces' ? ` (goal ${GOAL} a second)` : ''}`);
      await inFreshDirectory((directory) => measure(options, kind, directory, print));
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
    await emptied(daemon.url);
    const drainedMs = performance.now() - endedMs;
    const after = await cpuSeconds(daemon.pid);
    const { acknowledged, measured, errors } = result;
    const cpu = ((after ?? NaN) - (before ?? NaN)) * 1e6;
    print(
      lines([
        ['taken a second', (measured.items / measured.seconds).toFixed(0)],
        ['acknowledgement', formatLatency(measured.latency)],
        ['processor time an item', `${(cpu / acknowledged.items).toFixed(1)} µs, delivery included`],
        ['delivered after the end', `${(drainedMs / 1000).toFixed(1)} s`],
        ['errors', JSON.stringify(errors)],
        ['requests', `${acknowledged.requests} came, ${gateway.requests()} went`],
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
  // In memory as much as may wait on disk: it is measured what is taken, not how soon it is full.
  const queue = kind === 'memory' ? { max_items: 10_000_000, max_size: '1GiB' } : onDisk;
  const pipeline = { processors: ['validation'], exporters: ['otlp_http'] };
  return stringify({
    exporters: { otlp_http: { endpoint, queue } },
    service: { pipelines: { traces: pipeline, metrics: pipeline, logs: pipeline } },
  });
}

/** Answers everything at once, without reading it. */
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

/** Waits until the daemon has delivered all that it has taken. */
async function emptied(url: string): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const waiting = [...text.matchAll(/^jackdaw_exporter_queue_items\{.*\} (\d+)$/gm)];
    if (waiting.length > 0 && waiting.every(([, count]) => count === '0')) return;
    await wait(50);
  }
}
