import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { provideStore, sendContents, type StoreContents } from './filled-store.js';
import type { Latency, SampledTrace } from './load-plan.js';
import { readRoutes } from './read-routes.js';
import { measureRoutes } from './read.js';
import { lines, microsPer, ms, printSetup, type Print, table } from './report.js';
import { withScaleStores, type ScaleStores, type ScaleStoresOptions } from './scale-stores.js';
import { throughput, type ThroughputStats, type ThroughputOptions } from './throughput.js';

const SPANS_PER_REQUEST = 100;

export interface ScaleOptions
  extends
    ScaleStoresOptions,
    Omit<
      ThroughputOptions,
      'kind' | 'itemsPerRequest' | 'items' | 'config' | 'without' | 'daemons' | 'isDiscarded'
    > {
  /** Number of daemons that share the load. */
  readonly gateways: number;
  /** Store sizes for comparing read routes with DuckDB. Default: none. */
  readonly readSpans?: readonly number[];
  /** Directory of filled DuckDB stores to reuse. */
  readonly data?: string;
}

/**
 * `npm run bench -- scale`: ingestion by gateways into ClickHouse, with CPU time of every process per span; then the latency of each read
 * route. All engines run on this machine.
 *
 * @returns results of ingestion; null if `seconds` is 0
 */
export async function scale(options: ScaleOptions, print: Print): Promise<ThroughputStats | null> {
  const { readSpans = [], data, ...settings } = options;
  printSetup(print, 'scale', { loop: options.rate === undefined ? 'closed' : 'open', ...options });
  const written =
    options.seconds === 0
      ? null
      : await withScaleStores(options, async (stores) => await measureIngestion(settings, stores, print));
  for (const spans of readSpans) await scaleReads({ spans, data, control: options.control }, print);
  return written;
}

async function measureIngestion(
  { gateways, ...options }: Omit<ScaleOptions, 'readSpans' | 'data'>,
  stores: ScaleStores,
  print: Print,
): Promise<ThroughputStats> {
  const stats = await throughput(
    {
      ...options,
      kind: 'batch',
      itemsPerRequest: SPANS_PER_REQUEST,
      config: stores.config,
      daemons: gateways,
      isDiscarded: options.discard === true,
      otherCpu: stores.cpu,
    },
    print,
  );
  const { acknowledged, measured } = stats.load;
  const perSpan = (seconds: number | undefined): string => `${microsPer(measured.items, seconds)} per span`;
  const main = stats.mainThreadSeconds;
  const discarded = stores.proxy?.discarded();
  print(
    lines([
      ['gateways', `${gateways}: ${perSpan(stats.daemonCpuSeconds)}`],
      [
        'main threads',
        `${perSpan(main)}${main === undefined ? '' : `; at most ${(measured.items / main).toFixed(0)} spans/s per gateway and core`}`,
      ],
      ...Object.entries(stats.otherCpuSeconds).map(([name, seconds]) => [name, perSpan(seconds)] as const),
      discarded === undefined
        ? ['on disk', `${((await stores.bytesOnDisk()) / acknowledged.items).toFixed(0)} bytes per span`]
        : [
            'discarded',
            `${discarded.inserts} inserts, ${(discarded.bytes / acknowledged.items).toFixed(0)} bytes per span`,
          ],
      ['load generator', `${ms((measured.cpuSeconds / measured.items) * 1e6)} µs per span`],
    ]),
  );
  return stats;
}

/** Limits per route. */
const ROUND = { requests: 100, seconds: 4 };
/** ClickHouse ingests large groups fastest. */
const FILLING_CONNECTIONS = 256;

interface ScaleReadsOptions extends Pick<ScaleStoresOptions, 'control'> {
  /** Spans in the store. */
  readonly spans: number;
  /** Directory of filled DuckDB stores to reuse. */
  readonly data?: string | undefined;
}

/** Latencies by route name. */
type RouteLatencies = ReadonlyMap<string, Latency>;

/** Compares the latency of read routes of ClickHouse and of DuckDB with the same contents. */
async function scaleReads({ spans, data, control }: ScaleReadsOptions, print: Print): Promise<void> {
  const filling = { kind: 'batch', items: spans } as const;
  print(`\nreads at ${spans} spans`);
  const duckdb = await withTempDirectory(async (directory) => {
    const store = join(directory, 'store');
    const samples = await provideStore(filling, store, data, print);
    return await onDaemon(store, undefined, async (url) => await measureReads(filling, url, samples));
  });
  const clickhouse = await withScaleStores({ control }, async (stores) =>
    withTempDirectory(async (directory) =>
      onDaemon(directory, stores.config, async (url) => {
        const samples = await sendContents(filling, url, print, FILLING_CONNECTIONS);
        const parts = await stores.merged();
        const bytes = (await stores.bytesOnDisk()) / spans;
        print(`  ClickHouse: ${parts} table parts, ${bytes.toFixed(0)} bytes per span`);
        return await measureReads(filling, url, samples);
      }),
    ),
  );
  const rows = [...clickhouse].map(([name, { count, p50, p99 }]) => {
    const embedded = duckdb.get(name);
    return [
      name,
      ...(embedded === undefined ? ['', ''] : [ms(embedded.p50), ms(embedded.p99)]),
      String(count),
      ms(p50),
      ms(p99),
    ];
  });
  print(table(['route', 'DuckDB p50', 'p99', 'ClickHouse: n', 'p50', 'p99'], rows));
}

async function onDaemon<T>(
  directory: string,
  extra: string | undefined,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const daemon = await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY, extra }));
  try {
    const result = await work(daemon.url);
    await daemon.stop();
    return result;
  } finally {
    await daemon.kill();
  }
}

async function measureReads(
  { kind }: StoreContents,
  url: string,
  samples: readonly SampledTrace[],
): Promise<RouteLatencies> {
  const api = new Api(url, BENCH_KEY);
  const routes = await readRoutes(kind, api, samples);
  const latencies = await measureRoutes(api, routes, ROUND);
  await api.close();
  return new Map(
    routes.flatMap(({ name }, i) => {
      const latency = latencies[i];
      return latency === undefined ? [] : [[name, latency] as const];
    }),
  );
}
