import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Endpoints } from '../../src/storage/contracts/deliveries.js';
import { anEndpoint, anOrganization } from '../storage/duckdb/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { withoutSecret } from '../support/stored-endpoint.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

function checkEndpoints(t: Test, open: OpenControl): void {
  void t.test('stores endpoints unchanged and lists the newest first', async (t) => {
    const opened = await open(t);
    const { endpoints, organizations } = opened.store;
    for (const slug of ['one', 'two']) await organizations.create(anOrganization(slug));
    const made = [
      anEndpoint({ created_at: NOON - 1, event_types: ['*'], name: '' }),
      ...ODD_TEXTS.map((name, i) => anEndpoint({ created_at: NOON + i, name })),
      anEndpoint({ created_at: NOON + 1000, is_active: false, consecutive_failures: 2 ** 40 }),
    ];
    const foreign = anEndpoint({ created_at: NOON + 2000 });
    for (const endpoint of made) t.equal(await endpoints.create('one', endpoint, made.length), 'created');
    t.equal(await endpoints.create('one', anEndpoint(), made.length), 'full');
    t.equal(await endpoints.create('two', foreign, 1), 'created');
    t.equal(await endpoints.create('three', anEndpoint()), 'unknown');
    const [first] = made;
    const check = async (store: Endpoints): Promise<void> => {
      t.strictSame(await store.list('one'), made.toReversed().map(withoutSecret));
      t.strictSame(await store.list('two'), [withoutSecret(foreign)]);
      t.strictSame(await store.list('three'), []);
      t.strictSame(await store.listAll(), [...made, foreign]);
      t.strictSame(await store.find(first?.id.toUpperCase() ?? ''), first);
      t.equal(await store.find(randomUUID()), null);
    };
    await check(endpoints);
    await check((await opened.reopen()).endpoints);
  });

  void t.test('updates only the named fields of an endpoint, and deletes it permanently', async (t) => {
    const opened = await open(t);
    const { endpoints, organizations } = opened.store;
    for (const slug of ['one', 'two']) await organizations.create(anOrganization(slug));
    const endpoint = anEndpoint({ consecutive_failures: 7 });
    const other = anEndpoint();
    const { id } = endpoint;
    for (const each of [endpoint, other]) await endpoints.create('one', each);
    let expected = endpoint;
    for (const change of [
      {},
      { name: 'another' },
      { is_active: false },
      { url: 'https://example.org/', event_types: ['a', 'b.c'] },
      { name: '', url: 'https://example.net/', event_types: ['*'], is_active: false },
    ]) {
      expected = { ...expected, ...change };
      t.strictSame(await endpoints.update('one', id.toUpperCase(), change, NOON), withoutSecret(expected));
      t.strictSame(await endpoints.find(id), expected);
    }
    expected = { ...expected, is_active: true, consecutive_failures: 0 };
    t.strictSame(await endpoints.update('one', id, { is_active: true }, NOON), withoutSecret(expected));
    t.ok(await endpoints.rotateSecret('one', id, 'v1:another'));
    expected = { ...expected, sealed_secret: 'v1:another' };
    for (const [slug, unknown] of [
      ['two', id],
      ['three', id],
      ['one', randomUUID()],
    ] as const) {
      t.equal(await endpoints.update(slug, unknown, { name: 'x', is_active: true }, NOON), null);
      t.equal(await endpoints.rotateSecret(slug, unknown, 'v1:x'), false);
      t.equal(await endpoints.delete(slug, unknown), false);
    }
    const reopened = (await opened.reopen()).endpoints;
    t.strictSame(await reopened.find(id), expected);
    t.strictSame(await reopened.find(other.id), other, 'other endpoints are unaffected');
    t.ok(await reopened.delete('one', id));
    t.notOk(await reopened.delete('one', id));
    t.strictSame(await reopened.listAll(), [other]);
  });

  void t.test('concurrent requests do not exceed the limit of an organization', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    await here.organizations.create(anOrganization('one'));
    let notifications = 0;
    there.watch.watch('endpoints', () => {
      notifications++;
    });
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? here : there).endpoints.create('one', anEndpoint(), 3),
      ),
    );
    t.equal(made.filter((outcome) => outcome === 'created').length, 3);
    t.equal((await here.endpoints.list('one')).length, 3);
    notifications = 0;
    const [endpoint] = await here.endpoints.list('one');
    await here.endpoints.delete('one', endpoint?.id ?? '');
    await until('a change is notified', () => notifications > 0);
  });
}

await onEveryControl(t, checkEndpoints);
