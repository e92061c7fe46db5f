import t from 'tap';
import type { MetricPoint } from '../../../../src/signal/metric.js';
import { PointsEncoder } from '../../../../src/storage/duckdb/write/encode-points.js';
import { IncomingPoints } from '../../../../src/storage/duckdb/write/incoming-points.js';
import { MetricStreams } from '../../../../src/storage/duckdb/write/metric-streams.js';
import { Origins } from '../../../../src/storage/duckdb/write/origins.js';
import type { Append } from '../../../../src/storage/duckdb/write/change.js';
import type { PointFilter } from '../../../../src/storage/contracts/metrics.js';
import { aMetric, aPoint } from '../../../support/metric-points.js';
import { NOON } from '../../../support/run-records.js';
import { listOf } from '../../../support/read-pieces.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };

const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;

void t.test('compacts a metric with many points in slices without loss', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 25_000, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const few = ['a', 'b', 'z'].map((name) => aPoint({ stream: aMetric({ name }) }));
  const stream = aMetric({ name: 'many' });
  const many = Array.from({ length: 20_000 }, (_, i) => aPoint({ stream, timestamp: NOON + i, value: i }));
  await write(opened, tenant, [...few, ...many]);
  await write(opened, tenant, [...few, ...many.slice(0, 5000)]);
  await opened.store.settled();
  await opened.reopen();
  const counts = (await opened.store.metrics.list(tenant)).map((m) => [m.name, m.data_point_count]);
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
});

void t.test('reverts in-memory changes of a failed commit', async (t) => {
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
    t.strictSame(rowsOf(second, seq), expected, 'the retry writes the same rows');
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

void t.test('refuses points of metrics beyond the limit and stores the others', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const [tenant, other] = [await opened.addUser(), await opened.addUser()];
  const named = (i: number): MetricPoint => aPoint({ stream: aMetric({ name: `metric ${i}` }) });
  const points = Array.from({ length: 20_003 }, (_, i) => named(i));
  const receipt = await opened.store.writer.metrics({ tenant, items: points }, RECEIVED);
  t.equal(receipt.accepted, 20_000);
  t.strictSame(
    receipt.refused.map(({ index }) => index),
    [20_000, 20_001, 20_002],
  );
  t.match(receipt.refused[0]?.reason, /exceeds the limit of 20000 metrics per user/);
  await opened.reopen();
  const again = await opened.store.writer.metrics(
    {
      tenant,
      items: [named(30_000), named(7), named(30_001), named(8)],
    },
    RECEIVED,
  );
  t.match(again, { accepted: 2, refused: [{ index: 0 }, { index: 2 }] }, 'known metrics are accepted');
  t.equal((await opened.store.metrics.list(tenant)).length, 20_000);
  t.match(await opened.store.writer.metrics({ tenant: other, items: [named(30_000)] }, RECEIVED), {
    accepted: 1,
  });
});

void t.test('limits the memory for long descriptions', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const long = (i: number, description: string): MetricPoint =>
    aPoint({ stream: aMetric({ name: `metric ${i}`, unit: '', description }) });
  const million = 'd'.repeat(1024 * 1024);
  const items = Array.from({ length: 17 }, (_, i) => long(i, million));
  t.match(await opened.store.writer.metrics({ tenant, items }, RECEIVED), {
    accepted: 15,
    refused: [{ index: 15 }, { index: 16 }],
  });
  await opened.reopen();
  t.match(await opened.store.writer.metrics({ tenant, items: [long(20, million)] }, RECEIVED), {
    accepted: 0,
  });
  t.match(await opened.store.writer.metrics({ tenant, items: [long(20, 'd')] }, RECEIVED), { accepted: 1 });
  await write(opened, tenant, [long(20, million)]);
  await write(opened, tenant, [long(0, 'short')]);
  const described = (await opened.store.metrics.list(tenant)).map((m) => [m.name, m.description.length]);
  t.strictSame(
    described.filter(([name]) => name === 'metric 0' || name === 'metric 20'),
    [
      ['metric 0', 5],
      ['metric 20', 1],
    ],
    'points are stored, but not a description beyond the limit',
  );
});

for (const segmentSize of [
  { rows: 4, bytes: 1e9 },
  { rows: 100_000, bytes: 1e9 },
]) {
  void t.test(`removes old points, with segments of ${segmentSize.rows} rows`, async (t) => {
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
      (await opened.store.metrics.list(tenant)).reduce((sum, metric) => sum + metric.data_point_count, 0);
    t.equal(await count(), 3);
    t.match(await query(opened, tenant, 'cpu.load'), [
      { value: NOON + DAY },
      { value: NOON },
      { value: today },
    ]);
    t.equal(
      await opened.store.metrics.query(tenant, 'expired', { limit: 1 }),
      null,
      'a metric without points is removed',
    );
    await opened.reopen({ metricRetentionDays: null });
    t.match(await opened.store.metrics.list(tenant), [{ name: 'cpu.load', data_point_count: 3 }]);
    t.notMatch(opened.settings.logger.lines, /failed|could not/);
  });
}

async function write({ store }: TestStore, tenant: string, items: MetricPoint[]): Promise<void> {
  const receipt = await store.writer.metrics({ tenant, items }, RECEIVED);
  if (receipt.accepted !== items.length) throw new Error(JSON.stringify(receipt));
}

async function query(
  { store }: TestStore,
  tenant: string,
  name: string,
  filter: PointFilter = { limit: 100 },
): Promise<readonly { readonly value: unknown }[]> {
  const found = await store.metrics.query(tenant, name, filter);
  if (found === null) throw new Error(`there is no metric ${name}`);
  return await listOf<{ readonly value: unknown }>(found.points);
}
