import t from 'tap';
import type { StoredEvent } from '../../../../src/storage/contracts/events.js';
import { TestStore } from '../test-store.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { until } from '../../../support/until.js';

const RECEIVED = { receivedAt: NOON };
const FAR = 1e17;

async function eventsOf(opened: TestStore, from: string): Promise<readonly StoredEvent[]> {
  return (await opened.control.events.read(from, { events: 100_000, bytes: 1e9 })).events;
}

function traceOf({ event }: StoredEvent): string {
  return (JSON.parse(event.body) as { data: { trace_id: string } }).data.trace_id;
}

void t.test('writes each fact to the log once and in order across compaction and restarts', async (t) => {
  const opened = await TestStore.open(t);
  const users = [await opened.addUser(), await opened.addUser()];
  await opened.control.events.want('test', ['trace.completed'], FAR);
  const start = await opened.control.events.open('all');
  const sent: { readonly user: string; readonly id: string }[] = [];
  for (let session = 0; session < 3; session++) {
    for (let i = 0; i < 20; i++) {
      const user = users[i % 2] ?? '';
      const item = aTrace(5);
      await opened.store.writer.traces({ tenant: user, items: [item] }, RECEIVED);
      sent.push({ user, id: item.trace.trace_id });
    }
    // A repeat emits no fact.
    if (session === 1) await opened.store.settled();
    await opened.reopen();
  }
  await until('all events are emitted', async () => (await eventsOf(opened, start)).length >= sent.length);
  const logged = await eventsOf(opened, start);
  t.strictSame(
    logged.map((event) => ({ user: event.tenant, id: traceOf(event) })),
    sent,
  );
});

void t.test('delivers facts after a restart that the log missed before shutdown', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.control.events.want('test', ['trace.completed'], FAR);
  const start = await opened.control.events.open('all');
  const { control } = opened;
  const append = control.events.append.bind(control.events);
  control.events.append = async () => {
    throw new Error('not now');
  };
  const items = Array.from({ length: 7 }, () => aTrace(1));
  for (const item of items) await opened.store.writer.traces({ tenant, items: [item] }, RECEIVED);
  await until('the failure is reported', () => opened.statuses.some(({ level }) => level === 'degraded'));
  t.strictSame(await eventsOf(opened, start), []);
  control.events.append = append;
  await opened.reopen();
  await until('all events are emitted', async () => (await eventsOf(opened, start)).length >= items.length);
  t.strictSame(
    (await eventsOf(opened, start)).map(traceOf),
    items.map(({ trace }) => trace.trace_id),
  );
});

void t.test('retention removes old events from the log', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const tenant = await opened.addUser();
  await opened.control.events.want('test', ['trace.completed'], FAR);
  const start = await opened.control.events.open('all');
  for (const day of [0, 1, 2, 3])
    await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, { receivedAt: clock.now() - day * DAY });
  await until('all events are emitted', async () => (await eventsOf(opened, start)).length === 4);
  // Not from the beginning: the store applies retention when it starts, which would remove old events while they are written.
  await opened.reopen({ eventRetentionDays: 2 });
  await opened.store.applyRetention();
  const left = await eventsOf(opened, start);
  t.strictSame(left.map(({ event }) => (clock.now() - event.timestamp) / DAY).sort(), [0, 1]);
});
