import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { Connection } from '../../../src/storage/clickhouse/client/connection.js';
import type { ClickHouseOptions } from '../../../src/storage/clickhouse/clickhouse-options.js';
import { migrate } from '../../../src/storage/clickhouse/tables/migrate.js';
import { createMetricsView } from '../../../src/storage/clickhouse/tables/metric-tables.js';
import { MIGRATIONS, type Migration } from '../../../src/storage/clickhouse/tables/migrations.js';
import { createTable } from '../../../src/storage/clickhouse/tables/table.js';
import { createEventsView, LOGS } from '../../../src/storage/clickhouse/tables/log-tables.js';
import type { Leases } from '../../../src/storage/contracts/coordination.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { openControlStore } from '../../support/control-store.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { clickHouseOptions } from './clickhouse-place.js';

const CONTROL = randomUUID();

async function run(
  t: Test,
  options: ClickHouseOptions,
  leases: Leases,
  {
    migrations = MIGRATIONS,
    control = CONTROL,
  }: { migrations?: readonly Migration[]; control?: string } = {},
): Promise<string> {
  const connection = await Connection.open(options, { database: null, now: () => performance.now() });
  t.teardown(() => connection.close());
  return await migrate(connection, options, migrations, {
    owner: randomUUID(),
    leases,
    control,
    logger: new RecordingLogger(),
  });
}

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('the tables', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const { leases } = await openControlStore(t);

  await t.test('are created once by concurrent processes with one identity', async (t) => {
    const options = clickHouseOptions(server);
    const ids = await Promise.all(Array.from({ length: 4 }, () => run(t, options, leases)));
    t.equal(new Set(ids).size, 1);
    const tables = await server.query(`SHOW TABLES FROM ${options.database}`);
    t.strictSame(tables.flat().sort(), [
      'events_of_logs',
      'logged_events',
      'logs',
      'map_days',
      'messages',
      'metrics',
      'metrics_of_points',
      'points',
      'runs',
      'scores',
      'spans',
      'store_facts',
    ]);
    const steps = await server.query(
      `SELECT name FROM ${options.database}.store_facts WHERE name LIKE 'migration/%' ORDER BY name`,
    );
    t.strictSame(
      steps.flat(),
      MIGRATIONS.map(({ name }) => `migration/${name}`),
    );
    t.equal(await run(t, { ...options, migrates: false }, leases), ids[0], 'the schema is up to date');
  });

  await t.test('are completed after an interrupted migration', async (t) => {
    const options = clickHouseOptions(server);
    await server.fault({ kind: 'lost', times: 4, matching: 'logs' });
    await t.rejects(run(t, options, leases), { code: 'storage_unavailable' });
    await server.heal();
    t.match(await run(t, options, leases), /^[0-9a-f-]{36}$/);
  });

  await t.test('index GenAI events of existing records once', async (t) => {
    const options = clickHouseOptions(server);
    const at = MIGRATIONS.findIndex(({ name }) => name === '0004-logged-events');
    await run(t, options, leases, { migrations: MIGRATIONS.slice(0, at) });
    const add = async (name: string, spanId: string | null): Promise<void> => {
      const span = spanId === null ? 'NULL' : `'${spanId}'`;
      await server.query(
        `INSERT INTO ${options.database}.logs (tenant, day, timestamp, id, trace_id, span_id, event_name, bytes) VALUES (1, 20000, 5, '${randomUUID()}', '${randomUUID()}', ${span}, '${name}', 3)`,
      );
    };
    await add('gen_ai.choice', randomUUID());
    await add('gen_ai.choice', null);
    await add('gen_ai.evaluation.result', randomUUID());
    await run(t, options, leases);
    await add('gen_ai.user.message', randomUUID());
    const count = `SELECT count(), sum(bytes) FROM ${options.database}.logged_events FINAL`;
    t.strictSame(await server.query(count), [[2, 6]]);
    // Simulates a process that died before recording the migration.
    for (const statement of MIGRATIONS[at]?.statements(options) ?? []) await server.query(statement);
    t.strictSame(await server.query(count), [[2, 6]]);
  });

  await t.test('get missing columns in the declared order', async (t) => {
    const options = clickHouseOptions(server);
    const at = MIGRATIONS.findIndex(({ name }) => name === '0005-contradicted-runs');
    await run(t, options, leases, { migrations: MIGRATIONS.slice(0, at) });
    const names = async (): Promise<unknown[]> =>
      (
        await server.query(
          `SELECT name FROM system.columns WHERE database = '${options.database}' AND table = 'runs' ORDER BY position`,
        )
      ).flat();
    const declared = await names();
    const later = [
      'DROP INDEX by_call',
      ...['call_tokens', 'model_calls', 'calls_until', 'is_contradicted'].map(
        (name) => `DROP COLUMN ${name}`,
      ),
    ];
    for (const change of later) await server.query(`ALTER TABLE ${options.database}.runs ${change}`);
    await run(t, options, leases);
    t.strictSame(await names(), declared);
  });

  await t.test('keep the sums of the service map when their numbers get larger', async (t) => {
    const options = clickHouseOptions(server);
    const at = MIGRATIONS.findIndex(({ name }) => name === '0016-finer-grades');
    await run(t, options, leases, { migrations: MIGRATIONS.slice(0, at) });
    const runs = `${options.database}.runs`;
    const column = (grade: string): string =>
      `MODIFY COLUMN edges Array(Tuple(source String, target String, grade ${grade}, spans UInt64)) CODEC(ZSTD(1))`;
    await server.query(
      `ALTER TABLE ${runs} ${column('UInt8')}`,
      `INSERT INTO ${runs} (tenant, edges) VALUES (1, [('planner', 'billing', 109, 2)])`,
    );
    await run(t, options, leases);
    await server.query(`INSERT INTO ${runs} (tenant, edges) VALUES (2, [('planner', 'billing', 1692, 1)])`);
    t.strictSame(await server.query(`SELECT tenant, edges.grade FROM ${runs} ORDER BY tenant`), [
      [1, [109]],
      [2, [1692]],
    ]);
  });

  await t.test('are created in their current form without older migrations', async (t) => {
    const options = clickHouseOptions(server);
    await server.fault({ kind: 62, times: 1, matching: 'ALTER TABLE' });
    await run(t, options, leases);
    await server.heal();
    const steps = await server.query(
      `SELECT count() FROM ${options.database}.store_facts WHERE name LIKE 'migration/%'`,
    );
    t.strictSame(steps, [[MIGRATIONS.length]]);
  });

  await t.test('get missing columns after an older version was interrupted', async (t) => {
    const options = clickHouseOptions(server);
    await server.fault({ kind: 'cut', times: 4, matching: 'map_days' });
    await t.rejects(run(t, options, leases), { code: 'storage_unavailable' });
    await server.heal();
    await server.query(`ALTER TABLE ${options.database}.runs DROP COLUMN call_tokens`);
    await run(t, options, leases);
    const found = await server.query(
      `SELECT count() FROM system.columns WHERE database = '${options.database}' AND table = 'runs' AND name = 'call_tokens'`,
    );
    t.strictSame(found, [[1]]);
  });

  await t.test('are rejected when unusable', async (t) => {
    const options = clickHouseOptions(server);
    await t.rejects(run(t, { ...options, migrates: false }, leases), /migrate: true/);
    const newer = [...MIGRATIONS, { name: '9999-later', statements: () => [] }];
    await run(t, options, leases, { migrations: newer });
    await t.rejects(run(t, options, leases), /newer version of Jackdaw \(it has 9999-later\)/);
    await t.rejects(
      run(t, options, leases, { migrations: newer, control: randomUUID() }),
      /belongs to another control store/,
    );
  });
});

void t.test('statements name the cluster and use replicated engines', async (t) => {
  const place = { database: 'jackdaw', cluster: 'main', isReplicated: true };
  t.match(
    createTable(place, LOGS),
    /^CREATE TABLE IF NOT EXISTS `jackdaw`\.`logs` ON CLUSTER `main` \(.*ENGINE = ReplicatedMergeTree\(\) .*replicated_deduplication_window/,
  );
  t.match(createTable({ ...place, cluster: null, isReplicated: false }, LOGS), /ENGINE = MergeTree\(\)/);
  t.match(
    createMetricsView(place),
    /^CREATE MATERIALIZED VIEW IF NOT EXISTS `jackdaw`\.`metrics_of_points` ON CLUSTER `main` TO `jackdaw`\.`metrics` AS/,
  );
  t.match(createEventsView(place), [
    /^CREATE MATERIALIZED VIEW IF NOT EXISTS `jackdaw`\.`events_of_logs` ON CLUSTER `main` TO `jackdaw`\.`logged_events` AS/,
    /^INSERT INTO `jackdaw`\.`logged_events` SELECT/,
  ]);
});
