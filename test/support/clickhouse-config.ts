import { createHash } from 'node:crypto';

/** `http://:PASSWORD@HOST:PORT` of a ClickHouse server for the API tests, instead of DuckDB files. */
const SERVER = process.env['JACKDAW_TEST_CLICKHOUSE'];

/** Whether the API tests use ClickHouse for telemetry: `test/api/on-clickhouse.test.ts`. */
export const IS_ON_CLICKHOUSE = SERVER !== undefined;

/** Parts of a configuration. */
interface Overlay {
  readonly extensions?: { readonly clickhouse: object; readonly query: object };
  readonly processors?: object;
  readonly exporters?: object;
}

/** An overlay that stores the telemetry of a daemon in the database of a test's folder; empty without ClickHouse. */
export function clickHouseOverlay(directory: string, control: string): Overlay {
  if (SERVER === undefined) return {};
  const { origin, password } = new URL(SERVER);
  const database = `t${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`;
  return {
    extensions: {
      clickhouse: { urls: [origin], database, password, control },
      query: { store: 'clickhouse' },
    },
    processors: { quota: { store: 'clickhouse' } },
    exporters: { storage: { store: 'clickhouse' }, alerts: { store: 'clickhouse' } },
  };
}
