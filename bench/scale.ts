import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClickHouseServer } from '../test/support/clickhouse-server.js';
import { PostgresServer } from '../test/support/postgres.js';
import { cpuSeconds } from './process-usage.js';
import { lines, printSetup, type Print } from './report.js';
import { throughput, type ThroughputFigures, type ThroughputOptions } from './throughput.js';

/** What `POST /api/v1/traces/batch` takes at most. */
const SPANS_PER_REQUEST = 100;

export interface ScaleOptions extends Omit<
  ThroughputOptions,
  'kind' | 'itemsPerRequest' | 'items' | 'config' | 'without'
> {
  /** Where the control store is. */
  readonly control: 'sqlite' | 'postgres';
}

/**
 * `npm run bench -- scale`: spans per second that one daemon takes into ClickHouse, acknowledged after what follows from them is stored, with
 * both engines on the same machine.
 */
export async function scale(options: ScaleOptions, print: Print): Promise<ThroughputFigures> {
  printSetup(print, 'scale', { loop: options.rate === undefined ? 'closed' : 'open', ...options });
  const ends: (() => Promise<void> | void)[] = [];
  const owner = {
    teardown: (end: () => Promise<void> | void) => {
      ends.push(end);
    },
  };
  try {
    const clickhouse = running(await ClickHouseServer.start(owner as never));
    const postgres =
      options.control === 'postgres' ? running(await PostgresServer.start(owner as never)) : null;
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-scale-'));
    ends.push(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const config = join(folder, 'scale.yaml');
    const database = clickhouse.newDatabase();
    writeFileSync(config, overlay(clickhouse, database, await postgres?.createDatabase()));
    const before = await cpuSeconds(clickhouse.pid);
    const figures = await throughput(
      { ...options, kind: 'batch', itemsPerRequest: SPANS_PER_REQUEST, config },
      print,
    );
    const after = await cpuSeconds(clickhouse.pid);
    const spans = figures.load.acknowledged.items;
    const [[bytes = 0] = []] = await clickhouse.query(
      `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '${database}'`,
    );
    print(
      lines([
        ['ClickHouse on disk', `${(Number(bytes) / spans).toFixed(0)} bytes a span`],
        [
          'ClickHouse CPU',
          before === undefined || after === undefined
            ? 'unknown'
            : `${(((after - before) / spans) * 1e6).toFixed(1)} µs a span, from the start to the end`,
        ],
      ]),
    );
    return figures;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function running<Server>(server: Server | string): Server {
  if (typeof server === 'string') throw new Error(server);
  return server;
}

function overlay(
  { url, password }: ClickHouseServer,
  database: string,
  postgres: string | undefined,
): string {
  const control = postgres === undefined ? 'sqlite' : 'postgres';
  return JSON.stringify({
    // Without a folder no key can be made.
    ...(postgres === undefined ? {} : { secrets: { key: Buffer.alloc(32, 'k').toString('base64') } }),
    extensions: {
      ...(postgres === undefined ? {} : { postgres: { url: postgres } }),
      duckdb: { control },
      clickhouse: { urls: [url], database, password, control },
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
