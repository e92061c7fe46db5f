import { createHash } from 'node:crypto';

/** `http://:PASSWORD@HOST:PORT` of a ClickHouse whose databases the API's tests are to use, in place of files of DuckDB. */
const SERVER = process.env['JACKDAW_TEST_CLICKHOUSE'];

/** Whether the daemons of API tests have their telemetry in ClickHouse: `test/api/on-clickhouse.test.ts`. */
export const IS_ON_CLICKHOUSE = SERVER !== undefined;

/** Parts of a configuration. */
interface Overlay {
  readonly extensions?: { readonly clickhouse: object; readonly query: object };
  readonly processors?: object;
  readonly exporters?: object;
}

/** What is laid over the configuration of a daemon so that its telemetry is in the database that belongs to a test's folder; nothing where it is not to be. */
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
