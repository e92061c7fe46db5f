import { join } from 'node:path';
import { statSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { filesOf } from '../stored-rows.js';
import { canLimit, RemoteStore } from '../remote-store.js';
import { BAD, dataOf, EventEngine, describeEvent, type Listener } from '../event-engine.js';
import { aUser } from '../meta-records.js';
import { controlPathOf, controlStoreAt } from '../../../support/control-store.js';
import { testFolder } from '../../../support/test-folder.js';

function completion({ trace }: TraceRecord): TraceRecord {
  return { trace: aHeader({ ...trace, status: 'completed' }), spans: [] };
}

void t.test('emits the events of a failed commit once, after the retry succeeds', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['*']);
  const [fresh, running, remembered] = [
    aTrace(2),
    aTrace(1, { status: 'running' }),
    aTrace(1, { status: 'running' }),
  ];
  // Two are stored: one is cached, one occurs twice in the group.
  await engine.write(user, [remembered, aTrace(1, { agent: 'first' })], NOON);
  const before = await engine.events();
  const bad = t.rejects(engine.parts.writer.write({ kind: 'append', append: BAD }), {
    code: 'internal_error',
  });
  await Promise.all([
    engine.write(user, [fresh, completion(remembered), running], NOON + 1),
    bad,
    engine.write(user, [completion(running), aTrace(1, { agent: 'second' })], NOON + 2),
  ]);
  const events = (await engine.events()).slice(before.length);
  const second = events.at(-1);
  t.same(events.map(describeEvent), [
    ...[fresh, remembered].map(({ trace }) => `trace.completed ${trace.trace_id}`),
    'agent.created second',
    `trace.completed ${running.trace.trace_id}`,
    second && describeEvent(second),
  ]);
  t.equal(new Set(events.map(({ commit }) => commit)).size, 2, 'each batch was retried on its own');
  await sayWhatIsStored(t, engine, user);
  await engine.reopen();
  t.same((await engine.events()).slice(before.length), events);
});

void t.test('a refused request creates no agent, and the next accepted one does', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['*']);
  const taken = aTrace(1);
  const refused = t.rejects(engine.write(user, [aTrace(3), aTrace(3)], NOON, 5), { code: 'quota_exceeded' });
  await Promise.all([refused, engine.write(user, [taken], NOON + 1, 5)]);
  const events = await engine.events();
  t.same(events.map(describeEvent), ['agent.created researcher', `trace.completed ${taken.trace.trace_id}`]);
  const [agent] = await engine.agents();
  t.match(events[0] && dataOf(events[0]), { id: agent?.id });
});

const skip = canLimit() ? false : 'prlimit is not here';

void t.test('a full disk neither loses nor duplicates events', { skip }, async (t) => {
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const control = await controlStoreAt(controlPathOf(path));
  const account = aUser();
  await control.accounts.createUser(account);
  await control.events.want('a reader', ['*'], Number.MAX_SAFE_INTEGER);
  const engine = await EventEngine.open(t, { path, control: await control.identity() });
  await control.close();
  const user = await engine.addUser(['*']);
  await engine.close();
  const store = await RemoteStore.open(t, engine.path, 100_000);
  const write = async (items: readonly TraceRecord[]): Promise<unknown> =>
    await store.call('writer.traces', { tenant: account.id, items }, { receivedAt: NOON });
  const expected: string[] = [];
  for (let round = 0; round < 4; round++) {
    const running = aFatTrace('running', `agent ${round}`);
    await write([running]);
    store.limitFiles(sizeOfLogs(engine.path) + 2000 * round);
    const batches = [
      [completion(running), aFatTrace('failed', `other ${round}`)],
      [aFatTrace('completed', `other ${round}`)],
    ];
    const outcomes = await Promise.allSettled(batches.map(write));
    t.ok(
      outcomes.some(({ status }) => status === 'rejected'),
      'writes are refused',
    );
    store.limitFiles('unlimited');
    // Senders retry the same batches, twice.
    for (const items of [...batches, ...batches]) await write(items);
    expected.push(`agent.created agent ${round}`, `agent.created other ${round}`);
    for (const { trace } of batches.flat()) expected.push(`trace.${trace.status} ${trace.trace_id}`);
  }
  await store.kill();
  await engine.start();
  t.same((await engine.events()).map(describeEvent).sort(), expected.sort());
  await sayWhatIsStored(t, engine, user);
});

/** The runs have not changed since their events. */
async function sayWhatIsStored(t: Test, engine: EventEngine, user: Listener): Promise<void> {
  for (const event of await engine.events()) {
    const { trace_id } = dataOf(event);
    if (typeof trace_id === 'string') t.same(dataOf(event), await engine.shownRun(user, trace_id));
  }
}

function aFatTrace(status: 'running' | 'completed' | 'failed', agent: string): TraceRecord {
  const trace = aHeader({ status, agent });
  return { trace, spans: [aSpanRecord(trace.trace_id, { input_data: { text: 'x'.repeat(20_000) } })] };
}

function sizeOfLogs(path: string): number {
  const sizes = filesOf(path)
    .filter((file) => file.includes('.hot-'))
    .map((file) => statSync(`${file}.wal`, { throwIfNoEntry: false })?.size ?? 0);
  return Math.max(...sizes);
}
