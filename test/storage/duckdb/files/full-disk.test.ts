import { statSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { canLimit, RemoteError, RemoteStore } from '../remote-store.js';
import { duplicatesIn, filesOf, wrongSumsIn } from '../stored-rows.js';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { TestStore } from '../test-store.js';

const skip = canLimit() ? false : 'prlimit is not here';
const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 1000 };
const REFUSED = { name: 'ConsumeError', code: 'storage_unavailable', retryable: true };

void t.test('refuses writes on a full disk, keeps all data and recovers', { skip }, async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.close();
  const store = await RemoteStore.open(t, opened.path, 100_000);
  let acknowledged = 0;
  for (let i = 0; i < 5; i++) {
    await store.call('writer.traces', { tenant, items: [aFatTrace()] }, RECEIVED);
    acknowledged++;
  }
  const [known] = (await store.call<{ items: { trace_id: string }[] }>('runs.list', tenant, {}, PAGE)).items;

  for (let round = 0; round < 4; round++) {
    store.limitFiles(sizeOfLogs(opened.path) + 2000 * round);
    const batches = Array.from({ length: 6 }, () => [aFatTrace(), aFatTrace()]);
    const outcomes = await Promise.allSettled(
      batches.map((items) => store.call('writer.traces', { tenant, items }, RECEIVED)),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') acknowledged += 2;
      else t.match((outcome.reason as RemoteError).error, REFUSED);
    }
    t.ok(
      outcomes.some(({ status }) => status === 'rejected'),
      'writes are refused',
    );
    const change = { success: true, outcome: 'x'.repeat(300_000) };
    await refused(t, store.call('runs.setOutcome', tenant, known?.trace_id, change));
    t.match(await store.call('runs.list', tenant, {}, PAGE), { count: acknowledged }, 'reads continue');

    store.limitFiles('unlimited');
    // Senders retry the same batches.
    for (const [i, items] of batches.entries()) {
      if (outcomes[i]?.status === 'fulfilled') continue;
      await store.call('writer.traces', { tenant, items }, RECEIVED);
      acknowledged += 2;
    }
    t.match(await store.call('runs.list', tenant, {}, PAGE), { count: acknowledged }, 'writes continue');
  }
  await store.kill();
  await opened.start();
  const { items, count } = await opened.store.runs.list(tenant, {}, PAGE);
  t.equal(count, acknowledged);
  for (const { span_count } of items) t.equal(span_count, 3);
  await opened.close();
  t.same(await duplicatesIn(opened.path), []);
  t.same(await wrongSumsIn(opened.path), []);
});

void t.test('the compactor retries after running out of space and loses nothing', { skip }, async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.close();
  const store = await RemoteStore.open(t, opened.path, 40);
  let acknowledged = 0;
  const write = async (batches: number): Promise<void> => {
    for (let i = 0; i < batches; i++) {
      await store.call('writer.traces', { tenant, items: [aFatTrace(), aFatTrace()] }, RECEIVED);
      acknowledged += 2;
    }
  };
  await write(60);
  await store.call('settled');
  // Hot segments stay far below this limit; the cold file exceeds it.
  store.limitFiles(200_000);
  // After a failed checkpoint the cold file is unusable until it is reattached.
  const log = async (): Promise<string> => (await store.call<string[]>('log')).join('\n');
  while (!/Could not checkpoint/.test(await log())) await write(1);
  for (let i = 0; i < 20; i++) {
    await sentAgain(() => write(1));
    const runs = await sentAgain(() => store.call('runs.list', tenant, {}, PAGE));
    t.match(runs, { count: acknowledged }, 'reads and writes continue');
  }
  store.limitFiles('unlimited');
  await write(10);
  await store.call('settled');
  t.match(await store.call('runs.list', tenant, {}, PAGE), { count: acknowledged });
  await store.kill();
  await opened.start();
  await opened.store.settled();
  t.equal((await opened.store.runs.list(tenant, {}, PAGE)).count, acknowledged);
  await opened.close();
  t.same(await duplicatesIn(opened.path), []);
});

/** Retries calls refused between the failure and its repair. */
async function sentAgain<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (reason) {
      if (!(reason instanceof RemoteError) || reason.error.retryable !== true || tries === 1000) throw reason;
    }
  }
}

async function refused(t: Test, call: Promise<unknown>): Promise<void> {
  const error = await call.then(
    () => null,
    (reason: unknown) => (reason instanceof RemoteError ? reason.error : reason),
  );
  t.match(error, REFUSED);
  t.notMatch(error, { message: /\// }, 'the message contains no path');
}

/** About 6 KB on disk, incompressible. */
function aFatTrace(): TraceRecord {
  const { trace } = aTrace(0);
  const noise = (): string =>
    Array.from({ length: 2000 }, () => Math.random().toString(36).slice(-1)).join('');
  return {
    trace,
    spans: Array.from({ length: 3 }, () => aSpanRecord(trace.trace_id, { input_data: { noise: noise() } })),
  };
}

/** Size of the largest hot segment log. */
function sizeOfLogs(path: string): number {
  return Math.max(
    ...filesOf(path).map((file) => statSync(`${file}.wal`, { throwIfNoEntry: false })?.size ?? 0),
  );
}
