import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { provideStore, type Filling } from './filled-store.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { residentMiB, cpuSeconds } from './process-usage.js';
import { readRoutes, TARGET_RATIO, type ReadRoute } from './read-routes.js';
import { ms, printSetup, table, type Print } from './report.js';

const INGEST_CONNECTIONS = 64;
/** For the daemon to get into its stride before the second round. */
const INGEST_WARMUP_SECONDS = 3;

export interface ReadOptions {
  /** Sizes of stores, one after the other: spans, traces that used a prompt, log records, metric points. */
  readonly spans: readonly number[];
  readonly linkedTraces: readonly number[];
  readonly logRecords: readonly number[];
  readonly metricPoints: readonly number[];
  /** Spans per second during the second round; 0: no second round. */
  readonly ingestRate: number;
  readonly requests: number;
  /** At most so long for each route. */
  readonly seconds: number;
  readonly data?: string;
  readonly config?: string;
  /** Whether the daemon is started anew for each route, to see what the first request takes. */
  readonly firsts?: boolean;
}

/** Of one route over one store. */
export interface ReadStats {
  readonly route: ReadRoute;
  readonly alone: Latency;
  readonly during: Latency | undefined;
}

/**
 * `npm run bench -- read`: how long every read route takes, alone and during ingestion.
 *
 * @returns the figures of each store by what it holds: `1000000 spans`
 */
export async function read(options: ReadOptions, print: Print): Promise<ReadonlyMap<string, ReadStats[]>> {
  printSetup(print, 'read', { ...options });
  const results = new Map<string, ReadStats[]>();
  const stores: readonly (readonly [Filling['kind'], string, readonly number[]])[] = [
    ['batch', 'spans', options.spans],
    ['prompts', 'linked traces', options.linkedTraces],
    ['logs', 'log records', options.logRecords],
    ['metrics', 'metric points', options.metricPoints],
  ];
  for (const [kind, name, sizes] of stores) {
    for (const items of sizes.filter((size) => size > 0)) {
      const title = `${items} ${name}`;
      print(`\n${title}`);
      const stats = await inFreshDirectory((directory) =>
        measure({ kind, items }, options, join(directory, 'store'), print),
      );
      print(readTable(stats));
      results.set(title, stats);
    }
  }
  return results;
}

async function measure(
  filling: Filling,
  options: ReadOptions,
  directory: string,
  print: Print,
): Promise<ReadStats[]> {
  const samples = await provideStore(filling, directory, options.data, print);
  const files = await writeDaemonConfig({ directory, key: BENCH_KEY, extra: options.config });
  const daemon = await DaemonProcess.start(files);
  const memory = (await residentMiB(daemon.pid))?.toFixed(0) ?? 'unknown';
  print(`  spawn to ready ${ms(daemon.startMs)} ms, memory then ${memory} MiB`);
  const api = new Api(daemon.url, BENCH_KEY);
  let load: LoadProcess | undefined;
  try {
    const routes = await readRoutes(filling.kind, api, samples);
    const alone = await round(api, routes, options);
    let during: Latency[] = [];
    if (options.ingestRate > 0) {
      load = await startIngestion(daemon.url, options.ingestRate);
      during = await round(api, routes, options);
      load.stop();
      const { measured, errors } = await load.result;
      const rate = (measured.items / measured.seconds).toFixed(0);
      const failures = Object.keys(errors).length === 0 ? '' : `, errors ${JSON.stringify(errors)}`;
      print(
        `  ingestion beside it: ${rate} of ${options.ingestRate} spans/s, acknowledged at p50 ${ms(measured.latency.p50)}, p99 ${ms(measured.latency.p99)} ms, ${measured.unsent} requests behind${failures}`,
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
    seed: 'bench/beside',
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

/** One route after the other, one request after the other. */
export async function round(
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

/** Requests to a route behind the first one. */
const FURTHER = 8;
/** How long a started daemon is left alone for its upkeep. */
const SETTLE_MS = 500;
/** What a daemon takes that has just been started. */
interface FirstRequest {
  readonly route: ReadRoute;
  /** For the first request. */
  readonly first: Taken;
  /** For those that follow: median of the time, mean of the processor time. */
  readonly then: Taken;
}

interface Taken {
  readonly ms: number;
  /** Of all threads of the daemon, to hundredths of a second; undefined off Linux. */
  readonly cpuMs: number | undefined;
}

/**
 * Asks each route of a daemon that was started for it alone.
 *
 * @param files of the daemon's configuration
 */
async function firstRequests(
  files: readonly string[],
  routes: readonly ReadRoute[],
): Promise<readonly FirstRequest[]> {
  const requests: FirstRequest[] = [];
  for (const route of routes) {
    const taken = await withDaemon(files, async (daemon, api) => {
      await sleep(SETTLE_MS);
      return await askTwice(daemon.pid, api, route);
    });
    requests.push({ route, ...taken });
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
    // The connection and the key are no part of it.
    await api.text('/me');
    const found = await work(daemon, api);
    await api.close();
    await daemon.stop();
    return found;
  } finally {
    await daemon.kill();
  }
}

async function askTwice(pid: number, api: Api, route: ReadRoute): Promise<{ first: Taken; then: Taken }> {
  const first = await take(pid, () => api.text(route.path(0)));
  const recorder = new LatencyRecorder();
  const { cpuMs } = await take(pid, async () => {
    for (let request = 1; request <= FURTHER; request += 1) {
      const startedMs = performance.now();
      await api.text(route.path(request));
      recorder.record(performance.now() - startedMs);
    }
  });
  return {
    first,
    then: { ms: recorder.summary().p50, cpuMs: cpuMs === undefined ? undefined : cpuMs / FURTHER },
  };
}

async function take(pid: number, work: () => Promise<unknown>): Promise<Taken> {
  const [before, startedMs] = [await cpuSeconds(pid), performance.now()];
  await work();
  const [endedMs, after] = [performance.now(), await cpuSeconds(pid)];
  return {
    ms: endedMs - startedMs,
    cpuMs: before === undefined || after === undefined ? undefined : (after - before) * 1000,
  };
}

function firstRequestsTable(requests: readonly FirstRequest[]): string {
  const cpu = ({ cpuMs }: Taken): string => (cpuMs === undefined ? '' : cpuMs.toFixed(0));
  return table(
    ['route', 'first: ms', 'CPU', 'then: p50', 'CPU'],
    requests.map(({ route, first, then }) => [
      route.name,
      ...[first, then].flatMap((taken) => [ms(taken.ms), cpu(taken)]),
    ]),
  );
}
