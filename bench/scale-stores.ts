import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUNS, SPANS } from '../src/storage/clickhouse/tables/run-tables.js';
import { ClickHouseServer } from '../test/support/clickhouse-server.js';
import { PostgresServer } from '../test/support/postgres.js';
import { startDiscardingProxy, type DiscardingProxy } from './discarding-proxy.js';
import { cpuSeconds, cpuSecondsWithChildren } from './process-usage.js';

/** The stores of gateways. Each engine is a separate process on this machine. */
export interface ScaleStores {
  /** Path of a configuration file to merge over that of a gateway. */
  readonly config: string;
  /** Null if nothing is discarded. */
  readonly proxy: DiscardingProxy | null;
  /** CPU time of the engines so far, in seconds, by name; undefined if unknown. */
  readonly cpu: () => Promise<Readonly<Record<string, number | undefined>>>;
  /** Size of all tables. */
  bytesOnDisk(): Promise<number>;
  /** Waits until ClickHouse has finished merging. @returns number of table parts */
  merged(): Promise<number>;
}

export interface ScaleStoresOptions {
  /** Engine of the control store. */
  readonly control: 'sqlite' | 'postgres';
  /** Whether to discard rows of spans and runs, which are most of the inserts. Other tables are written. */
  readonly discard?: boolean;
}

/** Runs `work` with empty stores and removes them afterwards. */
export async function withScaleStores<T>(
  { control, discard = false }: ScaleStoresOptions,
  work: (stores: ScaleStores) => Promise<T>,
): Promise<T> {
  const cleanups: (() => Promise<void> | void)[] = [];
  const owner = {
    teardown: (end: () => Promise<void> | void) => {
      cleanups.push(end);
    },
  };
  try {
    const clickhouse = started(await ClickHouseServer.start(owner as never));
    const postgres = control === 'postgres' ? started(await PostgresServer.start(owner as never)) : null;
    const proxy = discard ? await startDiscardingProxy(clickhouse.url, [SPANS.name, RUNS.name]) : null;
    cleanups.push(() => proxy?.close());
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-scale-'));
    cleanups.push(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const config = join(folder, 'scale.yaml');
    const database = clickhouse.newDatabase();
    const { url = clickhouse.url } = proxy ?? {};
    const { password } = clickhouse;
    const connection = { urls: [url], database, password };
    writeFileSync(config, overlay(connection, await postgres?.createDatabase()));
    const count = async (sql: string): Promise<number> => {
      const [[found = 0] = []] = await clickhouse.query(sql);
      return Number(found);
    };
    return await work({
      config,
      proxy,
      cpu: async () => ({
        ClickHouse: await cpuSeconds(clickhouse.pid),
        ...(postgres !== null && { PostgreSQL: await cpuSecondsWithChildren(postgres.pid) }),
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
    for (const end of cleanups.reverse()) await end();
  }
}

function started<Server>(server: Server | string): Server {
  if (typeof server === 'string') throw new Error(server);
  return server;
}

function overlay(clickhouse: object, postgres: string | undefined): string {
  const control = postgres === undefined ? 'sqlite' : 'postgres';
  return JSON.stringify({
    // PostgreSQL has no directory in which a key could be generated.
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
