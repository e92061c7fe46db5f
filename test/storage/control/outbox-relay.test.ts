import t, { type Test } from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import { OutboxRelay } from '../../../src/storage/control/outbox-relay.js';
import { openControlStore } from '../../support/control-store.js';
import { HandClock } from '../../support/hand-clock.js';
import { RecordedIntake, ListedFacts } from '../../support/listed-facts.js';
import { until } from '../../support/until.js';
import { aUser } from '../duckdb/meta-records.js';

const ALL = { events: 1000, bytes: 1e9 };
const broken = () => new ConsumeError('gone', { code: 'storage_unavailable', retryable: true });

type Append = SqlControlStore['events']['append'];

/** A relay into a real log whose append a test may replace. See `test/conformance/fact-intake.test.ts` for the rest. */
async function startRelay(t: Test, change: (append: Append) => Append) {
  const control = await openControlStore(t);
  const [facts, listener, clock] = [new ListedFacts(), new RecordedIntake(), new HandClock()];
  const tenant = await control.accounts.createUser(aUser());
  const start = await control.events.open('test');
  const append = change((...args) => control.events.append(...args));
  const relay = new OutboxRelay({
    source: facts,
    events: { append, markOf: (source) => control.events.markOf(source) },
    accounts: control.accounts,
    clock,
    listener,
  });
  t.teardown(() => relay.stop());
  const logged = async () => {
    const { events } = await control.events.read(start, ALL);
    return events.map(({ event }) => event.id);
  };
  const add = (count: number): void => {
    facts.add(tenant, count);
  };
  return { relay, facts, listener, clock, logged, add, control };
}

void t.test('queues facts while the control store fails and delivers each once', async (t) => {
  let calls = 0;
  const { facts, listener, clock, logged, add, control } = await startRelay(
    t,
    (append) =>
      async (...args) => {
        calls++;
        if (calls <= 2) throw broken();
        const added = await append(...args);
        // The response is lost after the transaction.
        if (calls === 3) throw broken();
        return added;
      },
  );
  add(3);
  await until('it failed', () => listener.states.length === 1);
  t.equal(facts.waiting, 0, 'no request for further facts is pending');
  await until('the facts are delivered', () => {
    clock.advance(200);
    return listener.states.includes(null);
  });
  t.equal(calls, 3, 'the completed append is not repeated');
  t.strictSame(listener.states, ['gone', 'gone', 'gone', null]);
  add(1);
  await until('all are there', async () => (await logged()).length === 4);
  t.equal(calls, 4);
  t.strictSame(await logged(), facts.ids);
  t.equal(await control.events.markOf(facts.name), '4');
});

void t.test('stops without waiting for a failing store', async (t) => {
  const { relay, facts, listener, add, control } = await startRelay(t, () => async () => {
    throw broken();
  });
  add(1);
  await until('it failed', () => listener.states.length === 1);
  await relay.stop();
  t.equal(await control.events.markOf(facts.name), null);
});

void t.test('reads the next page during an append and appends it afterwards', async (t) => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { facts, logged, add, relay } = await startRelay(t, (append) => async (...args) => {
    await held;
    return await append(...args);
  });
  facts.most = 2;
  add(5);
  await until('the next page is requested', () => facts.asked.length === 2);
  t.strictSame(facts.asked, [null, '2']);
  t.strictSame(await logged(), []);
  const stopped = relay.stop();
  release();
  await stopped;
  t.strictSame(await logged(), facts.ids.slice(0, 2), 'a stop waits for the page in progress');
});
