import t from 'tap';
import { uuidV7, uuidV7InOrder } from '../../../../src/signal/ids.js';
import type { LogRecord } from '../../../../src/signal/log-record.js';
import { aLog, fromService } from '../../../support/log-records.js';
import { DAY, NOON } from '../../../support/run-records.js';
import { searchLogs } from '../log-search.js';
import { movedLogs } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };

const HOUR_MS = 3_600_000;

void t.test('splits a large segment into blocks', async (t) => {
  const records = 70_000;
  const opened = await TestStore.open(t, { segmentSize: { rows: records, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const origin = fromService('many');
  for (let from = 0; from < records; from += 10_000) {
    const items = Array.from({ length: 10_000 }, (_, i): LogRecord => {
      const number = from + i;
      // Unordered times.
      const timestamp = NOON + ((number * 7919) % records) * 1000;
      const body = `number ${number} of many${number % 10 === 0 ? ' tenth' : ''}, ${number % 2 === 0 ? 'left right' : 'right left'}`;
      return aLog({ id: uuidV7InOrder(NOON / 1000, number), timestamp, body, origin });
    });
    await opened.store.writer.logs({ tenant, items }, RECEIVED);
  }
  await opened.store.settled();
  const count = async (query: string) => (await searchLogs(opened.store, tenant, { query }, FIRST)).count;
  t.equal(await count('many'), records);
  t.equal(await count('tenth'), records / 10);
  t.equal(await count('tenth right'), records / 10);
  t.equal(await count('"left right"'), records / 2);
  t.equal(await count('"right left" tenth'), 0);
  t.equal(await count('number 69999'), 1);
  const window = { start_time: NOON + 1000 * 1000, end_time: NOON + 1999 * 1000 };
  t.equal((await searchLogs(opened.store, tenant, window, FIRST)).count, 1000);
  t.equal((await searchLogs(opened.store, tenant, { ...window, query: 'right' }, FIRST)).count, 1000);
  const deep = await searchLogs(opened.store, tenant, {}, { offset: 68_999, limit: 2 });
  t.strictSame(
    deep.items.map(({ timestamp }) => timestamp),
    ['2026-01-15T12:00:01Z', '2026-01-15T12:00:00.999Z'],
  );
  await opened.close();
  const { inBlocks, counted, entries } = await movedLogs(opened.path);
  t.equal(inBlocks, records);
  t.equal(counted, entries, 'counts match the list lengths');
});

const FIRST = { offset: 0, limit: 1 };

for (const rows of [7, 100_000]) {
  void t.test(`removes old days with their index entries, with segments of ${rows} rows`, async (t) => {
    const opened = await TestStore.open(t, { segmentSize: { rows, bytes: 1e9 }, logRetentionDays: 2 });
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const firstKept = Math.floor(NOON / DAY) * DAY;
    // Old and new records mixed in every segment, and one day that expires completely.
    const times = Array.from({ length: 40 }, (_, i) => firstKept + (i % 2 === 0 ? i : -1 - i));
    const logs = [...times, ...Array.from({ length: 20 }, (_, i) => firstKept - DAY + i)].map(
      (timestamp, i) =>
        aLog({
          timestamp,
          body: `body ${i} ${timestamp < firstKept ? 'old' : 'young'}`,
          trace_id: uuidV7(i),
        }),
    );
    for (const log of logs) {
      await opened.store.writer.logs({ tenant, items: [log] }, RECEIVED);
      await opened.store.writer.logs(
        { tenant: other, items: [{ ...log, id: uuidV7(NOON / 1000) }] },
        RECEIVED,
      );
    }
    t.equal((await searchLogs(opened.store, tenant, { query: 'body' })).count, 60);
    await opened.retained(24 * HOUR_MS);
    const kept = logs.filter(({ timestamp }) => timestamp >= firstKept);
    t.equal((await searchLogs(opened.store, tenant)).count, kept.length);
    await opened.reopen({ logRetentionDays: null });
    for (const user of [tenant, other]) {
      const found = await searchLogs(opened.store, user, { query: 'body young' });
      t.equal(found.count, kept.length);
      t.strictSame(found.items.map(({ body }) => body).sort(), kept.map(({ body }) => body).sort());
      t.equal((await searchLogs(opened.store, user, { query: 'old' })).count, 0);
      t.equal((await searchLogs(opened.store, user, { severity: 'info' })).count, kept.length);
      t.equal((await searchLogs(opened.store, user, { trace_id: logs[59]?.trace_id ?? '' })).count, 0);
    }
    t.notMatch(opened.settings.logger.lines, /failed|could not/);
    await opened.store.settled();
    await opened.close();
    const moved = await movedLogs(opened.path);
    t.equal(moved.inBlocks, moved.records);
    t.equal(moved.counted, moved.entries);
    // Three words, the service, the severity and the trace of each record.
    t.equal(moved.entries, moved.records * 6, 'no entries of removed records remain');
  });
}

void t.test('finds nothing for signs that no record has, and accepts unclosed quotes', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.store.writer.logs({ tenant, items: [aLog({ body: 'a b' }), aLog({ body: null })] }, RECEIVED);
  const count = async (query: string) => (await searchLogs(opened.store, tenant, { query })).count;
  t.equal(await count(''), 2);
  t.equal(await count(' *** '), 0);
  t.equal(await count('""'), 0);
  t.equal(await count('"b a'), 1);
  t.equal(await count('"b a"'), 0);
  t.equal(await count("a'b"), 1);
  t.equal(await count('null'), 0, 'a null body has no text');
});
