import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { provideStore, type StoreContents } from './filled-store.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { residentMiB, cpuSeconds } from './process-usage.js';
import { readRoutes, TARGET_RATIO, type ReadRoute } from './read-routes.js';
import { ms, printSetup, table, type Print } from './report.js';

const INGEST_CONNECTIONS = 64;
/** Warm-up of ingestion before the second round. */
const INGEST_WARMUP_SECONDS = 3;

export interface ReadOptions {
  /** Sizes of stores to measure: spans, traces that use a prompt, log records, metric points. */
  readonly spans: readonly number[];
  readonly linkedTraces: readonly number[];
  readonly logRecords: readonly number[];
  readonly metricPoints: readonly number[];
  /** Spans per second during the second round. 0: no second round. */
  readonly ingestRate: number;
  readonly requests: number;
  /** Maximum seconds per route. */
  readonly seconds: number;
  readonly data?: string;
  readonly config?: string;
  /** Whether to also measure the first request to each route of a fresh daemon. */
  readonly firsts?: boolean;
}

/** Latencies of a route over one store. */
export interface ReadStats {
  readonly route: ReadRoute;
  readonly alone: Latency;
  readonly during: Latency | undefined;
}

/**
 * `npm run bench -- read`: the latency of every read route, alone and during ingestion.
 *
 * @returns results by store, such as `1000000 spans`
 */
export async function read(options: ReadOptions, print: Print): Promise<ReadonlyMap<string, ReadStats[]>> {
  printSetup(print, 'read', { ...options });
  const results = new Map<string, ReadStats[]>();
  const stores: readonly (readonly [StoreContents['kind'], string, readonly number[]])[] = [
    ['batch', 'spans', options.spans],
    ['prompts', 'linked traces', options.linkedTraces],
    ['logs', 'log records', options.logRecords],
    ['metrics', 'metric points', options.metricPoints],
  ];
  for (const [kind, name, sizes] of stores) {
    for (const items of sizes.filter((size) => size > 0)) {
      const title = `${items} ${name}`;
      print(`\n${title}`);
      const stats = await withTempDirectory((directory) =>
        measure({ kind, items }, options, join(directory, 'store'), print),
      );
      print(readTable(stats));
      results.set(title, stats);
    }
  }
  return results;
}

async function measure(
  contents: StoreContents,
  options: ReadOptions,
  directory: string,
  print: Print,
): Promise<ReadStats[]> {
  const samples = await provideStore(contents, directory, options.data, print);
  const files = await writeDaemonConfig({ directory, key: BENCH_KEY, extra: options.config });
  const daemon = await DaemonProcess.start(files);
  const memory = (await residentMiB(daemon.pid))?.toFixed(0) ?? 'unknown';
  print(`  spawn to ready ${ms(daemon.startMs)} ms, memory ${memory} MiB`);
  const api = new Api(daemon.url, BENCH_KEY);
  let load: LoadProcess | undefined;
  try {
    const routes = await readRoutes(contents.kind, api, samples);
    const alone = await measureRoutes(api, routes, options);
    let during: Latency[] = [];
    if (options.ingestRate > 0) {
      load = await startIngestion(daemon.url, options.ingestRate);
      during = await measureRoutes(api, routes, options);
      load.stop();
      const { measured, errors } = await load.result;
      const rate = (measured.items / measured.seconds).toFixed(0);
      const failures = Object.keys(errors).length === 0 ? '' : `, errors ${JSON.stringify(errors)}`;
      print(
        `  ingestion in the second round: ${rate} of ${options.ingestRate} spans/s, acknowledged at p50 ${ms(measured.latency.p50)}, p99 ${ms(measured.latency.p99)} ms, ${measured.unsent} requests not sent${failures}`,
      );
    }
    await api.close();
    await daemon.stop();
    if (options.firsts === true) {
      print(`  First requests\n${firstRequestsTable(await firstRequests(files, routes))}`);
    }
    return routes.flatMap((route, index) => {
      const latency = alone[index];
      return latency === undefined ? [] : [{ route, alone: latency, during: during[index] }];
    });
  } finally {
    await load?.kill();
    await daemon.kill();
  }
}

async function startIngestion(url: string, spansPerSecond: number): Promise<LoadProcess> {
  const load = await LoadProcess.start({
    kind: 'batch',
    url,
    key: BENCH_KEY,
    // Other bodies than those of the store.
    seed: 'bench/during',
    connections: INGEST_CONNECTIONS,
    itemsPerSecond: spansPerSecond,
    itemsPerRequest: 100,
    templates: 500,
    warmupSeconds: INGEST_WARMUP_SECONDS,
    times: 'now',
    samples: 0,
  });
  load.go();
  await load.measuring;
  return load;
}

