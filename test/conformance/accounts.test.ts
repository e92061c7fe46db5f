import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { StoredUser, User } from '../../src/storage/contracts/accounts.js';
import { aKey, anOrganization, aUser } from '../storage/duckdb/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const EMAIL_TAKEN = { name: 'ConflictError', field: 'email' };

function stored(user: User, tenant: number): StoredUser {
  return { ...user, tenant };
}

function checkAccounts(t: Test, open: OpenControl): void {
  void t.test('stores users unchanged and lists them in creation order', async (t) => {
    const opened = await open(t);
    const { accounts } = opened.store;
    const users = [
      aUser({ created_at: NOON - 1, monthly_event_limit: 0 }),
      aUser(),
      aUser({ created_at: NOON + 1, monthly_event_limit: 2 ** 40, disabled: true }),
      ...ODD_TEXTS.map((name, i) => aUser({ created_at: NOON + 2 + i, name })),
    ];
    t.same(await accounts.listUsers(), []);
    for (const user of users) await accounts.createUser(user);
    const expected = users.map((user, i) => stored(user, i + 1));
    t.strictSame(await accounts.listUsers(), expected);
    const again = (await opened.reopen()).accounts;
    t.strictSame(await again.listUsers(), expected);
    t.strictSame(await again.findUser(users[1]?.id.toUpperCase() ?? ''), expected[1]);
    t.equal(await again.findUser(randomUUID()), null);
  });

  void t.test('assigns tenant numbers only once, across refusals and restarts', async (t) => {
    const opened = await open(t);
    const [one, two] = [aUser(), aUser()];
    t.equal(await opened.store.accounts.createUser(one), 1);
    await t.rejects(opened.store.accounts.createUser(aUser({ email: one.email })), EMAIL_TAKEN);
    const { accounts } = await opened.reopen();
    const tenant = await accounts.createUser(two);
    t.ok(tenant > 1);
    t.match(await accounts.findUser(two.id), { tenant });
  });

  void t.test('finds any number of users by tenant number', async (t) => {
    const { accounts } = (await open(t)).store;
    const users = [aUser(), aUser({ disabled: true }), aUser()];
    for (const user of users) await accounts.createUser(user);
    t.same(await accounts.findTenants([]), new Map());
    t.same(
      await accounts.findTenants([3, 1, 99, 1]),
      new Map([
        [1, users[0]?.id],
        [3, users[2]?.id],
      ]),
    );
    const many = Array.from({ length: 40_000 }, (_, i) => 40_000 - i);
    t.same(await accounts.findTenants(many), new Map(users.map(({ id }, i) => [i + 1, id])));
  });

  void t.test('e-mail addresses are unique regardless of case', async (t) => {
    const { accounts } = (await open(t)).store;
    const [one, two] = [aUser({ email: 'Öne@example.org' }), aUser({ email: 'two@example.org' })];
    await accounts.createUser(one);
    await accounts.createUser(two);
    const before = await accounts.listUsers();
    await t.rejects(accounts.createUser(aUser({ email: 'öne@EXAMPLE.org' })), EMAIL_TAKEN);
    await t.rejects(accounts.updateUser(two.id, { name: 'x', email: 'ÖNE@example.org' }), EMAIL_TAKEN);
    t.strictSame(await accounts.listUsers(), before, 'nothing was changed');
  });

  void t.test('updates only the named fields of a user', async (t) => {
    const opened = await open(t);
    const { accounts } = opened.store;
    const user = aUser();
    await accounts.createUser(user);
    let expected = stored(user, 1);
    for (const change of [
      { name: 'another' },
      { monthly_event_limit: 5 },
      { email: user.email },
      { email: user.email.toUpperCase() },
      { email: 'new@example.org', name: 'new', monthly_event_limit: 6 },
      { email: 'newer@example.org', name: 'newer', monthly_event_limit: null },
      { monthly_event_limit: 0 },
      { disabled: true },
      { disabled: false },
      {},
    ]) {
      expected = { ...expected, ...change };
      t.strictSame(await accounts.updateUser(user.id.toUpperCase(), change), expected);
      t.strictSame(await accounts.listUsers(), [expected]);
    }
    const again = (await opened.reopen()).accounts;
    t.strictSame(await again.listUsers(), [expected]);
    await again.createUser(aUser({ email: user.email }));
    t.equal(await again.updateUser(randomUUID(), { name: 'x' }), null);
  });

  void t.test('keys are stored, found by digest, revoked once and touched', async (t) => {
    const opened = await open(t);
    const { accounts } = opened.store;
    const [user, other] = [aUser(), aUser()];
    await accounts.createUser(user);
    await accounts.createUser(other);
    const first = aKey(user, { name: ODD_TEXTS[2] ?? '' });
    const second = aKey(other, { scopes: ['admin'], expires_at: NOON + 5, created_at: NOON + 1 });
    for (const key of [first, second]) t.ok(await accounts.createKey(key));
    t.notOk(await accounts.createKey(aKey(aUser())), 'of nobody');
    t.strictSame(await accounts.listKeys(), [first, second]);
    t.strictSame(await accounts.listKeys(other.id.toUpperCase()), [second]);
    t.strictSame(await accounts.listKeys(randomUUID()), []);
    t.strictSame(await accounts.findKey(first.digest), { key: first, user: stored(user, 1) });
    t.equal(await accounts.findKey('0'.repeat(64)), null);

    t.strictSame(await accounts.revokeKey(first.id.toUpperCase(), NOON + 10), [first.id]);
    t.strictSame(await accounts.revokeKey(first.id, NOON + 20), [], 'unchanged after a repeat');
    t.equal(await accounts.revokeKey(randomUUID(), NOON), 'unknown');
    await accounts.touchKeys([]);
    await accounts.touchKeys([
      { id: second.id, at: NOON + 30 },
      { id: randomUUID(), at: NOON + 30 },
    ]);
    await accounts.touchKeys([{ id: second.id, at: NOON + 40 }]);
    await accounts.touchKeys([{ id: second.id, at: NOON + 35 }]);
    const expected = [
      { ...first, revoked_at: NOON + 10 },
      { ...second, last_used_at: NOON + 40 },
    ];
    t.strictSame(await accounts.listKeys(), expected);
    const again = (await opened.reopen()).accounts;
    t.strictSame(await again.listKeys(), expected);
    await again.updateUser(user.id, { disabled: true });
    t.match(await again.findKey(first.digest), { key: { revoked_at: NOON + 10 }, user: { disabled: true } });
  });

  void t.test('removes ended keys after 90 days, and those beyond 100 per user after one', async (t) => {
    const opened = await open(t);
    const { accounts, logins } = opened.store;
    const DAY = 86_400_000_000;
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await accounts.createUser(each);
    const expired = aKey(other, { created_at: NOON, expires_at: NOON + DAY });
    const lasting = aKey(user, { created_at: NOON });
    for (const key of [expired, lasting]) await accounts.createKey(key);
    const revoked = Array.from({ length: 120 }, () => aKey(user, { created_at: NOON }));
    for (const [i, key] of revoked.entries()) {
      await accounts.createKey(key);
      await accounts.revokeKey(key.id, NOON + i);
    }
    const idsOf = async (userId: string) => (await accounts.listKeys(userId)).map(({ id }) => id).sort();
    t.equal((await idsOf(user.id)).length, 121, 'other keys have not been followed for a day yet');
    const first = revoked[0]?.id ?? '';
    const login = { id: randomUUID(), digest: 'd', user_id: user.id, key_id: first };
    const seen = { last_seen_at: NOON, address: null, user_agent: null };
    await logins.create({ ...login, ...seen, created_at: NOON, expires_at: NOON + 200 * DAY });
    const late = aKey(user, { created_at: NOON + 2 * DAY });
    await accounts.createKey(late);
    const kept = revoked.slice(20).map(({ id }) => id);
    t.strictSame(await idsOf(user.id), [lasting.id, late.id, ...kept].sort());
    t.strictSame(await idsOf(other.id), [expired.id]);
    await accounts.revokeKey(late.id, NOON + 91 * DAY);
    t.strictSame(await idsOf(user.id), [lasting.id, late.id].sort());
    t.strictSame(await idsOf(other.id), [], 'also those of other users');
  });

  void t.test('followers of keys receive only changed keys', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store.accounts, (await opened.another()).accounts];
    const empty = await there.followKeys(null);
    t.match(empty, { keys: [], hasMore: false });
    t.match(await there.followKeys(empty.version), { keys: [], hasMore: false });
    const [user, other] = [aUser(), aUser({ disabled: true })];
    await here.createUser(user);
    await here.createUser(other);
    const keys = [
      aKey(user, { scopes: ['admin'] }),
      aKey(user, { expires_at: NOON + 5 }),
      aKey(other, { revoked_at: NOON }),
    ];
    for (const key of keys) await here.createKey(key);
    const [first, second, third] = keys.map(({ id, user_id, digest, scopes, expires_at, revoked_at }) => ({
      ...{ id, user_id, digest, scopes, expires_at, revoked_at },
      user_disabled: user_id === other.id,
    }));
    const all = await there.followKeys(empty.version);
    t.strictSame(all.keys, [first, second, third]);
    t.strictSame((await there.followKeys(null)).keys, all.keys);

    await here.touchKeys([{ id: keys[0]?.id ?? '', at: NOON }]);
    await here.updateUser(user.id, { name: 'x', email: 'x@example.org' });
    t.same((await there.followKeys(all.version)).keys, [], 'irrelevant changes are not reported');
    await here.revokeKey(second?.id ?? '', NOON + 1);
    await here.updateUser(other.id, { disabled: false });
    const changes = await (await opened.reopen()).accounts.followKeys(all.version);
    t.strictSame(changes.keys, [
      { ...second, revoked_at: NOON + 1 },
      { ...third, user_disabled: false },
    ]);
    t.notOk(changes.hasMore);
  });

  void t.test('follows hundreds of keys of one user in pages, each once', async (t) => {
    const opened = await open(t);
    const { accounts } = opened.store;
    const user = aUser();
    await accounts.createUser(user);
    const keys = Array.from({ length: 600 }, () => aKey(user));
    for (const key of keys) await accounts.createKey(key);
    const follow = async (since: string | null): Promise<{ parts: string[][]; version: string }> => {
      const parts: string[][] = [];
      for (let version = since; ;) {
        const changes = await accounts.followKeys(version);
        parts.push(changes.keys.map(({ id }) => id));
        if (!changes.hasMore) return { parts, version: changes.version };
        version = changes.version;
      }
    };
    const { parts, version } = await follow(null);
    t.same(
      parts.flat(),
      keys.map(({ id }) => id),
    );
    t.equal(parts.length, 2);
    await accounts.updateUser(user.id, { disabled: true });
    const again = (await follow(version)).parts;
    t.equal(again.length, 2, 'one change number covers all of them');
    t.same(again.flat(), keys.map(({ id }) => id).sort());
    await t.rejects(accounts.followKeys('first'), RangeError);
  });

  void t.test('keeps the last permanent administrator from being revoked or disabled', async (t) => {
    const opened = await open(t);
    const { accounts } = opened.store;
    const [ann, ben] = [aUser(), aUser({ disabled: true })];
    await accounts.createUser(ann);
    await accounts.createUser(ben);
    const admin = aKey(ann, { scopes: ['read', 'admin'] });
    const others = [
      aKey(ann, { scopes: ['admin'], expires_at: NOON * 2 }),
      aKey(ann, { scopes: ['admin'], revoked_at: NOON }),
      aKey(ann, { scopes: ['write', 'read', 'manage'] }),
      aKey(ben, { scopes: ['admin'] }),
    ];
    for (const key of [admin, ...others]) await accounts.createKey(key);
    t.equal(await accounts.revokeKey(admin.id, NOON), 'last_admin');
    t.equal(await accounts.updateUser(ann.id, { name: 'x', disabled: true }), 'last_admin');
    t.match(await accounts.findKey(admin.digest), { key: { revoked_at: null } });
    t.strictSame(await accounts.findUser(ann.id), stored(ann, 1), 'nothing was changed');

    for (const key of others.slice(0, 3)) t.ok(Array.isArray(await accounts.revokeKey(key.id, NOON)));
    t.match(await accounts.updateUser(ben.id, { disabled: false }), { disabled: false });
    t.strictSame(
      await accounts.revokeKey(admin.id, NOON),
      [admin.id],
      'with a second administrator it can be removed',
    );
    t.equal(await accounts.updateUser(ben.id, { disabled: true }), 'last_admin');
    t.match(await accounts.updateUser(ann.id, { disabled: true }), { disabled: true });
    const users = await (await opened.reopen()).accounts.listUsers();
    t.same(
      users.filter(({ disabled }) => disabled).map(({ id }) => id),
      [ann.id],
    );
  });

  void t.test('revokes a key alone or with its descendants', async (t) => {
    const { accounts } = (await open(t)).store;
    const [ann, ben] = [aUser(), aUser()];
    await accounts.createUser(ann);
    await accounts.createUser(ben);
    const root = aKey(ann);
    const child = aKey(ann, { parent_id: root.id });
    const grandchild = aKey(ben, { parent_id: child.id });
    const dead = aKey(ann, { parent_id: root.id, revoked_at: NOON });
    const orphan = aKey(ann, { parent_id: dead.id });
    const other = aKey(ann, { parent_id: randomUUID() });
    const admin = aKey(ann, { scopes: ['admin'], parent_id: other.id });
    for (const key of [root, child, grandchild, other, admin, dead]) t.ok(await accounts.createKey(key));
    t.notOk(await accounts.createKey(orphan), 'a revoked key makes none');
    t.strictSame(await accounts.revokeKey(child.id, NOON + 1), [child.id], 'only this key');
    t.strictSame(
      [...((await accounts.revokeKey(root.id.toUpperCase(), NOON + 2, true)) as readonly string[])].sort(),
      [root.id, grandchild.id].sort(),
      'also below a key revoked earlier',
    );
    t.equal(await accounts.revokeKey(other.id, NOON, true), 'last_admin');
    const revoked = (await accounts.listKeys()).filter((key) => key.revoked_at !== null);
    t.strictSame(
      new Map(revoked.map((key) => [key.id, key.revoked_at])),
      new Map(
        (await accounts.listKeys()).flatMap(({ id }) => {
          const at = {
            [dead.id]: NOON,
            [child.id]: NOON + 1,
            [root.id]: NOON + 2,
            [grandchild.id]: NOON + 2,
          }[id];
          return at === undefined ? [] : [[id, at] as const];
        }),
      ),
    );
    t.match(await accounts.findKey(grandchild.digest), { key: { parent_id: child.id } });
  });

  void t.test('concurrent changes leave one administrator', async (t) => {
    const opened = await open(t);
    const stores = [opened.store.accounts, (await opened.another()).accounts] as const;
    for (let round = 0; round < 5; round++) {
      const users = [aUser(), aUser(), aUser(), aUser()];
      const keys = users.map((user) => aKey(user, { scopes: ['admin'] }));
      for (const user of users) await stores[0].createUser(user);
      for (const key of keys) await stores[0].createKey(key);
      const before = (await lasting()).filter((id) => !keys.some((key) => key.id === id));
      for (const id of before) await stores[0].revokeKey(id, NOON);
      const done = await Promise.all([
        stores[0].revokeKey(keys[0]?.id ?? '', NOON),
        stores[1].revokeKey(keys[1]?.id ?? '', NOON),
        stores[0].updateUser(users[2]?.id ?? '', { disabled: true }),
        stores[1].updateUser(users[3]?.id ?? '', { disabled: true }),
      ]);
      t.equal(done.filter((outcome) => outcome === 'last_admin').length, 1);
      t.equal((await lasting()).length, 1);
    }

    async function lasting(): Promise<readonly string[]> {
      const disabled = (await stores[1].listUsers()).filter((user) => user.disabled).map(({ id }) => id);
      const keys = await stores[1].listKeys();
      return keys.flatMap((key) =>
        key.revoked_at === null && !disabled.includes(key.user_id) ? [key.id] : [],
      );
    }
  });

  void t.test('concurrent requests create the first user once', async (t) => {
    const opened = await open(t);
    const stores = [opened.store, await opened.another()];
    const first = () => {
      const user = aUser({ email: 'admin@localhost' });
      return { user, organization: anOrganization('default'), key: aKey(user) };
    };
    const asked = Array.from({ length: 6 }, first);
    const done = await Promise.all(
      asked.map(async (one, i) => (await stores[i % 2]?.accounts.bootstrap(one)) ?? false),
    );
    t.equal(done.filter(Boolean).length, 1);
    const winner = asked[done.indexOf(true)] ?? first();
    const store = await opened.reopen();
    t.strictSame(await store.accounts.listUsers(), [stored(winner.user, 1)]);
    t.strictSame(await store.accounts.listKeys(), [winner.key]);
    t.strictSame(await store.organizations.list(), [winner.organization]);
    t.match(await store.organizations.membershipsOf(winner.user.id), [{ slug: 'default', role: 'admin' }]);
    t.equal(await store.accounts.bootstrap(first()), false);
  });

  void t.test('of concurrent users with one e-mail address, one is created', async (t) => {
    const opened = await open(t);
    const stores = [opened.store.accounts, (await opened.another()).accounts];
    const atOnce = async (make: (i: number) => User): Promise<number> => {
      const made = await Promise.allSettled(
        Array.from({ length: 10 }, async (_, i) => stores[i % 2]?.createUser(make(i))),
      );
      for (const one of made) if (one.status === 'rejected') t.match(one.reason, EMAIL_TAKEN);
      return made.filter(({ status }) => status === 'fulfilled').length;
    };
    t.equal(await atOnce(() => aUser({ email: 'same@example.org' })), 1);
    t.equal(await atOnce(() => aUser()), 10);
    const users = await opened.store.accounts.listUsers();
    t.equal(new Set(users.map(({ tenant }) => tenant)).size, 11);

    const renamed = await Promise.allSettled(
      users.map(async (user, i) => stores[i % 2]?.updateUser(user.id, { email: 'wanted@example.org' })),
    );
    t.equal(renamed.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  void t.test('notifies key watchers of changes by any process', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    let notifications = 0;
    const end = there.watch.watch('keys', () => {
      notifications++;
    });
    const user = aUser();
    const [key, admin] = [aKey(user), aKey(user, { scopes: ['admin'] })];
    const notifies = async (what: string, change: () => Promise<unknown>): Promise<void> => {
      notifications = 0;
      await change();
      await until(what, () => notifications > 0);
    };
    await notifies('the first', () =>
      here.accounts.bootstrap({ user, organization: anOrganization('default'), key: admin }),
    );
    await notifies('a new key', () => here.accounts.createKey(key));
    await notifies('a revoked key', () => here.accounts.revokeKey(key.id, NOON));
    const other = aUser();
    await here.accounts.createUser(other);
    await notifies('a disabled user', () => here.accounts.updateUser(other.id, { disabled: true }));
    let inOwn = 0;
    here.watch.watch('keys', () => {
      inOwn++;
    });
    notifications = 0;
    t.equal(await here.accounts.revokeKey(admin.id, NOON), 'last_admin');
    t.equal(await here.accounts.revokeKey(randomUUID(), NOON), 'unknown');
    await here.accounts.touchKeys([{ id: key.id, at: NOON }]);
    end();
    await here.accounts.createKey(aKey(user));
    t.equal(inOwn, 1, 'notified in the same process before the change resolves, and not without a change');
    t.equal(notifications, 0);
  });
}

await onEveryControl(t, checkAccounts);
