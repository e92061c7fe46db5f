import t from 'tap';
import { API_FILE_S, runApiFiles } from '../support/api-files.js';
import { PostgresServer } from '../support/postgres.js';

/**
 * The API's tests of what lies in the control store, once more with PostgreSQL in place of SQLite, each file in a process of its own.
 * What the store promises is tested on both by `test/conformance`; here the most of it is asked for over HTTP. All of it, with every
 * operation in every way that it can answer, takes minutes, and runs with `JACKDAW_TEST_POSTGRES_ALL=1`.
 */
const FILES = ['administration'];
if (process.env['JACKDAW_TEST_POSTGRES_ALL'] === '1')
  FILES.push(
    'openapi/openapi',
    'resources/alerts/alerts',
    'resources/prompts',
    'resources/webhooks/webhook-endpoints',
  );

t.setTimeout(FILES.length * API_FILE_S * 1000);
const server = await PostgresServer.start(t);
const skip = typeof server === 'string' ? server : false;
await t.test('API tests pass on extensions.postgres', { skip }, async (t) => {
  if (typeof server === 'string') return;
  await runApiFiles(t, FILES, { JACKDAW_TEST_POSTGRES: server.url });
});
