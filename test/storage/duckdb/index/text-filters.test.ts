import t, { type Test } from 'tap';
import { MS_PER_DAY } from '../../../../src/signal/time-units.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { downgrade, inColdFile, inFile } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
/** Each commit has its own filter, which the next one stores. */
const SMALL = { segmentSize: { rows: 6, bytes: 1e9 }, filterBytes: 1 };

/** Writes a run with a text, in a commit of its own. */
async function write({ store }: TestStore, tenant: string, text: string, at = 0): Promise<string> {
  const trace = aHeader({ started_at: NOON + at });
  const spans = [aSpanRecord(trace.trace_id, { input_data: { text } })];
  await store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
  return trace.trace_id;
}

async function search({ store }: TestStore, userId: string, query: string): Promise<string[]> {
  const range = { after: null, limit: 100, withinMs: 60_000 };
  return (await store.runs.search(userId, { query }, range)).items.map(({ trace_id }) => trace_id);
}

async function openSmall(
  t: Test,
  options = {},
): Promise<{ readonly opened: TestStore; readonly user: string }> {
  const opened = await TestStore.open(t, { ...SMALL, ...options });
  return { opened, user: await opened.addUser() };
}

/** The commits with a filter in the cold file and in the hot segments. */
async function filtered({ path }: TestStore): Promise<number> {
  const count = 'SELECT coalesce(sum(last_seq - first_seq + 1), 0)::INTEGER AS commits FROM text_filters';
  const rows = [...(await inColdFile(path, count)), ...(await inFile(path, /^hot/, count))];
  return rows.reduce((sum, { commits }) => sum + Number(commits), 0);
}

void t.test('a search reads only commits whose filter has the words', async (t) => {
  const { opened, user } = await openSmall(t);
  const other = await opened.addUser();
  const first = await write(opened, user, 'refund of an order');
  const second = await write(opened, user, 'order granted', 1);
  await write(opened, other, 'refund elsewhere');
  t.strictSame(await search(opened, user, 'order'), [second, first], 'in hot segments');
  await opened.settled();
  await opened.close();
  const commits = await filtered(opened);
  t.ok(commits >= 3, 'also the last commit has a filter');
  await opened.start(SMALL);
  t.strictSame(await search(opened, user, 'order'), [second, first]);
  t.strictSame(await search(opened, user, '"an order" refund'), [first]);
  t.strictSame(await search(opened, user, 'elsewhere'), []);
  await opened.close();
  const nothing = Array.from({ length: 16 }, (_, i) => `slice_${i} = '\\x00'::BLOB`).join(', ');
  await inColdFile(opened.path, `UPDATE text_filters SET ${nothing}`);
  await inFile(opened.path, /^hot/, `UPDATE text_filters SET ${nothing}`);
  await opened.start(SMALL);
  t.strictSame(await search(opened, user, 'order'), [], 'filters that have no words');
  t.strictSame(await search(opened, user, 'ord*'), [second, first], 'a prefix is searched without filters');
});

void t.test('commits of an older store are searched without filters', async (t) => {
  const { opened, user } = await openSmall(t);
  const old = await write(opened, user, 'refund');
  await write(opened, user, 'something', 1);
  await opened.settled();
  await opened.close();
  await downgrade(opened.path, 16);
  await opened.start(SMALL);
  const late = await write(opened, user, 'refund', 2);
  await write(opened, user, 'something else', 3);
  t.strictSame(await search(opened, user, 'refund'), [late, old]);
  await opened.settled();
  t.strictSame(await search(opened, user, 'refund'), [late, old]);
  t.strictSame(await search(opened, user, 'nowhere'), []);
});

void t.test('retention removes filters with their runs', async (t) => {
  const { opened, user } = await openSmall(t, { traceRetentionDays: 2 });
  for (let i = 0; i < 6; i++) await write(opened, user, `refund ${i}`, i);
  const kept = await write(opened, user, 'refund later', 2 * MS_PER_DAY * 1000);
  await opened.retained(2 * MS_PER_DAY);
  t.strictSame(await search(opened, user, 'refund'), [kept]);
  await opened.close();
  t.ok((await filtered(opened)) <= 2);
});