/** Measures one route after the other, one request at a time. */
export async function measureRoutes(
  api: Api,
  routes: readonly ReadRoute[],
  options: Pick<ReadOptions, 'requests' | 'seconds'>,
): Promise<Latency[]> {
  const latencies: Latency[] = [];
  for (const route of routes) {
    const recorder = new LatencyRecorder();
    const untilMs = performance.now() + options.seconds * 1000;
    for (let request = 0; request < options.requests && performance.now() < untilMs; request += 1) {
      const startedMs = performance.now();
      await api.text(route.path(request));
      recorder.record(performance.now() - startedMs);
    }
    latencies.push(recorder.summary());
  }
  return latencies;
}

function readTable(stats: readonly ReadStats[]): string {
  const head = ['route', 'n', 'p50', 'p99', 'target', 'during: n', 'p50', 'p99', 'ratio', 'target'];
  const rows = stats.map(({ route, alone, during }) => [
    route.name,
    String(alone.count),
    ms(alone.p50),
    ms(alone.p99),
    route.targetMs === undefined ? '' : `< ${route.targetMs}`,
    ...(during === undefined
      ? ['', '', '', '', '']
      : [
          String(during.count),
          ms(during.p50),
          ms(during.p99),
          (during.p50 / alone.p50).toFixed(1),
          `<= ${TARGET_RATIO}`,
        ]),
  ]);
  return table(head, rows);
}

/** Requests to a route after the first one. */
const REPEATED_REQUESTS = 8;
/** Time for maintenance after the start of a daemon. */
const MAINTENANCE_PAUSE_MS = 500;

/** Cost of requests to a daemon that has just started. */
interface FirstRequest {
  readonly route: ReadRoute;
  /** The first request. */
  readonly first: Cost;
  /** The following requests: median of the latency, mean of the CPU time. */
  readonly repeated: Cost;
}

interface Cost {
  readonly ms: number;
  /** CPU time of the daemon with a resolution of 10 ms; undefined off Linux. */
  readonly cpuMs: number | undefined;
}

/**
 * Starts a daemon for each route and measures its first requests.
 *
 * @param files configuration files of the daemon
 */
async function firstRequests(
  files: readonly string[],
  routes: readonly ReadRoute[],
): Promise<readonly FirstRequest[]> {
  const requests: FirstRequest[] = [];
  for (const route of routes) {
    const costs = await withDaemon(files, async (daemon, api) => {
      await sleep(MAINTENANCE_PAUSE_MS);
      return await measureFirstAndRepeated(daemon.pid, api, route);
    });
    requests.push({ route, ...costs });
  }
  return requests;
}

async function withDaemon<T>(
  files: readonly string[],
  work: (daemon: DaemonProcess, api: Api) => Promise<T>,
): Promise<T> {
  const daemon = await DaemonProcess.start(files);
  const api = new Api(daemon.url, BENCH_KEY);
  try {
    // Connecting and authenticating are not measured.
    await api.text('/me');
    const result = await work(daemon, api);
    await api.close();
    await daemon.stop();
    return result;
  } finally {
    await daemon.kill();
  }
}

async function measureFirstAndRepeated(
  pid: number,
  api: Api,
  route: ReadRoute,
): Promise<{ first: Cost; repeated: Cost }> {
  const first = await measureCost(pid, () => api.text(route.path(0)));
  const recorder = new LatencyRecorder();
  const { cpuMs } = await measureCost(pid, async () => {
    for (let request = 1; request <= REPEATED_REQUESTS; request += 1) {
      const startedMs = performance.now();
      await api.text(route.path(request));
      recorder.record(performance.now() - startedMs);
    }
  });
  return {
    first,
    repeated: {
      ms: recorder.summary().p50,
      cpuMs: cpuMs === undefined ? undefined : cpuMs / REPEATED_REQUESTS,
    },
  };
}

async function measureCost(pid: number, work: () => Promise<unknown>): Promise<Cost> {
  const [before, startedMs] = [await cpuSeconds(pid), performance.now()];
  await work();
  const [endedMs, after] = [performance.now(), await cpuSeconds(pid)];
  return {
    ms: endedMs - startedMs,
    cpuMs: before === undefined || after === undefined ? undefined : (after - before) * 1000,
  };
}

function firstRequestsTable(requests: readonly FirstRequest[]): string {
  const cpu = ({ cpuMs }: Cost): string => (cpuMs === undefined ? '' : cpuMs.toFixed(0));
  return table(
    ['route', 'first: ms', 'CPU', 'repeated: p50', 'CPU'],
    requests.map(({ route, first, repeated }) => [
      route.name,
      ...[first, repeated].flatMap((cost) => [ms(cost.ms), cpu(cost)]),
    ]),
  );
}
