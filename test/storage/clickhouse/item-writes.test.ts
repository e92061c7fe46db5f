import t from 'tap';
import { serializePoint } from '../../../src/api/resources/metrics.js';
import type { MetricPoint } from '../../../src/signal/metric.js';
import { MICROS_PER_DAY } from '../../../src/signal/time-units.js';
import { StoreHandle } from '../../../src/storage/clickhouse/client/store-handle.js';
import { Connection } from '../../../src/storage/clickhouse/client/connection.js';
import { Tenants } from '../../../src/storage/clickhouse/client/tenants.js';
import { GroupedInserts, InsertRoom } from '../../../src/storage/clickhouse/tables/grouped-inserts.js';
import { createTable, type ClickHouseTable } from '../../../src/storage/clickhouse/tables/table.js';
import { dayOf } from '../../../src/storage/clickhouse/tables/days.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { openControlStore } from '../../support/control-store.js';
import { metricValues } from '../../support/engine.js';
import { HandClock } from '../../support/hand-clock.js';
import { aLog } from '../../support/log-records.js';
import { aMetric, aPoint } from '../../support/metric-points.js';
import { listOf } from '../../support/read-pieces.js';
import { NOON } from '../../support/run-records.js';
import { searchLogs } from '../duckdb/log-search.js';
import { clickHouseOptions } from './clickhouse-place.js';
import { TestClickHouse } from './test-clickhouse.js';

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('items', { skip }, async (t) => {
  if (typeof server === 'string') return;

  await t.test('of many days are stored in at most one part per day', async (t) => {
    const opened = await TestClickHouse.open(t, server);
    const user = await opened.addUser();
    const items = Array.from({ length: 150 }, (_, day) => aLog({ timestamp: NOON - day * MICROS_PER_DAY }));
    await opened.store.writer.logs({ tenant: user, items }, { receivedAt: NOON });
    t.equal((await searchLogs(opened.store, user)).count, 150);
    const [[days = 0] = []] = await server.query(
      `SELECT uniqExact(partition) FROM system.parts WHERE database = '${opened.options.database}' AND table = 'logs' AND active`,
    );
    t.equal(days, 150);
  });

  await t.test('of a named batch are stored and counted once despite lost responses', async (t) => {
    const opened = await TestClickHouse.open(t, server);
    const [user, other] = [await opened.addUser(), await opened.addUser()];
    const { writer, usage } = opened.store;
    const quota = { monthly_items: 0 };
    const items = [aLog({ timestamp: NOON }), aLog({ timestamp: NOON - 3 * MICROS_PER_DAY })];
    const points = [aPoint(), aPoint({ timestamp: NOON + 1 })];
    const context = (id: string) => ({ receivedAt: NOON, batch: { id } });
    const check = async (logs: number, metricPoints: number) => {
      t.equal((await searchLogs(opened.store, user)).count, logs);
      const [metric] = await opened.store.metrics.list(user);
      t.equal(metric?.data_point_count ?? 0, metricPoints);
      const counted = await usage.read(user, NOON);
      t.equal(counted.used, logs + metricPoints);
    };
    const sendBoth = async (id: string) => {
      await writer.logs({ tenant: user, items, quota }, context(id));
      return await writer.metrics({ tenant: user, items: points, quota }, context(id));
    };
    await sendBoth('a');
    t.match(await sendBoth('a'), { accepted: 2, refused: [] });
    await check(2, 2);
    await writer.logs({ tenant: other, items, quota }, context('a'));
    t.equal((await searchLogs(opened.store, other)).count, 2);
    // All statements run, but every response is lost.
    for (const table of ['logs', 'points']) {
      await server.fault({ kind: 'lost', times: 50, matching: `INSERT INTO ${table} ` });
      const sent =
        table === 'logs'
          ? writer.logs({ tenant: user, items, quota }, context('b'))
          : writer.metrics({ tenant: user, items: points, quota }, context('b'));
      await t.rejects(sent, { code: 'storage_unavailable' });
      await server.heal();
    }
    await sendBoth('b');
    await sendBoth('b');
    await check(4, 4);
    // No statement runs.
    await server.fault({ kind: 202, times: 50, matching: 'INSERT INTO' });
    await t.rejects(writer.logs({ tenant: user, items, quota }, context('c')), { name: 'ConsumeError' });
    await server.heal();
    await sendBoth('c');
    await check(6, 6);
    // A process without cached metrics does not read them for a repeat.
    await opened.reopen();
    await server.fault({ kind: 202, times: 50, matching: 'FROM metrics' });
    const again = opened.store.writer.metrics({ tenant: user, items: points, quota }, context('c'));
    t.match(await again, { accepted: 2, refused: [] });
    // A new batch needs the metrics; if that read fails, its name is free again.
    const write = async () =>
      await opened.store.writer.metrics({ tenant: user, items: points, quota }, context('d'));
    await t.rejects(write(), { name: 'ConsumeError' });
    await server.heal();
    t.match(await write(), { accepted: 2, refused: [] });
    const limited = async (monthly_items: number) =>
      await opened.store.writer.metrics(
        { tenant: user, items: points, quota: { monthly_items } },
        context('e'),
      );
    await t.rejects(limited(15), { code: 'quota_exceeded' }, 'near the limit the exact number decides');
    t.match(await limited(16), { accepted: 2, usage: { used: 16 } });
    t.match(await limited(16), { accepted: 2, refused: [] }, 'a repeat is free');
  });

  await t.test('are removed by whole days after retention', async (t) => {
    const opened = await TestClickHouse.open(t, server, {
      retention: { traces: null, metrics: null, logs: 2 },
    });
    const user = await opened.addUser();
    const { clock } = opened.settings;
    const [today, receivedAt] = [clock.now(), clock.now()];
    const items = [0, 1, 2, 3, 4].map((days) => aLog({ timestamp: today - days * MICROS_PER_DAY }));
    await opened.store.writer.logs({ tenant: user, items }, { receivedAt });
    await opened.store.applyRetention();
    t.equal((await searchLogs(opened.store, user)).count, 3);
    const { meter } = opened.settings;
    t.match(await metricValues(meter, 'jackdaw_store_removed_rows_total'), {
      'jackdaw_store_removed_rows_total{table="logs"}': 2,
    });
    const firstDay = Math.floor(today / MICROS_PER_DAY) - 2;
    t.strictSame(await metricValues(meter, 'jackdaw_store_oldest_timestamp_seconds'), {
      'jackdaw_store_oldest_timestamp_seconds{signal="logs"}': firstDay * 86_400,
    });
    const sizes = await metricValues(meter, 'jackdaw_store_table_bytes');
    t.ok((sizes['jackdaw_store_table_bytes{table="logs"}'] ?? 0) > 0);
    await opened.store.applyRetention();
    clock.advance(86_400_000);
    await opened.store.applyRetention();
    t.equal((await searchLogs(opened.store, user)).count, 2);
  });

  await t.test('are removed from the metric list with their points', async (t) => {
    const opened = await TestClickHouse.open(t, server, {
      retention: { traces: null, metrics: 2, logs: null },
    });
    const user = await opened.addUser();
    const [today, receivedAt] = [opened.settings.clock.now(), opened.settings.clock.now()];
    const at = (days: number, name = 'load') =>
      aPoint({ stream: aMetric({ name }), timestamp: today - days * MICROS_PER_DAY });
    const items = [at(0), at(1), at(2), at(3), at(4), at(3, 'old')];
    await opened.store.writer.metrics({ tenant: user, items }, { receivedAt });
    const list = async () =>
      (await opened.store.metrics.list(user)).map((metric) => [metric.name, metric.data_point_count]);
    t.strictSame(await list(), [
      ['load', 5],
      ['old', 1],
    ]);
    await opened.store.applyRetention();
    t.strictSame(await list(), [['load', 3]]);
    t.equal(await opened.store.metrics.query(user, 'old', { limit: 1 }), null);
    const found = await opened.store.metrics.query(user, 'load', { limit: 9 });
    t.equal((await listOf(found?.points, serializePoint)).length, 3);
  });

  await t.test('beyond the metric limit are refused one by one', async (t) => {
    const opened = await TestClickHouse.open(t, server);
    const [user, other] = [await opened.addUser(), await opened.addUser()];
    const write = async (tenant: string, ...items: MetricPoint[]) =>
      await opened.store.writer.metrics({ tenant, items }, { receivedAt: NOON });
    const named = (i: number, description = ''): MetricPoint =>
      aPoint({ stream: aMetric({ name: `metric ${String(i)}`, description }) });
    const receipt = await write(user, ...Array.from({ length: 20_002 }, (_, i) => named(i)));
    t.equal(receipt.accepted, 20_000);
    t.match(receipt.refused, [
      { index: 20_000, reason: /exceeds the limit of \d+ metrics per user/ },
      { index: 20_001 },
    ]);
    await opened.reopen();
    const again = await write(user, named(30_000), named(7), named(30_001), named(8));
    t.match(
      again,
      { accepted: 2, refused: [{ index: 0 }, { index: 2 }] },
      'known ones are accepted, also after a restart',
    );
    t.equal((await opened.store.metrics.list(user)).length, 20_000);
    const million = 'd'.repeat(1024 * 1024);
    const long = await write(other, ...Array.from({ length: 17 }, (_, i) => named(i, million)));
    t.match(long, { accepted: 15, refused: [{ index: 15 }, { index: 16 }] });
    t.match(await write(other, named(20, 'd')), { accepted: 1 });
    t.match(await write(other, named(20, million)), { accepted: 1 });
    const described = await opened.store.metrics.list(other);
    t.equal(
      described.find(({ name }) => name === 'metric 20')?.description,
      'd',
      'a longer description does not fit',
    );
    // Points that were not stored do not count towards the limit.
    await server.fault({ kind: 'cut', times: 100, matching: 'INSERT' });
    await t.rejects(write(other, named(21, 'd'.repeat(900_000))), { code: 'storage_unavailable' });
    await server.heal();
    t.match(await write(other, named(22, 'd'.repeat(900_000))), { accepted: 1 });
  });

  await t.test('that arrive during an insert share the next insert', async (t) => {
    const { inserts, table } = await groups(t, server);
    await Promise.all(Array.from({ length: 50 }, (_, number) => inserts.add([{ day: 0, number }], 10)));
    await inserts.idle();
    t.strictSame(await server.query(`SELECT count(), uniqExact(number) FROM ${table}`), [[50, 50]]);
    const [[parts = 0] = []] = await server.query(
      `SELECT max(max_block_number) FROM system.parts WHERE concat(database, '.', table) = '${table}' AND active`,
    );
    t.ok(Number(parts) < 50, `${String(parts)} inserts`);
  });

  await t.test('rejected by ClickHouse do not affect other items', async (t) => {
    const { inserts, table } = await groups(t, server);
    const before = inserts.add([{ day: 0, number: 1 }], 10);
    const results = await Promise.allSettled([
      before,
      inserts.add([{ day: 0, number: 'no number' }], 10),
      inserts.add([{ day: 0, number: 3 }], 10),
    ]);
    t.strictSame(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    t.strictSame(await server.query(`SELECT number FROM ${table} ORDER BY number`), [[1], [3]]);
  });

  await t.test('are refused when the insert queue is full', async (t) => {
    const { inserts } = await groups(t, server, new InsertRoom(100));
    const first = inserts.add([{ day: 0, number: 1 }], 101);
    await t.rejects(inserts.add([{ day: 0, number: 2 }], 1), {
      name: 'ConsumeError',
      code: 'overloaded',
      retryable: true,
    });
    await first;
    await inserts.add([{ day: 0, number: 2 }], 1);
  });
});

void t.test('get a day within bounds around the receive time', async (t) => {
  const today = Math.floor(NOON / MICROS_PER_DAY);
  t.equal(dayOf(NOON, NOON), today);
  t.equal(dayOf(NOON - 5 * MICROS_PER_DAY, NOON), today - 5);
  t.equal(dayOf(-1, NOON), today - 1100);
  t.equal(dayOf(NOON * 3, NOON), today + 2);
});

const NUMBERS: ClickHouseTable = {
  name: 'numbers',
  columns: [
    { name: 'day', type: 'Int32' },
    { name: 'number', type: 'UInt32' },
  ],
  partition: 'day',
  order: 'number',
};

async function groups(
  t: Parameters<typeof openControlStore>[0],
  server: ClickHouseServer,
  room = new InsertRoom(1e6),
): Promise<{ readonly inserts: GroupedInserts; readonly table: string }> {
  const options = clickHouseOptions(server);
  await server.query(`CREATE DATABASE ${options.database}`, createTable(options, NUMBERS));
  const place = { database: options.database, now: () => performance.now() };
  const connection = await Connection.open(options, place);
  const reach = new StoreHandle();
  reach.open({ connection, tenants: new Tenants(await openControlStore(t), new HandClock()) });
  t.teardown(() => connection.close());
  return {
    inserts: new GroupedInserts(reach, NUMBERS, { groupRows: 1000, isReplicated: false }, room),
    table: `${options.database}.numbers`,
  };
}
