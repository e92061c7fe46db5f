import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { provideStore, sendFilling, type Filling } from './filled-store.js';
import type { Latency, SampledTrace } from './load-plan.js';
import { round } from './read.js';
import { readRoutes } from './read-routes.js';
import { ms, table, type Print } from './report.js';
import { onScaleStores, type ScaleStoresOptions } from './scale-stores.js';

/** To each route at most so many requests, and so long. */
const ROUND = { requests: 100, seconds: 4 };
/** Large groups are what ClickHouse takes fastest. */
const FILLING_CONNECTIONS = 256;

export interface ScaleReadsOptions extends Pick<ScaleStoresOptions, 'control'> {
  /** Size of the store. */
  readonly spans: number;
  /** Where filled stores of DuckDB are kept. */
  readonly data?: string | undefined;
}

/** A route by its name, and how long it took. */
type RouteLatencies = ReadonlyMap<string, Latency>;

/** How long every route that reads runs takes over ClickHouse, and over DuckDB filled with the same, one after the other on this machine. */
export async function scaleReads({ spans, data, control }: ScaleReadsOptions, print: Print): Promise<void> {
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
