import t from 'tap';
import type { MetricPoint } from '../../src/signal/metric.js';
import { PointsEncoder } from '../../src/storage/duckdb/messages/encode-points.js';
import { IncomingPoints } from '../../src/storage/duckdb/metrics/incoming-points.js';
import { MetricStreams } from '../../src/storage/duckdb/metrics/metric-streams.js';
import { Origins } from '../../src/storage/duckdb/changes/origins.js';
import type { Append } from '../../src/storage/duckdb/changes/change.js';
import type { PointFilter } from '../../src/storage/telemetry-store.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { NOON } from '../support/run-records.js';
import { listOf } from '../support/read-pieces.js';
import { TestStore } from './test-store.js';

const RECEIVED = { receivedAt: NOON };

const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;

void t.test('type, unit and description are those seen last, also after a restart and a move', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 3, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const streams = [
    aMetric({ unit: 'a' }),
    aMetric({ unit: 'b', description: 'other words' }),
    aMetric({ unit: 'a' }),
    aMetric({ type: 'histogram', unit: 'ms', temporality: 'delta' }),
  ];
  for (const [i, stream] of streams.entries()) {
    await write(opened, tenant, [aPoint({ stream })]);
    const { name, type, unit, description } = stream;
    const expected = [{ name, type, unit, description, data_point_count: i + 1 }];
    t.strictSame(await opened.store.listMetrics(tenant), expected);
    await opened.store.settled();
    await opened.reopen();
    t.strictSame(await opened.store.listMetrics(tenant), expected, 'the same after a restart');
  }
  t.match(await opened.store.queryMetric(tenant, 'cpu.load', { limit: 1 }), {
    name: 'cpu.load',
    type: 'histogram',
    unit: 'ms',
  });
});

void t.test('points come newest first, those that were late and those of the future too', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 4, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const seconds = [5, 1, 9, 3, 7, 2, 8, 4, 6, 0];
  for (const second of seconds) {
    const timestamp = NOON + second * SECOND;
    await write(opened, tenant, [
      aPoint({ timestamp, value: second }),
      aPoint({ stream: aMetric({ name: 'other' }), timestamp, value: -second }),
    ]);
  }
  const values = async (filter: PointFilter) =>
    (await query(opened, tenant, 'cpu.load', filter)).map(({ value }) => value);
  for (const state of ['hot', 'moved', 'reopened']) {
    t.strictSame(await values({ limit: 100 }), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], state);
    t.strictSame(await values({ limit: 3 }), [9, 8, 7], state);
    const [start_time, end_time] = [NOON + 2 * SECOND, NOON + 4 * SECOND];
    t.strictSame(await values({ limit: 100, start_time, end_time }), [4, 3, 2], 'both ends belong to it');
    t.strictSame(await values({ limit: 100, start_time: end_time, end_time: start_time }), []);
    if (state === 'hot') await opened.store.settled();
    else await opened.reopen();
  }
});

void t.test(
  'a metric of very many points in one segment is moved in slices, and nothing is lost',
  async (t) => {
    const opened = await TestStore.open(t, { segmentSize: { rows: 25_000, bytes: 1e9 } });
    const tenant = await opened.addUser();
    const few = ['a', 'b', 'z'].map((name) => aPoint({ stream: aMetric({ name }) }));
    const stream = aMetric({ name: 'many' });
    const many = Array.from({ length: 20_000 }, (_, i) => aPoint({ stream, timestamp: NOON + i, value: i }));
    await write(opened, tenant, [...few, ...many]);
    await write(opened, tenant, [...few, ...many.slice(0, 5000)]);
    await opened.store.settled();
    await opened.reopen();
    const counts = (await opened.store.listMetrics(tenant)).map((m) => [m.name, m.data_point_count]);
    t.strictSame(counts, [
      ['a', 2],
      ['b', 2],
      ['many', 25_000],
      ['z', 2],
    ]);
    const found = await query(opened, tenant, 'many', { limit: 10_000, end_time: NOON + 4999 });
    t.equal(found.length, 10_000);
    t.equal(
      found.reduce((sum, { value }) => sum + Number(value), 0),
      4999 * 5000,
      'each point once',
    );
  },
);

