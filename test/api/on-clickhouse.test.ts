import t from 'tap';
import { API_FILE_S, runApiFiles, runFilesOfOneDaemon } from '../support/api-files.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { FILES_OF_ONE_DAEMON } from '../support/files-together.js';
import { PostgresServer } from '../support/postgres.js';

/**
 * Runs the API tests of telemetry on ClickHouse instead of DuckDB and PostgreSQL instead of SQLite, most of them on one daemon with a
 * user per test. `test/conformance` tests the contracts of each store; this tests them over HTTP. Files that need their own daemon take
 * minutes and run only with `JACKDAW_TEST_CLICKHOUSE_ALL=1`.
 */
/** Files with their own daemon or configuration. */
const ALONE =
  process.env['JACKDAW_TEST_CLICKHOUSE_ALL'] === '1'
    ? [
        'big-trace',
        'restart',
        'resources/alerts/alert-preview',
        'resources/alerts/alert-test',
        'resources/alerts/alerts',
      ]
    : [];

t.setTimeout((FILES_OF_ONE_DAEMON.length + ALONE.length) * API_FILE_S * 1000);
const server = await ClickHouseServer.start(t);
const postgres = await PostgresServer.start(t);
const skip = [server, postgres].find((started) => typeof started === 'string') ?? false;
await t.test(
  'API tests pass on clickhouse and postgres',
  { skip: typeof skip === 'string' && skip },
  async (t) => {
    if (typeof server === 'string' || typeof postgres === 'string') return;
    const url = new URL(server.url);
    url.password = server.password;
    const stores = { JACKDAW_TEST_CLICKHOUSE: url.href, JACKDAW_TEST_POSTGRES: postgres.url };
    await runFilesOfOneDaemon(t, stores);
    await runApiFiles(t, ALONE, stores);
  },
);
