import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createTable } from '../../../../src/storage/schema/table.js';
import { SEGMENT_TABLES } from '../../../../src/storage/schema/tables.js';
import { controlPathOf, controlStoreAt } from '../../../support/control-store.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { inOneFile } from '../stored-rows.js';
import { TestStore } from '../test-store.js';
import { testFolder } from '../../../support/test-folder.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 10 };

void t.test('keeps its identity and rejects another control store', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, RECEIVED);
  const [id, own] = [await opened.store.identity(), await opened.control.identity()];
  await opened.reopen();
  t.equal(await opened.store.identity(), id);
  await opened.close();
  const control = controlPathOf(opened.path);
  copyFileSync(control, `${control}.kept`);
  rmSync(control);
  const another = await controlStoreAt(control);
  const foreign = await another.identity();
  await another.close();
  await t.rejects(opened.start(), {
    name: 'StoreOpenError',
    message: `The store ${opened.path} belongs to the control store ${own}, and extensions.duckdb.control names the control store ${foreign}, where user numbers differ: telemetry would be shown to the wrong users. Restore the control store ${own} (its file or database), or move all files of this store away (all that begin with its name) to start without telemetry.`,
  });
  await opened.close();
  rmSync(control);
  copyFileSync(`${control}.kept`, control);
  await opened.start();
  t.equal(await opened.store.identity(), id, 'the original store opens');
  t.equal((await opened.store.runs.list(tenant, {}, PAGE)).count, 1);
});

void t.test('rejects telemetry without its main file', async (t) => {
  const opened = await TestStore.open(t);
  await opened.close();
  copyFileSync(opened.path, `${opened.path}.kept`);
  rmSync(opened.path);
  const refusal = {
    name: 'StoreOpenError',
    message: /no main file .*jackdaw\.duckdb that says .* Put the main file .* back/,
  };
  await t.rejects(opened.start(), refusal);
  await t.rejects(opened.start(), refusal, 'again');
  copyFileSync(`${opened.path}.kept`, opened.path);
  await opened.start();
  t.pass('the restored file opens');
});

void t.test('rejects a main file of an earlier development version', async (t) => {
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const [table] = SEGMENT_TABLES;
  if (table !== undefined) await inOneFile(path, createTable('one_file', table));
  await inOneFile(
    path,
    'CREATE TABLE schema_versions AS SELECT 1 AS version, now()::TIMESTAMP AS applied_at',
  );
  await t.rejects(TestStore.open(t, { path }), {
    name: 'StoreOpenError',
    message: `The store file ${path} has schema 1, that of an earlier development version of Jackdaw, which cannot be upgraded to schema 3. Start that version, or move the files of this store away (all that begin with its name) to start with an empty one.`,
  });
  t.match(await inOneFile(path, 'SELECT version FROM schema_versions'), [{ version: 1 }]);
});

void t.test('applies event retention to the control store', async (t) => {
  const opened = await TestStore.open(t, { eventRetentionDays: 2 });
  const now = opened.settings.clock.now();
  const tenant = await opened.addUser();
  const { events } = opened.control;
  const from = await events.open('reader');
  const facts = [0, 1, 3].map((daysAgo) => {
    const id = `00000000-0000-7000-8000-00000000000${String(daysAgo)}`;
    const event = { id, type: 'trace.failed', timestamp: now - daysAgo * DAY } as const;
    return { fact: id, tenant, event: { ...event, organization_id: null, endpoint_id: null, body: '{}' } };
  });
  await events.append(facts);
  await opened.store.applyRetention();
  const left = await events.read(from, { events: 10, bytes: 1e6 });
  t.same(
    left.events.map(({ event }) => event.id),
    facts.slice(0, 2).map(({ fact }) => fact),
  );
});
