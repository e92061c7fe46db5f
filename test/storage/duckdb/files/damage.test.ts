import t from 'tap';
import { aTrace, NOON } from '../../../support/run-records.js';
import { aMovedStore, coldFile, damageColumn, flip } from '../damaged-store.js';
import { spansOf } from '../shown-spans.js';
import { wrongSumsIn } from '../stored-rows.js';

const RECEIVED = { receivedAt: NOON };
const ALL = { offset: 0, limit: 1000 };
const DAMAGED = { name: 'ConsumeError', code: 'store_damaged', retryable: false };
const DAY_MS = 86_400_000;

void t.test('fails only reads that need a damaged block', async (t) => {
  const { opened, users, runs } = await aMovedStore(t);
  await damageColumn(opened.path, 'payloads', 'lines', 1);
  await opened.start();
  const { store, statuses, settings } = opened;
  const read = async (n: number): Promise<number> => {
    const trace = await store.runs.read(users[n % 2] ?? '', runs[n] ?? '');
    return trace === null ? 0 : (await spansOf(trace)).length;
  };
  const outcomes = await Promise.allSettled(runs.map((_, n) => read(n)));
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  t.ok(failures.length > 0 && failures.length < runs.length, `${failures.length} runs are damaged`);
  for (const { reason } of failures) t.match(reason, DAMAGED);
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') t.equal(outcome.value, 8);

  const cold = coldFile(opened.path);
  const told = settings.logger.lines.filter((line) => line.includes('damaged blocks'));
  t.equal(told.length, 1, 'the log reports the damage once');
  t.ok(told[0]?.includes(cold), 'with the file name');
  t.match(statuses.at(-1), { level: 'degraded', message: /jackdaw store check/ });
  t.ok(JSON.stringify(statuses.at(-1)).includes(cold));

  const [tenant = ''] = users;
  t.equal((await store.runs.list(tenant, {}, ALL)).count, 60, 'lists are complete');
  for (let n = 0; n < 80; n++) await store.writer.traces({ tenant, items: [aTrace(8)] }, RECEIVED);
  await store.settled();
  t.equal((await store.runs.list(tenant, {}, ALL)).count, 140, 'writes and compaction continue');
  t.match(statuses.at(-1), { level: 'degraded' });
  await opened.close();
  t.same(await wrongSumsIn(opened.path), []);
});

void t.test('writes and retention continue with damaged rows, and the cold file stays usable', async (t) => {
  const { opened, users, runs } = await aMovedStore(t, { traceRetentionDays: 1 });
  await damageColumn(opened.path, 'payloads', 'lines', 0);
  await damageColumn(opened.path, 'traces', 'outcome', 0);
  await opened.start();
  const [tenant = ''] = users;
  const later = aTrace(1, { trace_id: runs[0] ?? '', status: 'failed' });
  const writes = await Promise.allSettled(
    [later, aTrace(1)].map((item) => opened.store.writer.traces({ tenant, items: [item] }, RECEIVED)),
  );
  t.match(writes, [{ status: 'rejected', reason: DAMAGED }, { status: 'fulfilled' }]);
  await opened.store.writer.traces(
    { tenant, items: [aTrace(1, { started_at: NOON + DAY_MS * 2000 })] },
    RECEIVED,
  );
  await opened.retained(1.5 * DAY_MS);
  t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 1, 'old runs are removed');
  await opened.reopen();
  t.equal((await opened.store.runs.list(tenant, {}, ALL)).count, 1);
});

void t.test('names a damaged file at startup and says what to do', async (t) => {
  const { opened } = await aMovedStore(t);
  const cold = coldFile(opened.path);
  const refused = {
    name: 'StoreOpenError',
    message: new RegExp(
      `${cold.replaceAll('.', '\\.')} is damaged.*backup.*run --accept-loss.*jackdaw store check`,
    ),
  };
  await damageColumn(opened.path, 'agents', 'name');
  await t.rejects(opened.start(), refused, 'in a table that every start reads');
  flip(cold, 4096 + 16);
  flip(cold, 8192 + 16);
  await t.rejects(opened.start(), refused, 'in the headers');
  flip(opened.path, 16);
  await t.rejects(opened.start(), { name: 'StoreOpenError', message: /jackdaw\.duckdb is damaged.*backup/ });
});
