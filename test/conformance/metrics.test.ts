import t, { type Test } from 'tap';
import { serializePoint } from '../../src/api/resources/metrics.js';
import type { MetricPoint } from '../../src/signal/metric.js';
import type { PointFilter } from '../../src/storage/contracts/metrics.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { listOf } from '../support/read-pieces.js';
import { NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const SECOND = 1_000_000;

function checkMetrics(t: Test, open: OpenTelemetry): void {
  void t.test(
    'type, unit and description are the last seen, also after restart and compaction',
    async (t) => {
      const opened = await open(t, { fileRows: 3 });
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
        const expected = [{ name, type, unit, description, data_point_count: i + 1, last_seen_at: NOON }];
        t.strictSame(await opened.store.metrics.list(tenant), expected);
        await opened.settled();
        await opened.reopen();
        t.strictSame(await opened.store.metrics.list(tenant), expected, 'unchanged after a restart');
      }
      t.match(await opened.store.metrics.query(tenant, 'cpu.load', { limit: 1 }), {
        name: 'cpu.load',
        type: 'histogram',
        unit: 'ms',
      });
    },
  );

  void t.test('returns points newest first, including late and future ones', async (t) => {
    const opened = await open(t, { fileRows: 4 });
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
      t.strictSame(await values({ limit: 100, start_time, end_time }), [4, 3, 2], 'both ends are inclusive');
      t.strictSame(await values({ limit: 100, start_time: end_time, end_time: start_time }), []);
      if (state === 'hot') await opened.settled();
      else await opened.reopen();
    }
  });

  void t.test('isolates metrics of two users with one name', async (t) => {
    const opened = await open(t);
    const [anna, ben] = [await opened.addUser(), await opened.addUser()];
    await write(opened, anna, [aPoint({ value: 1 })]);
    await write(opened, ben, [aPoint({ value: 2, stream: aMetric({ unit: 's' }) })]);
    await write(opened, ben, [aPoint({ stream: aMetric({ name: 'only of ben' }) })]);
    for (const state of ['hot', 'reopened']) {
      t.match(await query(opened, anna, 'cpu.load'), [{ value: 1 }], state);
      t.match(await query(opened, ben, 'cpu.load'), [{ value: 2 }]);
      t.equal(await opened.store.metrics.query(anna, 'only of ben', { limit: 1 }), null);
      t.match(await opened.store.metrics.list(anna), [{ name: 'cpu.load', unit: '1', data_point_count: 1 }]);
      t.equal((await opened.store.metrics.list(ben)).length, 2);
      await opened.reopen();
    }
  });
}

async function write({ store }: OpenedTelemetry, tenant: string, items: MetricPoint[]): Promise<void> {
  const receipt = await store.writer.metrics({ tenant, items }, RECEIVED);
  if (receipt.accepted !== items.length) throw new Error(JSON.stringify(receipt));
}

async function query(
  { store }: OpenedTelemetry,
  tenant: string,
  name: string,
  filter: PointFilter = { limit: 100 },
): Promise<readonly { readonly value: unknown }[]> {
  const found = await store.metrics.query(tenant, name, filter);
  if (found === null) throw new Error(`there is no metric ${name}`);
  return await listOf<{ readonly value: unknown }>(found.points, serializePoint);
}

await onEveryTelemetry(t, checkMetrics);
