import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUNS, SPANS } from '../src/storage/clickhouse/tables/run-tables.js';
import { ClickHouseServer } from '../test/support/clickhouse-server.js';
import { PostgresServer } from '../test/support/postgres.js';
import { startDiscardingProxy, type DiscardingProxy } from './discarding-proxy.js';
import { cpuSeconds, familyCpuSeconds } from './process-usage.js';

/** What gateways of a bench stand on, each engine in processes of its own on this machine. */
export interface ScaleStores {
  /** Path of the configuration that is laid over a gateway's. */
  readonly config: string;
  /** Null where nothing is discarded. */
  readonly proxy: DiscardingProxy | null;
  /** Processor time of the engines so far, in seconds, by name; undefined where it is unknown. */
  readonly cpu: () => Promise<Readonly<Record<string, number | undefined>>>;
  /** Of all tables. */
  bytesOnDisk(): Promise<number>;
  /** Resolves when ClickHouse merges nothing any more. @returns how many parts the tables have */
  merged(): Promise<number>;
}

export interface ScaleStoresOptions {
  /** Where the control store is. */
  readonly control: 'sqlite' | 'postgres';
  /** Whether the rows of spans and runs, the most of what is inserted, go nowhere. What settling a write reads, it finds. */
  readonly discard?: boolean;
}

/** Does work over empty stores, which are removed afterwards, whatever happens. */
export async function onScaleStores<T>(
  { control, discard = false }: ScaleStoresOptions,
  work: (stores: ScaleStores) => Promise<T>,
): Promise<T> {
  const ends: (() => Promise<void> | void)[] = [];
  const owner = {
    teardown: (end: () => Promise<void> | void) => {
      ends.push(end);
    },
  };
  try {
    const clickhouse = running(await ClickHouseServer.start(owner as never));
    const postgres = control === 'postgres' ? running(await PostgresServer.start(owner as never)) : null;
    const proxy = discard ? await startDiscardingProxy(clickhouse.url, [SPANS.name, RUNS.name]) : null;
    ends.push(() => proxy?.close());
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-scale-'));
    ends.push(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const config = join(folder, 'scale.yaml');
    const database = clickhouse.newDatabase();
    const { url = clickhouse.url } = proxy ?? {};
    const { password } = clickhouse;
    const place = { urls: [url], database, password };
    writeFileSync(config, overlay(place, await postgres?.createDatabase()));
    const count = async (sql: string): Promise<number> => {
      const [[found = 0] = []] = await clickhouse.query(sql);
      return Number(found);
    };
    return await work({
      config,
      proxy,
      cpu: async () => ({
        ClickHouse: await cpuSeconds(clickhouse.pid),
        ...(postgres !== null && { PostgreSQL: await familyCpuSeconds(postgres.pid) }),
      }),
      bytesOnDisk: async () =>
        await count(`SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '${database}'`),
      merged: async () => {
        while ((await count('SELECT count() FROM system.merges')) > 0)
          await new Promise((resolve) => setTimeout(resolve, 500));
        return await count(`SELECT count() FROM system.parts WHERE active AND database = '${database}'`);
      },
    });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function running<Server>(server: Server | string): Server {
  if (typeof server === 'string') throw new Error(server);
  return server;
}

function overlay(clickhouse: object, postgres: string | undefined): string {
  const control = postgres === undefined ? 'sqlite' : 'postgres';
  return JSON.stringify({
    // Without a folder no key can be made.
    ...(postgres === undefined ? {} : { secrets: { key: Buffer.alloc(32, 'k').toString('base64') } }),
    extensions: {
      ...(postgres === undefined ? {} : { postgres: { url: postgres } }),
      duckdb: { control },
      clickhouse: { ...clickhouse, control },
      query: { store: 'clickhouse', control },
    },
    receivers: { outbox: { control } },
    processors: { quota: { store: 'clickhouse', control } },
    exporters: {
      'storage/clickhouse': { store: 'clickhouse' },
      alerts: { store: 'clickhouse', control },
      webhook: { control },
    },
    service: {
      extensions: [control, 'duckdb', 'clickhouse', 'query', 'health'],
      pipelines: {
        traces: { exporters: ['storage/clickhouse', 'alerts'] },
        logs: { exporters: ['storage/clickhouse'] },
        metrics: { processors: ['validation'], exporters: ['storage'] },
      },
    },
  });
}
