import { MessageChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { ControlStore } from '../../../src/storage/contracts/control-store.js';
import { connectControl, type ConnectedControl } from '../../../src/storage/control/control-client.js';
import { serveControl } from '../../../src/storage/control/serve-control.js';
import { openControlStore } from '../../support/control-store.js';
import { RecordedIntake, ListedFacts } from '../../support/listed-facts.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';
import { anEndpoint, aKey, anOrganization, aUser } from '../duckdb/meta-records.js';

const USER = aUser();
const ORGANIZATION = anOrganization('ours');
const ENDPOINT = anEndpoint();

async function bootstrap({ accounts }: ControlStore): Promise<void> {
  await accounts.bootstrap({ user: USER, organization: ORGANIZATION, key: aKey(USER) });
}

/** A control client connected to the store over a port. */
async function over(t: Test, control: ControlStore): Promise<ConnectedControl> {
  const { port1, port2 } = new MessageChannel();
  serveControl(control, port1);
  const remote = await connectControl(port2);
  t.teardown(() => {
    remote.close();
  });
  return remote;
}

void t.test('watchers run before the call that changed something resolves', async (t) => {
  const store = await openControlStore(t);
  const [remote, other] = [await over(t, store), await over(t, store)];
  const notices: string[] = [];
  remote.watch.watch('keys', () => notices.push('keys'));
  const end = remote.watch.watch('endpoints', () => notices.push('endpoints'));
  remote.watch.watch('endpoints', () => notices.push('endpoints again'));
  other.watch.watch('endpoints', () => notices.push('other'));
  await bootstrap(remote);
  t.ok(notices.includes('keys'));

  notices.length = 0;
  await remote.endpoints.create(ORGANIZATION.slug, ENDPOINT);
  t.ok(notices.includes('endpoints'));
  t.ok(notices.includes('endpoints again'));
  await until('the other process is notified too', () => notices.includes('other'));

  end();
  notices.length = 0;
  await remote.endpoints.delete(ORGANIZATION.slug, ENDPOINT.id);
  t.ok(notices.includes('endpoints again'));
  t.notOk(notices.includes('endpoints'), 'who has ended it hears no more');
});

void t.test('each concurrent change resolves after its hint', async (t) => {
  const remote = await over(t, await openControlStore(t));
  await bootstrap(remote);
  let hints = 0;
  let answers = 0;
  remote.watch.watch('terms', () => {
    hints++;
  });
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      await remote.settings.publish(`owner ${String(i)}`, {}, Number.MAX_SAFE_INTEGER);
      answers++;
      t.ok(hints >= answers);
    }),
  );
});

void t.test('preserves error classes and messages', async (t) => {
  const store = await openControlStore(t);
  const remote = await over(t, store);
  await bootstrap(remote);
  await t.rejects(remote.accounts.createUser(aUser({ email: USER.email })), {
    name: 'ConflictError',
    field: 'email',
  });
  await t.rejects(remote.events.read('nonsense', { events: 1, bytes: 1000 }), { name: 'RangeError' });
  await store.close();
  await t.rejects(remote.accounts.listUsers(), {
    name: 'ConsumeError',
    code: 'storage_unavailable',
    retryable: true,
  });
});

void t.test('transfers identity, directory and sets', async (t) => {
  const directory = testFolder(t);
  const store = await openControlStore(t, { directory });
  const remote = await over(t, store);
  t.equal(remote.directory, directory);
  t.equal(await remote.identity(), await store.identity());
  await remote.events.want('a', ['*'], Number.MAX_SAFE_INTEGER);
  t.strictSame(await remote.events.wanted(0), new Set(['*']));
});

void t.test('a closed port rejects pending calls and receives no hints', async (t) => {
  const store = await openControlStore(t);
  const { port1, port2 } = new MessageChannel();
  serveControl(store, port1);
  const remote = await connectControl(port2);
  let hints = 0;
  remote.watch.watch('terms', () => {
    hints++;
  });
  const waiting = remote.accounts.listUsers();
  remote.close();
  await t.rejects(waiting, { name: 'ConsumeError', code: 'storage_unavailable' });
  await t.rejects(remote.identity(), { name: 'ConsumeError', code: 'storage_unavailable' });
  await store.settings.publish('a', {}, 1);
  t.equal(hints, 0);
});

void t.test('an intake that fails to start closes its port', async (t) => {
  const store = await openControlStore(t);
  const remote = await over(t, store);
  remote.close();
  await t.rejects(remote.identity());
  const { port1, port2 } = new MessageChannel();
  const source = Object.assign(new ListedFacts(), { connectFacts: () => Promise.resolve(port2) });
  let isClosed = false;
  port1.once('close', () => (isClosed = true));
  await t.rejects(remote.takeFacts(source, new RecordedIntake()), { code: 'storage_unavailable' });
  await until('the port is closed', () => isClosed);
});

void t.test('a closed port stops its intakes', async (t) => {
  const store = await openControlStore(t);
  const remote = await over(t, store);
  const facts = new ListedFacts();
  await remote.takeFacts(facts, new RecordedIntake());
  await until('the store waits for facts', () => facts.waiting === 1);
  remote.close();
  await until('the wait ends', () => facts.waiting === 0);
});
