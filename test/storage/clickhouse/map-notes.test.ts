import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { deriveBatch } from '../../../src/signal/derive-map.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { neverDiffers, same } from '../../support/property.js';
import { DAY, NOON } from '../../support/run-records.js';
import { until } from '../../support/until.js';
import { aCall } from '../duckdb/mapped-records.js';
import { shownMap } from '../duckdb/shown-map.js';
import { TestClickHouse } from './test-clickhouse.js';

const DAYS = 6;
const LATER = NOON + 30 * DAY;
const ALWAYS = { since: null, before: null };
/** Interval after which the days to cache are checked again. */
const LOOK_AGAIN_MS = 10 * 60_000;

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

async function send({ store }: TestClickHouse, tenant: string, items: TraceRecord[]): Promise<void> {
  const batch = { tenant, items, service_map: deriveBatch(items) };
  await store.writer.traces(batch, { receivedAt: LATER });
}

/** The complete map response. */
async function wholeMap(of: TestClickHouse, user: string): Promise<unknown> {
  return { ...(await shownMap(of, user)), hours: await of.store.map.hours(user, ALWAYS) };
}

function toLater({ settings: { clock } }: TestClickHouse): void {
  clock.sleep((LATER - clock.now()) / 1000);
}

void t.test('caches the map of a day until the day changes', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await TestClickHouse.open(t, server);
  toLater(opened);
  const user = await opened.addUser();
  const { database } = opened.options;
  const days = Array.from({ length: DAYS }, (_, i) => NOON + i * DAY);
  await send(
    opened,
    user,
    days.flatMap((day, i) => [aCall('billing', day), aCall(`service ${String(i % 2)}`, day)]),
  );
  const found = await wholeMap(opened, user);
  await until('all days are noted', async () => {
    const [row] = await server.query(`SELECT count() FROM ${database}.map_days FINAL`);
    return row?.[0] === DAYS;
  });
  t.strictSame(await wholeMap(opened, user), found);

  // Runs no longer contribute to the map, so the map comes from the cache.
  await server.query(
    `ALTER TABLE ${database}.runs UPDATE nodes = [], edges = [] WHERE 1 SETTINGS mutations_sync = 1`,
  );
  t.strictSame(await wholeMap(opened, user), found, 'no run is read');
  const since = NOON + DAY - 1;
  const { edges } = await shownMap(opened, user, since);
  t.match(edges, [{ target: 'billing', weight: DAYS - 2 }, { weight: 2 }, { weight: 2 }], 'whole days only');

  await send(opened, user, [aCall('late', NOON + 2 * DAY)]);
  t.match(await shownMap(opened, user), {
    edges: [
      { target: 'billing', weight: DAYS - 1 },
      { target: 'late', weight: 1 },
      { target: 'service 0', weight: 2 },
      { target: 'service 1', weight: 3 },
    ],
  });
});

const sent = fc.record({
  gateway: fc.nat(1),
  /** A run may be reported on several days; its newest header determines the day. */
  run: fc.nat(3),
  day: fc.nat(DAYS - 1),
  service: fc.constantFrom('billing', 'search', 'mail'),
});

void t.test('includes rows written while days are cached', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const one = await TestClickHouse.open(t, server);
  const other = await TestClickHouse.open(t, server, { database: one.options.database }, one.control);
  const gateways = [one, other];
  for (const gateway of gateways) toLater(gateway);
  const notes = `${one.options.database}.map_days`;
  let noted = 0;
  await neverDiffers(
    t,
    { runs: 15, ms: 8000 },
    [fc.array(fc.array(sent, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 5 })],
    async (rounds) => {
      const user = await one.addUser();
      const ids = Array.from({ length: 4 }, () => randomUUID());
      for (const round of rounds) {
        for (const { settings } of gateways) settings.clock.sleep(LOOK_AGAIN_MS);
        const writes = round.map(async ({ gateway, run, day, service }) => {
          const item = aCall(service, NOON + day * DAY, { trace_id: ids[run] ?? '' });
          await send(gateways[gateway] ?? one, user, [item]);
        });
        await Promise.all([...writes, ...gateways.map(async (gateway) => await wholeMap(gateway, user))]);
        const maps = [await wholeMap(one, user), await wholeMap(other, user)];
        const [row] = await server.query(`SELECT count() FROM ${notes}`);
        noted += Number(row?.[0]);
        await server.query(`TRUNCATE TABLE ${notes}`);
        const ofRuns = await wholeMap(one, user);
        for (const map of maps) same(map, ofRuns);
      }
    },
  );
  t.ok(noted > 0, 'days were cached');
});

void t.test('fails a rebuild that loses its lease', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await TestClickHouse.open(t, server);
  toLater(opened);
  const user = await opened.addUser();
  await send(
    opened,
    user,
    Array.from({ length: 201 }, (_, i) => aCall('billing', NOON + i)),
  );
  const { leases } = opened.control;
  const renew = leases.renew.bind(leases);
  leases.renew = async (lease, ms) => !lease.name.endsWith('/map') && (await renew(lease, ms));
  await t.rejects(opened.store.map.rebuild({ dryRun: true }), {
    code: 'storage_unavailable',
    message: /stopped after 200 traces/,
  });
  leases.renew = renew;
  t.match(await opened.store.map.rebuild({ dryRun: true }), { traces: 201 });
});
