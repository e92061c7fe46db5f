import t, { type Test } from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import type { SqlControlStore } from '../../../../src/storage/control/sql-control-store.js';
import { OutboxRelay } from '../../../../src/storage/control/outbox-relay.js';
import { openControlStore } from '../../../support/control-store.js';
import { HandClock } from '../../../support/hand-clock.js';
import { RecordedIntake, ListedFacts } from '../../../support/listed-facts.js';
import { until } from '../../../support/until.js';
import { aUser } from '../meta-records.js';

const ALL = { events: 1000, bytes: 1e9 };
const broken = () => new ConsumeError('gone', { code: 'storage_unavailable', retryable: true });

type Append = SqlControlStore['events']['append'];

/** A pump into a real log whose append a test may replace. See `test/conformance/fact-intake.test.ts` for the rest. */
async function startPump(t: Test, change: (append: Append) => Append) {
  const control = await openControlStore(t);
  const [facts, news, clock] = [new ListedFacts(), new RecordedIntake(), new HandClock()];
  const tenant = await control.accounts.createUser(aUser());
  const start = await control.events.open('test');
  const append = change((...args) => control.events.append(...args));
  const pump = new OutboxRelay({
    source: facts,
    events: { append, markOf: (source) => control.events.markOf(source) },
    accounts: control.accounts,
    clock,
    news,
  });
  t.teardown(() => pump.stop());
  const told = async () => {
    const { events } = await control.events.read(start, ALL);
    return events.map(({ event }) => event.id);
  };
  const add = (count: number): void => {
    facts.add(tenant, count);
  };
  return { pump, facts, news, clock, told, add, control };
}

void t.test('queues facts while the control store fails and delivers each once', async (t) => {
  let calls = 0;
  const { facts, news, clock, told, add, control } = await startPump(t, (append) => async (...args) => {
    calls++;
    if (calls <= 2) throw broken();
    const added = await append(...args);
    // The response is lost after the transaction.
    if (calls === 3) throw broken();
    return added;
  });
  add(3);
  await until('it failed', () => news.states.length === 1);
  t.equal(facts.waiting, 0, 'no request for further facts is pending');
  await until('the facts are delivered', () => {
    clock.advance(200);
    return news.states.includes(null);
  });
  t.equal(calls, 3, 'the completed append is not repeated');
  t.strictSame(news.states, ['gone', 'gone', 'gone', null]);
  add(1);
  await until('all are there', async () => (await told()).length === 4);
  t.equal(calls, 4);
  t.strictSame(await told(), facts.ids);
  t.equal(await control.events.markOf(facts.name), '4');
});

void t.test('stops without waiting for a failing store', async (t) => {
  const { pump, facts, news, add, control } = await startPump(t, () => async () => {
    throw broken();
  });
  add(1);
  await until('it failed', () => news.states.length === 1);
  await pump.stop();
  t.equal(await control.events.markOf(facts.name), null);
});

void t.test('reads the next page during an append and appends it afterwards', async (t) => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { facts, told, add, pump } = await startPump(t, (append) => async (...args) => {
    await held;
    return await append(...args);
  });
  facts.most = 2;
  add(5);
  await until('the next page is requested', () => facts.asked.length === 2);
  t.strictSame(facts.asked, [null, '2']);
  t.strictSame(await told(), []);
  const stopped = pump.stop();
  release();
  await stopped;
  t.strictSame(await told(), facts.ids.slice(0, 2), 'a stop waits for the page in progress');
});
