import t from 'tap';
import { API_FILE_S, runApiFiles, runFilesOfOneDaemon } from '../support/api-files.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { FILES_OF_ONE_DAEMON } from '../support/files-together.js';
import { PostgresServer } from '../support/postgres.js';

/**
 * The API's tests of telemetry, once more with ClickHouse in place of DuckDB, and PostgreSQL in place of SQLite: most of it with
 * one daemon, each test as a user of its own. What the stores promise is tested on each by `test/conformance`; here it is asked for over HTTP.
 * Files that need daemons of their own take minutes, and run with `JACKDAW_TEST_CLICKHOUSE_ALL=1`.
 */
/** With daemons of their own, or of a configuration of their own. */
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
