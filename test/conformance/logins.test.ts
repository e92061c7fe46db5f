import { randomUUID } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import {
  LINKS_OF_A_USER,
  type Login,
  LOGIN_IDLE,
  LOGIN_LONGEST,
  type LoginLink,
  LOGINS_OF_A_USER,
} from '../../src/storage/contracts/accounts.js';
import { aKey, aUser } from '../storage/duckdb/meta-records.js';
import { NOON } from '../support/run-records.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

interface Owner {
  readonly user_id: string;
  readonly key_id: string;
}

async function anOwner({ accounts }: ControlStore): Promise<Owner> {
  const user = aUser();
  await accounts.createUser(user);
  const key = aKey(user);
  await accounts.createKey(key);
  return { user_id: user.id, key_id: key.id };
}

const digest = (): string => randomBytes(32).toString('hex');

function aLogin(owner: Owner, changes: Partial<Login> = {}): Login {
  return {
    id: randomUUID(),
    digest: digest(),
    ...owner,
    created_at: NOON,
    expires_at: NOON + 100,
    last_seen_at: NOON,
    address: '192.0.2.7',
    user_agent: null,
    ...changes,
  };
}

function aLink(owner: Owner, changes: Partial<LoginLink> = {}): LoginLink {
  return { digest: digest(), ...owner, expires_at: NOON + 100, ...changes };
}

/** Everything a follower from the start knows. */
async function known({ logins }: ControlStore): Promise<ReadonlyMap<string, readonly [number, boolean]>> {
  const all = new Map<string, readonly [number, boolean]>();
  let version: string | null = null;
  for (let hasMore = true; hasMore;) {
    const changes = await logins.follow(version);
    for (const { id, expires_at, has_ended } of changes.logins) all.set(id, [expires_at, has_ended]);
    ({ hasMore, version } = changes);
  }
  return all;
}

function checkLogins(t: Test, open: OpenControl): void {
  void t.test('logins start, extend and end, and followers receive the changes', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    const owner = await anOwner(here);
    let notifications = 0;
    there.watch.watch('logins', () => {
      notifications++;
    });
    const empty = await there.logins.follow(null);
    t.strictSame([empty.logins, empty.hasMore], [[], false]);
    const login = aLogin(owner);
    await here.logins.create(login);
    await until('the other process is notified', () => notifications > 0);
    const first = await there.logins.follow(empty.version);
    t.strictSame(first.logins, [{ ...login, has_ended: false }]);

    const used = { expires_at: NOON + 200 + LOGIN_IDLE, last_seen_at: NOON + 200 };
    await here.logins.extend([{ id: login.id, at: NOON + 200 }]);
    await here.logins.extend([
      { id: login.id, at: NOON + 150 },
      { id: randomUUID(), at: NOON + 150 },
    ]);
    await here.logins.extend([]);
    const second = await there.logins.follow(first.version);
    t.strictSame(second.logins, [{ ...login, ...used, has_ended: false }], 'the later use stays');
    t.strictSame(await there.logins.list(owner.user_id, NOON), [{ ...login, ...used }]);
    t.strictSame(await there.logins.list(owner.user_id, used.expires_at), [], 'expired');
    t.strictSame(await there.logins.list(randomUUID(), NOON), []);
    await there.logins.end([login.id, randomUUID()]);
    await there.logins.end([]);
    await there.logins.extend([{ id: login.id, at: NOON + 300 }]);
    const third = await here.logins.follow(second.version);
    t.strictSame(third.logins, [{ ...login, ...used, has_ended: true }]);
    t.strictSame((await here.logins.follow(third.version)).logins, []);
    t.strictSame(await here.logins.list(owner.user_id, NOON), [], 'ended');
    const again = await opened.reopen();
    t.strictSame([...(await known(again))], [[login.id, [used.expires_at, true]]]);
    const old = aLogin(owner, { created_at: NOON - LOGIN_LONGEST + 50 });
    await again.logins.create(old);
    await again.logins.extend([{ id: old.id, at: NOON + 10 }]);
    t.match(await again.logins.list(owner.user_id, NOON), [{ expires_at: NOON + 50 }], 'at most this long');
    await t.rejects(again.logins.follow('yesterday'), RangeError);
  });

  void t.test('limits logins per user, evicts the one that ends next and removes expired ones', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store);
    const other = aLogin(await anOwner(store), { expires_at: NOON + 1 });
    await store.logins.create(other);
    const all = Array.from({ length: LOGINS_OF_A_USER }, (_, index) =>
      aLogin(owner, { expires_at: NOON + 100 + index }),
    );
    for (const login of all) await store.logins.create(login);
    t.equal([...(await known(store)).values()].filter(([, ended]) => ended).length, 0);
    const more = aLogin(owner, { expires_at: NOON + 1000 });
    await store.logins.create(more);
    const now = await known(store);
    t.strictSame(
      [...now].filter(([, [, ended]]) => ended).map(([id]) => id),
      [all[0]?.id],
    );
    t.equal(now.size, LOGINS_OF_A_USER + 2, 'per user');
    const later = aLogin(owner, { created_at: NOON + 500, expires_at: NOON + 600 });
    await store.logins.create(later);
    t.strictSame([...(await known(store)).keys()].sort(), [more.id, later.id].sort());
  });

  void t.test('a link works once while valid; links per user are limited', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    const owner = await anOwner(here);
    const link = aLink(owner);
    await here.logins.createLink(link, NOON);
    t.strictSame(await there.logins.findLink(link.digest, NOON + 99), link, 'it is found without being used');
    t.equal(await there.logins.findLink(link.digest, NOON + 100), null);
    t.equal(await there.logins.findLink(digest(), NOON), null);
    const tries = await Promise.all(
      [here, there, here, there].map(({ logins }) => logins.redeemLink(link.digest, NOON + 99)),
    );
    t.strictSame(
      tries.filter((found) => found !== null),
      [link],
      'one of the concurrent attempts succeeds',
    );
    t.equal(await here.logins.redeemLink(digest(), NOON), null);
    const late = aLink(owner);
    await here.logins.createLink(late, NOON);
    t.equal(await there.logins.redeemLink(late.digest, NOON + 100), null, 'too late');

    const all = Array.from({ length: LINKS_OF_A_USER + 1 }, (_, index) =>
      aLink(owner, { expires_at: NOON + 200 + index }),
    );
    for (const link of all) await here.logins.createLink(link, NOON);
    const found = await Promise.all(all.map(({ digest }) => here.logins.redeemLink(digest, NOON)));
    t.strictSame(
      found.map((link) => link !== null),
      all.map((_, index) => index > 0),
    );
  });
}

await onEveryControl(t, checkLogins);
