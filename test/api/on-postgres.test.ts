import t from 'tap';
import { API_FILE_S, runApiFiles } from '../support/api-files.js';
import { PostgresServer } from '../support/postgres.js';

/**
 * Runs the API tests of the control store on PostgreSQL instead of SQLite, each file in a separate process. `test/conformance` tests the
 * contracts of both stores; this tests most of them over HTTP. All operations with all responses take minutes and run only with
 * `JACKDAW_TEST_POSTGRES_ALL=1`.
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
