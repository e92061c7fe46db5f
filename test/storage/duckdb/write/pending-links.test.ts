import { randomUUID } from 'node:crypto';
import t from 'tap';
import { MOST_PENDING } from '../../../../src/storage/shared/pending-links.js';
import { Database, MAIN } from '../../../../src/storage/duckdb/files/database.js';
import { aPromptedRun, PromptStore } from '../prompt-store.js';
import { filesOf } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

/** Adds links to missing traces to a closed store that has one link. */
async function addLinks(path: string, links: number): Promise<void> {
  const [hot] = filesOf(path).filter((file) => file.includes('.hot-'));
  if (hot === undefined) throw new Error('the store has no segment');
  const database = await Database.open({ path: hot, memoryLimit: '256MiB', threads: 1 });
  const connection = await database.connect();
  await connection.run(
    `INSERT INTO ${MAIN}.main.prompt_links SELECT l.* REPLACE (uuid() AS trace_id) FROM ${MAIN}.main.prompt_links l, range(${links})`,
  );
  database.close();
}

void t.test('limits links waiting for their traces per user', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const store = await PromptStore.of(opened);
  const run = aPromptedRun({}, {});
  await store.link(run.trace.trace_id);
  await opened.close();
  await addLinks(opened.path, MOST_PENDING - 3);
  await opened.start();
  const links = Array.from({ length: 5 }, () => store.link(randomUUID()));
  const made = await Promise.allSettled(links);
  t.equal(made.filter(({ status }) => status === 'fulfilled').length, 2, 'concurrent links count too');
  await t.rejects(store.link(randomUUID()), { code: 'storage_exceeded', message: /Send the traces/ });
  await store.write(run);
  t.equal(await store.link(run.trace.trace_id, randomUUID()), true, 'a link to a stored trace');
  await opened.reopen();
  t.equal(await store.link(randomUUID()), true, 'a trace was received');
  await t.rejects(store.link(randomUUID()), { code: 'storage_exceeded' });
});
