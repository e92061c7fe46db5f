import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { User } from '../../src/storage/contracts/accounts.js';
import { anOrganization, aUser } from '../storage/duckdb/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const SLUG_TAKEN = { name: 'ConflictError', field: 'slug' };

function memberOf({ id, email, name }: User, role: string) {
  return { user_id: id, email, name, role };
}

function checkOrganizations(t: Test, open: OpenControl): void {
  void t.test('stores organizations unchanged, with slugs unique regardless of case', async (t) => {
    const opened = await open(t);
    const { organizations } = opened.store;
    const made = [
      anOrganization('beta'),
      anOrganization('alpha', { created_at: NOON + 1 }),
      ...ODD_TEXTS.map((name, i) => anOrganization(`o${String(i)}`, { name, created_at: NOON + 2 + i })),
    ];
    t.same(await organizations.list(), []);
    for (const organization of made) await organizations.create(organization);
    await t.rejects(organizations.create(anOrganization('Beta')), SLUG_TAKEN);
    t.strictSame(await organizations.list(), made);
    t.strictSame(await (await opened.reopen()).organizations.list(), made);
  });

  void t.test('members are added, change roles and are removed', async (t) => {
    const opened = await open(t);
    const { organizations, accounts } = opened.store;
    const [one, two] = [aUser({ email: 'B@example.org' }), aUser({ email: 'c@example.org' })];
    const three = aUser({ email: 'a@example.org' });
    for (const user of [one, two, three]) await accounts.createUser(user);
    for (const slug of ['beta', 'alpha']) await organizations.create(anOrganization(slug));

    t.equal(await organizations.putMember('beta', one.id, 'member'), 'member');
    t.equal(await organizations.putMember('beta', one.id, 'admin'), 'admin', 'the role changes');
    t.equal(await organizations.putMember('alpha', one.id.toUpperCase(), 'member'), 'member');
    t.equal(await organizations.putMember('beta', two.id, 'member'), 'member');
    t.equal(await organizations.putMember('gamma', one.id, 'member'), null);
    t.equal(await organizations.putMember('beta', randomUUID(), 'member'), null);
    const ofOne = [
      { slug: 'alpha', organization_name: 'the alpha', role: 'member' },
      { slug: 'beta', organization_name: 'the beta', role: 'admin' },
    ];
    t.strictSame(await organizations.membershipsOf(one.id.toUpperCase()), ofOne);
    t.equal(await organizations.removeMember('beta', two.id.toUpperCase()), true);
    t.equal(await organizations.removeMember('beta', two.id), false);
    t.equal(await organizations.removeMember('gamma', one.id), false);
    t.same(await organizations.membershipsOf(two.id), []);
    t.equal(await organizations.putMember('beta', two.id, 'admin'), 'admin', 'the role changes');
    t.equal(await organizations.putMember('beta', two.id), 'admin', 'without a role it stays unchanged');
    t.equal(await organizations.putMember('beta', three.id), 'member', 'a new one becomes a member');

    const again = (await opened.reopen()).organizations;
    t.strictSame(await again.listMembers('beta'), [
      memberOf(three, 'member'),
      memberOf(one, 'admin'),
      memberOf(two, 'admin'),
    ]);
    t.strictSame(await again.listMembers('alpha'), [memberOf(one, 'member')]);
    t.equal(await again.listMembers('gamma'), null);
    t.strictSame(await again.membershipsOf(one.id), ofOne);
    t.same(await again.membershipsOf(randomUUID()), []);
  });

  void t.test('of concurrent organizations with one slug, one is created', async (t) => {
    const opened = await open(t);
    const stores = [opened.store.organizations, (await opened.another()).organizations];
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, async (_, i) => stores[i % 2]?.create(anOrganization('same'))),
    );
    t.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const one of made) if (one.status === 'rejected') t.match(one.reason, SLUG_TAKEN);
    t.equal((await opened.store.organizations.list()).length, 1);
  });

  void t.test('concurrent additions create one membership', async (t) => {
    const opened = await open(t);
    const stores = [opened.store.organizations, (await opened.another()).organizations];
    const user = aUser();
    await opened.store.accounts.createUser(user);
    await opened.store.organizations.create(anOrganization('one'));
    const given = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => stores[i % 2]?.putMember('one', user.id)),
    );
    t.same(new Set(given), new Set(['member']));
    t.equal((await opened.store.organizations.listMembers('one'))?.length, 1);
  });
}

await onEveryControl(t, checkOrganizations);
