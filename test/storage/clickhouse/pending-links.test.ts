import { randomUUID } from 'node:crypto';
import t from 'tap';
import { MOST_PENDING } from '../../../src/storage/shared/pending-links.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { aPromptedRun, PromptStore } from '../duckdb/prompt-store.js';
import { TestClickHouse } from './test-clickhouse.js';

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' && server;

void t.test('limits links waiting for their traces per user', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await TestClickHouse.open(t, server);
  const store = await PromptStore.of(opened);
  const run = aPromptedRun({}, {});
  await store.link(run.trace.trace_id);
  const messages = `${opened.options.database}.messages`;
  await server.query(
    `INSERT INTO ${messages} SELECT m.* REPLACE (generateUUIDv4(number) AS trace_id) FROM ${messages} AS m CROSS JOIN numbers(${String(MOST_PENDING - 2)}) AS n`,
  );
  await opened.reopen();
  const links = Array.from({ length: 5 }, () => store.link(randomUUID()));
  const made = await Promise.allSettled(links);
  t.equal(made.filter(({ status }) => status === 'fulfilled').length, 1, 'concurrent links count too');
  await store.write(run);
  await opened.reopen();
  t.equal(await store.link(randomUUID()), true, 'a trace was received');
  await t.rejects(store.link(randomUUID()), { code: 'storage_exceeded', message: /Send the traces/ });
});