void t.test('two users with metrics of one name never see each other', async (t) => {
  const opened = await TestStore.open(t);
  const [anna, ben] = [await opened.addUser(), await opened.addUser()];
  await write(opened, anna, [aPoint({ value: 1 })]);
  await write(opened, ben, [aPoint({ value: 2, stream: aMetric({ unit: 's' }) })]);
  await write(opened, ben, [aPoint({ stream: aMetric({ name: 'only of ben' }) })]);
  for (const state of ['hot', 'reopened']) {
    t.match(await query(opened, anna, 'cpu.load'), [{ value: 1 }], state);
    t.match(await query(opened, ben, 'cpu.load'), [{ value: 2 }]);
    t.equal(await opened.store.queryMetric(anna, 'only of ben', { limit: 1 }), null);
    t.match(await opened.store.listMetrics(anna), [{ name: 'cpu.load', unit: '1', data_point_count: 1 }]);
    t.equal((await opened.store.listMetrics(ben)).length, 2);
    await opened.reopen();
  }
});

void t.test('what a commit changed in memory is taken back when it fails', async (t) => {
  const streams = new MetricStreams();
  const origins = new Origins();
  const encoder = new PointsEncoder();
  const batch = (...items: MetricPoint[]) =>
    new IncomingPoints({ ...encoder.encode({ items }), tenant: 7 }, streams, origins);
  const rowsOf = (append: Append, seq: number) =>
    append.rows(seq).map(({ table, from, to, replacing }) => [table.name, to - from, replacing]);

  const first = batch(aPoint(), aPoint());
  t.strictSame(rowsOf(first, 1), [
    ['metric_streams', 1, 0],
    ['origins', 1, 0],
    ['points', 2, 0],
  ]);
  first.committed();
  const second = batch(
    aPoint({ stream: aMetric({ unit: 'other', origin: { resource: {}, scope: null, serviceName: '' } }) }),
    aPoint({ stream: aMetric({ name: 'new' }) }),
  );
  const expected = [
    ['metric_streams', 2, 1],
    ['origins', 1, 0],
    ['points', 2, 0],
  ];
  for (const seq of [2, 3]) {
    t.strictSame(rowsOf(second, seq), expected, 'the second try is like the first');
    t.strictSame(rowsOf(batch(aPoint({ stream: aMetric({ name: 'new' }) })), seq), [['points', 1, 0]]);
    second.rolledBack();
    t.match(streams.list(7), [{ name: 'cpu.load', facts: { unit: '1' }, points: 2 }]);
  }
  t.strictSame(rowsOf(second, 4), expected);
  second.committed();
  t.match(streams.list(7), [
    { name: 'cpu.load', facts: { unit: 'other' }, points: 3 },
    { name: 'new', points: 1 },
  ]);
});

void t.test('points of more metrics than a user may have are refused, the others are stored', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const [tenant, other] = [await opened.addUser(), await opened.addUser()];
  const named = (i: number): MetricPoint => aPoint({ stream: aMetric({ name: `metric ${i}` }) });
  const points = Array.from({ length: 20_003 }, (_, i) => named(i));
  const receipt = await opened.store.writeMetrics({ tenant, items: points }, RECEIVED);
  t.equal(receipt.accepted, 20_000);
  t.strictSame(
    receipt.refused.map(({ index }) => index),
    [20_000, 20_001, 20_002],
  );
  t.match(receipt.refused[0]?.reason, /one metric more than a user may have, which is 20000/);
  await opened.reopen();
  const again = await opened.store.writeMetrics(
    {
      tenant,
      items: [named(30_000), named(7), named(30_001), named(8)],
    },
    RECEIVED,
  );
  t.match(again, { accepted: 2, refused: [{ index: 0 }, { index: 2 }] }, 'known ones go on');
  t.equal((await opened.store.listMetrics(tenant)).length, 20_000);
  t.match(await opened.store.writeMetrics({ tenant: other, items: [named(30_000)] }, RECEIVED), {
    accepted: 1,
  });
});

