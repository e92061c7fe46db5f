import t, { type Test } from 'tap';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import type { FactIntake } from '../../src/storage/contracts/events.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { RecordedIntake, ListedFacts } from '../support/listed-facts.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const ALL = { events: 1000, bytes: 1e9 };

async function place(store: ControlStore) {
  const users = [aUser(), aUser()];
  const tenants: number[] = [];
  for (const user of users) tenants.push(await store.accounts.createUser(user));
  const start = await store.events.open('test');
  const logged = async ({ events } = store) => {
    const page = await events.read(start, ALL);
    return page.events.map(({ tenant, event }) => [users.findIndex(({ id }) => id === tenant), event.id]);
  };
  const [one = 0, two = 0] = tenants;
  return { one, two, logged, facts: new ListedFacts(), listener: new RecordedIntake() };
}

/** Stopped before the store is closed. */
async function take(
  t: Test,
  store: ControlStore,
  ...[source, listener]: Parameters<ControlStore['takeFacts']>
): Promise<FactIntake> {
  const intake = await store.takeFacts(source, listener);
  t.teardown(() => intake.stop());
  return intake;
}

function checkIntake(t: Test, open: OpenControl): void {
  void t.test('appends facts in order, page by page, with the mark', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const { one, two, logged, facts, listener } = await place(store);
    facts.most = 2;
    facts.add(one, 3);
    facts.add(two, 2);
    const expected = (): unknown => facts.ids.map((id, i) => [i < 3 ? 0 : 1, id]);
    const intake = await take(t, store, facts, listener);
    await until('all are there', async () => (await logged()).length === 5);
    t.strictSame(await logged(), expected());
    t.equal(await store.events.markOf(facts.name), '5');
    // Facts are readable shortly before the intake requests the next page.
    await until('the next page is requested', () => facts.asked.at(-1) === '5');
    t.strictSame(facts.asked, [null, '2', '4', '5'], 'each page is requested once');
    facts.add(two);
    await until('the new one arrives', async () => (await logged()).length === 6);
    t.strictSame(await logged(), expected());
    await until('the next page is requested', () => facts.asked.at(-1) === '6');
    await intake.stop();
    t.equal(facts.waiting, 0, 'no request is pending');
    facts.add(two);
    t.strictSame(facts.asked.at(-1), '6');
    const other = await opened.another();
    await take(t, other, facts, listener);
    await until('the next owner continues', async () => (await logged()).length === 7);
    await until('the next page is requested', () => facts.asked.at(-1) === '7');
    t.strictSame(facts.asked.slice(-2), ['6', '7']);
    t.strictSame(listener.states, []);
  });

  void t.test('facts of unknown users are skipped and reported', async (t) => {
    const { store } = await open(t);
    const { one, logged, facts, listener } = await place(store);
    facts.add(999_999);
    facts.add(one);
    await take(t, store, facts, listener);
    await until('the failure is reported', () => listener.passed === 1);
    t.strictSame(await logged(), [[0, facts.ids[1]]]);
  });

  void t.test('retries a failing source and reports failure and recovery', async (t) => {
    const { store } = await open(t);
    const { one, logged, facts, listener } = await place(store);
    facts.faults.push(new Error('no such disk'));
    await take(t, store, facts, listener);
    await until('the failure is reported', () => listener.states.length === 1);
    await until('recovery is reported without new facts', () => listener.states.length === 2);
    t.strictSame(listener.states, ['no such disk', null]);
    facts.add(one);
    await until('it continues', async () => (await logged()).length === 1);
  });
}

await onEveryControl(t, checkIntake);
