import { MessageChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { ControlStore } from '../../../src/storage/contracts/control-store.js';
import { connectControl, type ConnectedControl } from '../../../src/storage/control/control-client.js';
import { serveControl } from '../../../src/storage/control/serve-control.js';
import { openControlPlane } from '../../support/control-plane.js';
import { KeptNews, ListedFacts } from '../../support/listed-facts.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';
import { anEndpoint, aKey, anOrganization, aUser } from '../duckdb/meta-records.js';

const USER = aUser();
const ORGANIZATION = anOrganization('ours');
const ENDPOINT = anEndpoint();

async function bootstrap({ accounts }: ControlStore): Promise<void> {
  await accounts.bootstrap({ user: USER, organization: ORGANIZATION, key: aKey(USER) });
}

/** Another plane over the same store, over a port. */
async function over(t: Test, plane: ControlStore): Promise<ConnectedControl> {
  const { port1, port2 } = new MessageChannel();
  serveControl(plane, port1);
  const remote = await connectControl(port2);
  t.teardown(() => {
    remote.close();
  });
  return remote;
}

void t.test('watchers have been called when a call that changed something is answered', async (t) => {
  const store = await openControlPlane(t);
  const [remote, other] = [await over(t, store), await over(t, store)];
  const heard: string[] = [];
  remote.watch.watch('keys', () => heard.push('keys'));
  const end = remote.watch.watch('endpoints', () => heard.push('endpoints'));
  remote.watch.watch('endpoints', () => heard.push('endpoints again'));
  other.watch.watch('endpoints', () => heard.push('other'));
  await bootstrap(remote);
  t.ok(heard.includes('keys'));

  heard.length = 0;
  await remote.endpoints.create(ORGANIZATION.slug, ENDPOINT);
  t.ok(heard.includes('endpoints'));
  t.ok(heard.includes('endpoints again'));
  await until('the other has heard of it, too', () => heard.includes('other'));

  end();
  heard.length = 0;
  await remote.endpoints.delete(ORGANIZATION.slug, ENDPOINT.id);
  t.ok(heard.includes('endpoints again'));
  t.notOk(heard.includes('endpoints'), 'who has ended it hears no more');
});

void t.test('of many changes at the same time, each answer comes behind its hint', async (t) => {
  const remote = await over(t, await openControlPlane(t));
  await bootstrap(remote);
  let hints = 0;
  let answers = 0;
  remote.watch.watch('terms', () => {
    hints++;
  });
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      await remote.terms.publish(`owner ${String(i)}`, {}, Number.MAX_SAFE_INTEGER);
      answers++;
      t.ok(hints >= answers);
    }),
  );
});

void t.test('errors keep their classes, and what they say', async (t) => {
  const store = await openControlPlane(t);
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

void t.test('identity, folder and sets come over, too', async (t) => {
  const directory = testFolder(t);
  const store = await openControlPlane(t, { directory });
  const remote = await over(t, store);
  t.equal(remote.directory, directory);
  t.equal(await remote.identity(), await store.identity());
  await remote.events.want('a', ['*'], Number.MAX_SAFE_INTEGER);
  t.strictSame(await remote.events.wanted(0), new Set(['*']));
});

void t.test('a port that is closed fails what waits for it, and hears no more', async (t) => {
  const store = await openControlPlane(t);
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
  await store.terms.publish('a', {}, 1);
  t.equal(hints, 0);
});

void t.test('an intake that cannot begin gives its port back', async (t) => {
  const store = await openControlPlane(t);
  const remote = await over(t, store);
  remote.close();
  await t.rejects(remote.identity());
  const { port1, port2 } = new MessageChannel();
  const source = Object.assign(new ListedFacts(), { connectFacts: () => Promise.resolve(port2) });
  let isClosed = false;
  port1.once('close', () => (isClosed = true));
  await t.rejects(remote.takeFacts(source, new KeptNews()), { code: 'storage_unavailable' });
  await until('the port is closed', () => isClosed);
});

void t.test('a port that is closed ends its intakes', async (t) => {
  const store = await openControlPlane(t);
  const remote = await over(t, store);
  const facts = new ListedFacts();
  await remote.takeFacts(facts, new KeptNews());
  await until('the store waits for facts', () => facts.waiting === 1);
  remote.close();
  await until('it waits no longer', () => facts.waiting === 0);
});