void t.test('long descriptions do not fill the memory', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const long = (i: number, description: string): MetricPoint =>
    aPoint({ stream: aMetric({ name: `metric ${i}`, unit: '', description }) });
  const million = 'd'.repeat(1024 * 1024);
  const items = Array.from({ length: 17 }, (_, i) => long(i, million));
  t.match(await opened.store.writeMetrics({ tenant, items }, RECEIVED), {
    accepted: 15,
    refused: [{ index: 15 }, { index: 16 }],
  });
  await opened.reopen();
  t.match(await opened.store.writeMetrics({ tenant, items: [long(20, million)] }, RECEIVED), { accepted: 0 });
  t.match(await opened.store.writeMetrics({ tenant, items: [long(20, 'd')] }, RECEIVED), { accepted: 1 });
  await write(opened, tenant, [long(20, million)]);
  await write(opened, tenant, [long(0, 'short')]);
  const described = (await opened.store.listMetrics(tenant)).map((m) => [m.name, m.description.length]);
  t.strictSame(
    described.filter(([name]) => name === 'metric 0' || name === 'metric 20'),
    [
      ['metric 0', 5],
      ['metric 20', 1],
    ],
    'points are taken, a description for which there is no room is not',
  );
});

for (const segmentSize of [
  { rows: 4, bytes: 1e9 },
  { rows: 100_000, bytes: 1e9 },
]) {
  void t.test(`old points vanish, with segments of ${segmentSize.rows} rows`, async (t) => {
    const opened = await TestStore.open(t, { segmentSize, metricRetentionDays: 2 });
    const tenant = await opened.addUser();
    const today = Math.floor(NOON / DAY) * DAY;
    const times = [today - 2 * DAY, today - 1, today, NOON, NOON + DAY];
    await write(
      opened,
      tenant,
      times.map((timestamp) => aPoint({ timestamp, value: timestamp })),
    );
    await write(opened, tenant, [aPoint({ stream: aMetric({ name: 'expired' }), timestamp: today - DAY })]);
    await opened.retained(DAY / 1000);
    const count = async () =>
      (await opened.store.listMetrics(tenant)).reduce((sum, metric) => sum + metric.data_point_count, 0);
    t.equal(await count(), 3);
    t.match(await query(opened, tenant, 'cpu.load'), [
      { value: NOON + DAY },
      { value: NOON },
      { value: today },
    ]);
    t.equal(
      await opened.store.queryMetric(tenant, 'expired', { limit: 1 }),
      null,
      'without points it is gone',
    );
    await opened.reopen({ metricRetentionDays: null });
    t.match(await opened.store.listMetrics(tenant), [{ name: 'cpu.load', data_point_count: 3 }]);
    t.notMatch(opened.settings.logger.lines, /failed|could not/);
  });
}

async function write({ store }: TestStore, tenant: string, items: MetricPoint[]): Promise<void> {
  const receipt = await store.writeMetrics({ tenant, items }, RECEIVED);
  if (receipt.accepted !== items.length) throw new Error(JSON.stringify(receipt));
}

async function query(
  { store }: TestStore,
  tenant: string,
  name: string,
  filter: PointFilter = { limit: 100 },
): Promise<readonly { readonly value: unknown }[]> {
  const found = await store.queryMetric(tenant, name, filter);
  if (found === null) throw new Error(`there is no metric ${name}`);
  return await listOf<{ readonly value: unknown }>(found.points);
}
