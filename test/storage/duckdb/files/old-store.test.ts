import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import t from 'tap';
import { aLog } from '../../../support/log-records.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { searchLogs } from '../log-search.js';
import { downgrade, inColdFile, wrongSumsIn } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
/** Exceeds the argument limit of a function call. */
const MANY = 500_000;

void t.test('opens a store with half a million compacted segments and removes their records', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const write = async (): Promise<void> => {
    const items = Array.from({ length: 50 }, () => aTrace(2));
    await opened.store.writer.traces({ tenant, items }, RECEIVED);
  };
  await write();
  await opened.close();
  await inColdFile(opened.path, `INSERT INTO moved SELECT range - ${MANY}, 0 FROM range(${MANY})`);
  await opened.start();
  t.equal((await opened.store.runs.list(tenant, {}, { offset: 0, limit: 1 })).count, 50);
  await write();
  await opened.store.settled();
  await opened.close();
  const [notes] = await inColdFile(opened.path, 'SELECT count(*) AS notes FROM moved');
  t.equal(notes?.notes, 1);
});

void t.test('searches half a million blocks of log records', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 10, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const items = Array.from({ length: 20 }, (_, i) => aLog({ timestamp: NOON + i }));
  await opened.store.writer.logs({ tenant, items }, RECEIVED);
  await opened.store.settled();
  await opened.close();
  // Records of removed blocks remain; they differ from the real one only in the block number.
  await inColdFile(
    opened.path,
    `INSERT INTO log_blocks SELECT b.* REPLACE (b.block + 1 + range AS block) FROM log_blocks b, range(${MANY}) WHERE b.block = 1`,
  );
  await opened.start();
  const filter = { query: 'happened', start_time: NOON + 10, end_time: NOON + 11 };
  const page = await searchLogs(opened.store, tenant, filter, { offset: 0, limit: 10 });
  t.strictSame(page.items.map(({ id }) => id).sort(), [items[10]?.id, items[11]?.id].sort());
});

void t.test('upgrades a schema 3 store whose runs have no sample rate', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const old = aTrace(2, { agent: 'old' });
  await opened.store.writer.traces({ tenant, items: [old] }, RECEIVED);
  await opened.close();
  await downgrade(opened.path, 3);
  await opened.start();
  t.ok(
    opened.settings.logger.lines.some((line) => line.includes('Upgraded a store file.')),
    'the log says so',
  );
  const sampled = aTrace(1, { agent: 'old', sample_rate: 0.5, started_at: NOON + 1 });
  const late = { ...old, spans: aTrace(1, { trace_id: old.trace.trace_id }).spans };
  await opened.store.writer.traces({ tenant, items: [sampled, late] }, RECEIVED);
  const rates = async () =>
    (await opened.store.runs.list(tenant, {}, { offset: 0, limit: 9 })).items.map((run) => run.sample_rate);
  t.strictSame(await rates(), [0.5, null]);
  await opened.store.settled();
  await opened.close();
  await opened.start();
  t.strictSame(await rates(), [0.5, null], 'also after compaction');
});

void t.test('upgrades a schema 12 store whose runs have no versions', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const old = aTrace(1, { status: 'running' });
  await opened.store.writer.traces({ tenant, items: [old] }, RECEIVED);
  await opened.close();
  await downgrade(opened.path, 12);
  await opened.start();
  const items = [aTrace(1, { release: '2', started_at: NOON + 1 })];
  await opened.store.writer.traces({ tenant, items }, RECEIVED);
  const shown = async () =>
    (await opened.store.runs.list(tenant, {}, { offset: 0, limit: 9 })).items.map((run) => [
      run.environment,
      run.release,
      run.agent_version,
    ]);
  const expected = [
    [null, '2', null],
    [null, null, null],
  ];
  t.strictSame(await shown(), expected);
  await opened.store.settled();
  await opened.close();
  await opened.start();
  t.strictSame(await shown(), expected, 'also after compaction');
});

void t.test('upgrades a schema 6 store from call sums by model to call sums by agent', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1, bytes: 1e9 } });
  const tenant = await opened.addUser();
  for (const agent of ['one', 'two']) {
    const run = aTrace(1, { agent });
    const spans = run.spans.map((span) => ({ ...span, model: 'gpt-5', input_tokens: 7, cost_usd: 11 }));
    await opened.store.writer.traces({ tenant, items: [{ ...run, spans }] }, RECEIVED);
    await opened.store.settled();
  }
  const page = { offset: 0, limit: 9 };
  const read = async () => {
    const agents = await opened.store.agents.list(tenant);
    return await Promise.all(
      agents.map(({ id }) => opened.store.models.list(tenant, { agent_id: id }, page)),
    );
  };
  const before = await read();
  t.match(before, [{ items: [{ model: 'gpt-5', calls: 1 }] }, { items: [{ model: 'gpt-5', calls: 1 }] }]);
  await opened.close();
  await downgrade(opened.path, 6);
  await opened.start();
  t.strictSame(await read(), before);
  await opened.close();
  t.same(await wrongSumsIn(opened.path), []);
  const [row] = await inColdFile(opened.path, 'SELECT sum(calls)::INTEGER AS calls FROM call_sums');
  t.same(row, { calls: 2 });
  const tables = await inColdFile(
    opened.path,
    `SELECT table_name FROM duckdb_tables() WHERE table_name IN ('model_sums', 'text_blocks')`,
  );
  t.same(tables, []);
});

void t.test('opens a store with recorded slow reads and removes the file', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, RECEIVED);
  await opened.close();
  const notes = opened.path.replace('.duckdb', '.asked');
  await writeFile(notes, '{"version":1,"asked":[]}');
  await opened.start();
  t.equal((await opened.store.runs.list(tenant, {}, { offset: 0, limit: 1 })).count, 1);
  t.notOk(existsSync(notes));
});
