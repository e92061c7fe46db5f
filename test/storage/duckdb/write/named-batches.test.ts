import t from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import { NamedBatches, REMEMBERED } from '../../../../src/storage/duckdb/write/named-batches.js';
import type { Append } from '../../../../src/storage/duckdb/write/change.js';
import { aLog } from '../../../support/log-records.js';
import { aPoint } from '../../../support/metric-points.js';
import { NOON } from '../../../support/run-records.js';
import { searchLogs } from '../log-search.js';
import { downgrade } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const context = (id?: string, receivedAt = NOON) => ({
  receivedAt,
  ...(id !== undefined && { batch: { id } }),
});
const logs = (count: number) => Array.from({ length: count }, (_, i) => aLog({ timestamp: NOON + i }));
const points = (count: number) => Array.from({ length: count }, (_, i) => aPoint({ timestamp: NOON + i }));

async function stored({ store }: TestStore, tenant: string) {
  const found = await searchLogs(store, tenant, {}, { offset: 0, limit: 1 });
  const [metric] = await store.metrics.list(tenant);
  return { logs: found.count, points: metric?.data_point_count ?? 0 };
}

void t.test(
  'a repeated named batch adds nothing after restarts and compaction and gets the same response',
  async (t) => {
    const opened = await TestStore.open(t);
    const [one, two] = [await opened.addUser(), await opened.addUser()];
    const { writer } = opened.store;
    t.match(await writer.logs({ tenant: one, items: logs(3) }, context('a')), { accepted: 3, refused: [] });
    t.match(await writer.logs({ tenant: one, items: logs(3) }, context('a')), { accepted: 3, refused: [] });
    // Another user, another signal and no name make a different batch.
    await writer.logs({ tenant: two, items: logs(3) }, context('a'));
    await writer.metrics({ tenant: one, items: points(5) }, context('a'));
    await writer.metrics({ tenant: one, items: points(5) }, context('a'));
    await writer.logs({ tenant: one, items: logs(2) }, context());
    await writer.logs({ tenant: one, items: logs(2) }, context());
    t.strictSame(await stored(opened, one), { logs: 7, points: 5 });
    t.strictSame(await stored(opened, two), { logs: 3, points: 0 });

    await opened.close();
    await opened.start();
    await opened.store.writer.logs({ tenant: one, items: logs(3) }, context('a'));
    await opened.store.writer.metrics({ tenant: one, items: points(5) }, context('a'));
    // Enough to compact the segment with the names.
    await opened.store.writer.logs({ tenant: one, items: logs(100) }, context('b'));
    await opened.store.settled();
    await opened.close();
    await opened.start();
    for (const name of ['a', 'b'])
      await opened.store.writer.logs({ tenant: one, items: logs(3) }, context(name));
    await opened.store.writer.metrics({ tenant: one, items: points(5) }, context('a'));
    t.strictSame(await stored(opened, one), { logs: 107, points: 5 });
  },
);

void t.test('writes concurrent batches of one name once', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const { writer } = opened.store;
  await Promise.all(Array.from({ length: 5 }, () => writer.logs({ tenant, items: logs(3) }, context('a'))));
  t.equal((await stored(opened, tenant)).logs, 3);
});

void t.test('upgrades a schema 4 store and records names from then on', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.store.writer.logs({ tenant, items: logs(3) }, context());
  await opened.close();
  await downgrade(opened.path, 4);
  await opened.start();
  for (let n = 0; n < 2; n++) await opened.store.writer.logs({ tenant, items: logs(3) }, context('a'));
  t.equal((await stored(opened, tenant)).logs, 6);
});

/** An empty append. */
function anAppend(refused: readonly number[] = []): Append & { readonly refused: readonly number[] } {
  const nothing = () => undefined;
  const shape = { bytes: 0, weight: 1, counted: null, items: 1, buffers: [] };
  return { ...shape, refused, rows: () => [], committed: nothing, rolledBack: nothing };
}

const commit = async (append: Append) => {
  append.rows(1);
  append.committed();
  return Promise.resolve('written');
};

void t.test('repeats wait and get the same refusals, and failures are not recorded', async (t) => {
  const names = new NamedBatches();
  const name = { batch: '00000000-0000-4000-8000-000000000001', at: NOON };
  const failing = async () => Promise.reject(new ConsumeError('no', { code: 'overloaded', retryable: true }));
  const first = names.once(1, name, anAppend(), failing);
  const second = names.once(1, name, anAppend([2, 5]), commit);
  await t.rejects(first);
  t.strictSame(await second, { answer: 'written', refused: [2, 5] });
  t.strictSame(await names.once(1, name, anAppend(), failing), { answer: null, refused: [2, 5] });
});

void t.test('forgets names after a day, and the oldest names of a user beyond the limit', async (t) => {
  const names = new NamedBatches(3);
  const at = (n: number) => ({ batch: `00000000-0000-4000-8000-00000000000${n}`, at: NOON + n });
  const isKnown = async (tenant: number, name: ReturnType<typeof at>) =>
    (await names.once(tenant, name, anAppend(), commit)).answer === null;
  for (const n of [1, 2, 3, 4]) t.notOk(await isKnown(1, at(n)));
  for (const n of [2, 3, 4]) t.ok(await isKnown(1, at(n)), 'the newest three');
  t.notOk(await isKnown(1, at(1)), 'the oldest is forgotten');
  t.notOk(await isKnown(2, at(1)));
  const later = { batch: '00000000-0000-4000-8000-0000000000ff', at: NOON + 2 * REMEMBERED };
  t.notOk(await isKnown(2, later));
  t.notOk(await isKnown(2, at(1)), 'a day is over');
});
