import t from 'tap';
import { MICROS_PER_DAY } from '../../../src/signal/time-units.js';
import { Reach } from '../../../src/storage/clickhouse/client/reach.js';
import { Connection } from '../../../src/storage/clickhouse/client/connection.js';
import { Tenants } from '../../../src/storage/clickhouse/client/tenants.js';
import { GroupedInserts, InsertRoom } from '../../../src/storage/clickhouse/tables/grouped-inserts.js';
import { createTable, type ClickHouseTable } from '../../../src/storage/clickhouse/tables/table.js';
import { dayOf } from '../../../src/storage/clickhouse/tables/days.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { openControlPlane } from '../../support/control-plane.js';
import { HandClock } from '../../support/hand-clock.js';
import { aLog } from '../../support/log-records.js';
import { NOON } from '../../support/run-records.js';
import { searchLogs } from '../duckdb/log-search.js';
import { clickHouseOptions } from './clickhouse-place.js';
import { TestClickHouse } from './test-clickhouse.js';

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('items', { skip }, async (t) => {
  if (typeof server === 'string') return;

  await t.test('of very many days are all stored, in parts that are not more than the days', async (t) => {
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

  await t.test('vanish a day at a time when they are not kept any more', async (t) => {
    const opened = await TestClickHouse.open(t, server, { retention: { traces: null, logs: 2 } });
    const user = await opened.addUser();
    const { clock } = opened.settings;
    const [today, receivedAt] = [clock.now(), clock.now()];
    const items = [0, 1, 2, 3, 4].map((days) => aLog({ timestamp: today - days * MICROS_PER_DAY }));
    await opened.store.writer.logs({ tenant: user, items }, { receivedAt });
    await opened.store.applyRetention();
    t.equal((await searchLogs(opened.store, user)).count, 3);
    await opened.store.applyRetention();
    clock.advance(86_400_000);
    await opened.store.applyRetention();
    t.equal((await searchLogs(opened.store, user)).count, 2);
  });

  await t.test('that come while an insert is under way go into the next one together', async (t) => {
    const { inserts, table } = await groups(t, server);
    await Promise.all(Array.from({ length: 50 }, (_, number) => inserts.add([{ day: 0, number }], 10)));
    await inserts.idle();
    t.strictSame(await server.query(`SELECT count(), uniqExact(number) FROM ${table}`), [[50, 50]]);
    const [[parts = 0] = []] = await server.query(
      `SELECT max(max_block_number) FROM system.parts WHERE concat(database, '.', table) = '${table}' AND active`,
    );
    t.ok(Number(parts) < 50, `${String(parts)} inserts`);
  });

  await t.test('that ClickHouse does not take do not keep others from being stored', async (t) => {
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

  await t.test('are refused where too much waits already', async (t) => {
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

void t.test('a day is that of the time, within bounds about the arrival', async (t) => {
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
  t: Parameters<typeof openControlPlane>[0],
  server: ClickHouseServer,
  room = new InsertRoom(1e6),
): Promise<{ readonly inserts: GroupedInserts; readonly table: string }> {
  const options = clickHouseOptions(server);
  await server.query(`CREATE DATABASE ${options.database}`, createTable(options, NUMBERS));
  const place = { database: options.database, now: () => performance.now() };
  const connection = await Connection.open(options, place);
  const reach = new Reach();
  reach.open({ connection, tenants: new Tenants(await openControlPlane(t), new HandClock()) });
  t.teardown(() => connection.close());
  return {
    inserts: new GroupedInserts(reach, NUMBERS, 1000, room),
    table: `${options.database}.numbers`,
  };
}
