import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { provideStore, sendFilling, type Filling } from './filled-store.js';
import type { Latency, SampledTrace } from './load-plan.js';
import { readRoutes } from './read-routes.js';
import { round } from './read.js';
import { ms, printSetup, lines, type Print, table } from './report.js';
import { onScaleStores, type ScaleStores, type ScaleStoresOptions } from './scale-stores.js';
import { throughput, type ThroughputStats, type ThroughputOptions } from './throughput.js';

/** What `POST /api/v1/traces/batch` takes at most. */
const SPANS_PER_REQUEST = 100;

export interface ScaleOptions
  extends
    ScaleStoresOptions,
    Omit<
      ThroughputOptions,
      'kind' | 'itemsPerRequest' | 'items' | 'config' | 'without' | 'daemons' | 'isDiscarded'
    > {
  /** How many share the load. */
  readonly gateways: number;
  /** Sizes of stores whose read routes are measured afterwards, beside DuckDB's; none where absent. */
  readonly readSpans?: readonly number[];
  /** Where filled stores of DuckDB are kept. */
  readonly data?: string;
}

/**
 * `npm run bench -- scale`: spans per second that gateways take into ClickHouse, acknowledged after what follows from them is stored, with
 * both engines on the same machine, and what each process takes for a span; then how long each read route takes.
 *
 * @returns the figures of writing; null where nothing was written, as `seconds` is 0
 */
export async function scale(options: ScaleOptions, print: Print): Promise<ThroughputStats | null> {
  const { readSpans = [], data, ...settings } = options;
  printSetup(print, 'scale', { loop: options.rate === undefined ? 'closed' : 'open', ...options });
  const written =
    options.seconds === 0
      ? null
      : await onScaleStores(options, async (stores) => await write(settings, stores, print));
  for (const spans of readSpans) await scaleReads({ spans, data, control: options.control }, print);
  return written;
}

async function write(
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
  const each = (seconds: number | undefined): string =>
    seconds === undefined ? 'unknown' : `${((seconds / measured.items) * 1e6).toFixed(1)} µs a span`;
  const main = stats.mainThreadSeconds;
  const discarded = stores.proxy?.discarded();
  print(
    lines([
      ['gateways', `${gateways}: ${each(stats.daemonCpuSeconds)}`],
      [
        'their main threads',
        `${each(main)}${main === undefined ? '' : `: with a core of its own one gateway takes ${(measured.items / main).toFixed(0)} spans/s at most`}`,
      ],
      ...Object.entries(stats.otherCpuSeconds).map(([name, seconds]) => [name, each(seconds)] as const),
      discarded === undefined
        ? ['on disk', `${((await stores.bytesOnDisk()) / acknowledged.items).toFixed(0)} bytes a span`]
        : [
            'discarded',
            `${discarded.inserts} inserts, ${(discarded.bytes / acknowledged.items).toFixed(0)} bytes a span`,
          ],
      ['load generator', `${ms((measured.cpuSeconds / measured.items) * 1e6)} µs a span`],
    ]),
  );
  return stats;
}

/** To each route at most so many requests, and so long. */
const ROUND = { requests: 100, seconds: 4 };
/** Large groups are what ClickHouse takes fastest. */
const FILLING_CONNECTIONS = 256;

interface ScaleReadsOptions extends Pick<ScaleStoresOptions, 'control'> {
  /** Size of the store. */
  readonly spans: number;
  /** Where filled stores of DuckDB are kept. */
  readonly data?: string | undefined;
}

/** A route by its name, and how long it took. */
type RouteLatencies = ReadonlyMap<string, Latency>;

/** How long every route that reads runs takes over ClickHouse, and over DuckDB filled with the same, one after the other on this machine. */
async function scaleReads({ spans, data, control }: ScaleReadsOptions, print: Print): Promise<void> {
  const filling = { kind: 'batch', items: spans } as const;
  print(`\nreads at ${spans} spans`);
  const duckdb = await inFreshDirectory(async (directory) => {
    const store = join(directory, 'store');
    const samples = await provideStore(filling, store, data, print);
    return await onDaemon(store, undefined, async (url) => await measure(filling, url, samples));
  });
  const clickhouse = await onScaleStores({ control }, async (stores) =>
    inFreshDirectory(async (directory) =>
      onDaemon(directory, stores.config, async (url) => {
        const samples = await sendFilling(filling, url, print, FILLING_CONNECTIONS);
        const parts = await stores.merged();
        const bytes = (await stores.bytesOnDisk()) / spans;
        print(`  ClickHouse: ${parts} parts of tables, ${bytes.toFixed(0)} bytes a span`);
        return await measure(filling, url, samples);
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

async function measure(
  { kind }: Filling,
  url: string,
  samples: readonly SampledTrace[],
): Promise<RouteLatencies> {
  const api = new Api(url, BENCH_KEY);
  const routes = await readRoutes(kind, api, samples);
  const latencies = await round(api, routes, ROUND);
  await api.close();
  return new Map(
    routes.flatMap(({ name }, i) => {
      const latency = latencies[i];
      return latency === undefined ? [] : [[name, latency] as const];
    }),
  );
}
