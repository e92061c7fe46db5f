import t from 'tap';
import { API_FILE_S, runApiFiles } from '../support/api-files.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { PostgresServer } from '../support/postgres.js';

/**
 * The API's tests of telemetry, once more with ClickHouse in place of DuckDB, and PostgreSQL in place of SQLite, each file in a process of
 * its own. What the stores promise is tested on each by `test/conformance`; here the most of it is asked for over HTTP. The rest of it
 * takes minutes, and runs with `JACKDAW_TEST_CLICKHOUSE_ALL=1`.
 */
const FILES = ['resources/metric-series'];
if (process.env['JACKDAW_TEST_CLICKHOUSE_ALL'] === '1')
  FILES.push(
    'big-trace',
    'long-integers',
    'restart',
    'tenants',
    'resources/agents',
    'resources/alerts/alert-preview',
    'resources/alerts/alert-test',
    'resources/alerts/alerts',
    'resources/log-facets',
    'resources/logged-events',
    'resources/logs',
    'resources/metrics',
    'resources/models',
    'resources/prompt-usage',
    'resources/run-list',
    'resources/run-series',
    'resources/service-map',
    'resources/sessions',
    'resources/span-detail',
    'resources/told-twice',
    'resources/trace-spans',
    'resources/traces',
  );

t.setTimeout(FILES.length * API_FILE_S * 1000);
const server = await ClickHouseServer.start(t);
const postgres = await PostgresServer.start(t);
const skip = [server, postgres].find((started) => typeof started === 'string') ?? false;
await t.test('with clickhouse and postgres', { skip: typeof skip === 'string' && skip }, async (t) => {
  if (typeof server === 'string' || typeof postgres === 'string') return;
  const url = new URL(server.url);
  url.password = server.password;
  await runApiFiles(t, FILES, {
    JACKDAW_TEST_CLICKHOUSE: url.href,
    JACKDAW_TEST_POSTGRES: postgres.url,
  });
});
