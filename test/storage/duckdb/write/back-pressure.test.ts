import t from 'tap';
import { BackPressure } from '../../../../src/storage/duckdb/write/back-pressure.js';
import { HandClock } from '../../../support/hand-clock.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { canLimit, RemoteStore } from '../remote-store.js';
import { inColdFile } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 1 };
const OVERLOADED = { name: 'ConsumeError', code: 'overloaded', retryable: true, retryAfterMs: 5000 };

void t.test('delays commits above half the limit, increasing with the waiting segments', async (t) => {
  let waiting = 0;
  const pressure = new BackPressure(() => waiting, 8, new HandClock());
  const pauses: number[] = [];
  for (waiting = 0; waiting <= 9; waiting++) pauses.push(pressure.pauseMs);
  t.strictSame(pauses, [0, 0, 0, 0, 62.5, 125, 187.5, 250, 250, 250]);
  waiting = 7;
  t.doesNotThrow(() => {
    pressure.check();
  });
  waiting = 8;
  t.throws(() => {
    pressure.check();
  }, OVERLOADED);
  t.equal(pressure.refused, 1);
  t.equal(new BackPressure(() => 1e9, Infinity, new HandClock()).pauseMs, 0);
});

void t.test(
  'blocks ingestion while segments cannot be compacted and loses nothing',
  { skip: canLimit() ? false : 'prlimit is not here' },
  async (t) => {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    await opened.close();
    const store = await RemoteStore.open(t, opened.path, 40, { maxWaitingSegments: 4 });
    let acknowledged = 0;
    const write = async (): Promise<void> => {
      await store.call('writer.traces', { tenant, items: [aTrace(30), aTrace(30)] }, RECEIVED);
      acknowledged += 2;
    };
    // Each write fills a segment.
    for (let i = 0; i < 40; i++) {
      await write();
      await store.call('settled');
    }
    // Hot segments stay far below this limit and the cold file exceeds it: compaction fails.
    store.limitFiles(100_000);
    const refusal = await writeUntilRefused(write);
    t.match(refusal, OVERLOADED);
    t.notMatch(refusal, { message: /\// });
    t.match(await store.call('runs.list', tenant, {}, PAGE), { count: acknowledged }, 'reads continue');
    store.limitFiles('unlimited');
    await store.call('settled');
    await write();
    t.match(await store.call('runs.list', tenant, {}, PAGE), { count: acknowledged });
  },
);

void t.test('outcomes and headers with long texts count towards the segment size', async (t) => {
  const works: readonly ((opened: TestStore, tenant: string) => Promise<void>)[] = [
    async ({ store }, tenant) => {
      const trace = aTrace(1);
      await store.writer.traces({ tenant, items: [trace] }, RECEIVED);
      for (const letter of 'abcd') {
        const change = { success: true, outcome: letter.repeat(400_000) };
        await store.runs.setOutcome(tenant, trace.trace.trace_id, change);
      }
    },
    async ({ store }, tenant) => {
      const items = Array.from({ length: 4 }, () => aTrace(0, { error_message: 'x'.repeat(400_000) }));
      await store.writer.traces({ tenant, items }, RECEIVED);
    },
  ];
  for (const work of works) {
    const opened = await TestStore.open(t, { segmentSize: { rows: 1e9, bytes: 1_000_000 } });
    await work(opened, await opened.addUser());
    await opened.store.settled();
    await opened.close();
    const [notes] = await inColdFile(opened.path, 'SELECT count(*) AS notes FROM moved');
    t.equal(notes?.notes, 1, 'one full segment was compacted');
  }
});

async function writeUntilRefused(write: () => Promise<void>): Promise<unknown> {
  for (let i = 0; i < 500; i++) {
    try {
      await write();
    } catch (reason) {
      const { error } = reason as { readonly error: { readonly code: string } };
      if (error.code === 'overloaded') return error;
    }
  }
  return null;
}
