import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { KeyChange, MetaStore, PromptPages, PromptVersion, User } from '../../src/storage/meta-store.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { withoutSecret } from '../support/stored-endpoint.js';
import { aKey, anEndpoint, anOrganization, aPrompt, aUser } from './meta-records.js';

/** A meta store to check, and a way to close and open it again. */
export interface OpenedMetaStore {
  readonly store: MetaStore;
  reopen(): Promise<MetaStore>;
}

/** What every implementation of {@link MetaStore} must do. @param open gives a new, empty store */
export function checkMetaStore(t: Test, open: (t: Test) => Promise<OpenedMetaStore>): void {
  void t.test('users are kept as they are, in the order of their making', async (t) => {
    const opened = await open(t);
    const users = [
      aUser({ created_at: NOON - 1, monthly_event_limit: 0 }),
      aUser(),
      aUser({ created_at: NOON + 1, monthly_event_limit: 2 ** 40 }),
    ];
    t.same(await opened.store.listUsers(), []);
    for (const user of users) await opened.store.createUser(user);
    t.strictSame(await opened.store.listUsers(), users);
    t.strictSame(await (await opened.reopen()).listUsers(), users);
  });

  void t.test('an e-mail address exists once, in any case', async (t) => {
    const { store } = await open(t);
    const [one, two] = [aUser({ email: 'One@example.org' }), aUser({ email: 'two@example.org' })];
    await store.createUser(one);
    await store.createUser(two);
    const conflict = { name: 'ConflictError', field: 'email' };
    await t.rejects(store.createUser(aUser({ email: 'one@EXAMPLE.org' })), conflict);
    await t.rejects(store.updateUser(two.id, { name: 'x', email: 'ONE@example.org' }), conflict);
    t.strictSame(await store.listUsers(), sorted([one, two]), 'nothing was changed');
  });

  void t.test('a user is changed in what is named, again and again', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const user = aUser();
    await store.createUser(user);
    await store.createKey(aKey(user));
    let expected = user;
    for (const change of [
      { name: 'another' },
      { monthly_event_limit: 5 },
      { email: user.email },
      { email: user.email.toUpperCase() },
      { email: 'new@example.org', name: 'new', monthly_event_limit: 6 },
      { email: 'newer@example.org', name: 'newer', monthly_event_limit: null },
      { monthly_event_limit: 0 },
      {},
    ]) {
      expected = { ...expected, ...change };
      t.strictSame(await store.updateUser(user.id, change), expected);
      t.strictSame(await store.listUsers(), [expected]);
    }
    const again = await opened.reopen();
    t.strictSame(await again.listUsers(), [expected]);
    await again.createUser(aUser({ email: user.email }));
    t.equal(await again.updateUser(randomUUID(), { name: 'x' }), null);
  });

  void t.test('keys are kept, revoked once, and touched', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const user = aUser();
    await store.createUser(user);
    const keys = [aKey(user), aKey(user, { scopes: ['admin'], expires_at: NOON + 5, created_at: NOON + 1 })];
    for (const key of keys) await store.createKey(key);
    t.strictSame(await store.listKeys(), keys);
    const [first, second] = keys;
    if (first === undefined || second === undefined) throw new Error('there are two');
    t.equal(await store.revokeKey(first.id, NOON + 10), 'revoked');
    t.equal(await store.revokeKey(first.id, NOON + 20), 'revoked', 'again');
    t.equal(await store.revokeKey(randomUUID(), NOON), 'unknown');
    await store.touchKeys([]);
    await store.touchKeys([
      { id: second.id, at: NOON + 30 },
      { id: randomUUID(), at: NOON + 30 },
    ]);
    await store.touchKeys([{ id: second.id, at: NOON + 40 }]);
    const expected = [
      { ...first, revoked_at: NOON + 10 },
      { ...second, last_used_at: NOON + 40 },
    ];
    t.strictSame(await store.listKeys(), expected);
    t.strictSame(await (await opened.reopen()).listKeys(), expected);
  });

  void t.test('who could administer last for good stays: neither revoked nor disabled', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const [ann, ben] = [aUser(), aUser({ disabled: true })];
    await store.createUser(ann);
    await store.createUser(ben);
    const told: KeyChange[] = [];
    store.watchKeys((change) => told.push(change));
    const admin = aKey(ann, { scopes: ['read', 'admin'] });
    const others = [
      aKey(ann, { scopes: ['admin'], expires_at: NOON * 2 }),
      aKey(ann, { scopes: ['admin'], revoked_at: NOON }),
      aKey(ann, { scopes: ['write', 'read', 'manage'] }),
      aKey(ben, { scopes: ['admin'] }),
    ];
    for (const key of [admin, ...others]) await store.createKey(key);
    told.length = 0;
    t.equal(await store.revokeKey(admin.id, NOON), 'last_admin');
    t.equal(await store.updateUser(ann.id, { name: 'x', disabled: true }), 'last_admin');
    t.equal((await store.listKeys()).find(({ id }) => id === admin.id)?.revoked_at, null);
    t.strictSame(
      (await store.listUsers()).find(({ id }) => id === ann.id),
      ann,
      'nothing was changed',
    );
    t.strictSame(told, [], 'nor told');

    for (const key of others.slice(0, 3)) t.equal(await store.revokeKey(key.id, NOON), 'revoked');
    t.strictSame(await store.updateUser(ben.id, { disabled: false }), { ...ben, disabled: false });
    t.equal(await store.revokeKey(admin.id, NOON), 'revoked', 'with a second one it may go');
    t.equal(await store.updateUser(ben.id, { disabled: true }), 'last_admin');
    t.strictSame(await store.updateUser(ann.id, { disabled: true }), { ...ann, disabled: true });
    t.match(
      told.filter(({ kind }) => kind === 'user'),
      [
        { userId: ben.id, isDisabled: false },
        { userId: ann.id, isDisabled: true },
      ],
    );
    const users = await (await opened.reopen()).listUsers();
    t.same(
      users.filter(({ disabled }) => disabled).map(({ id }) => id),
      [ann.id],
    );
  });

  void t.test('organizations and their members', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const [one, two] = [aUser(), aUser()];
    await store.createUser(one);
    await store.createUser(two);
    const organizations = [anOrganization('beta'), anOrganization('alpha', { created_at: NOON + 1 })];
    for (const organization of organizations) await store.createOrganization(organization);
    await t.rejects(store.createOrganization(anOrganization('Beta')), {
      name: 'ConflictError',
      field: 'slug',
    });
    t.strictSame(await store.listOrganizations(), organizations);

    t.equal(await store.putMember('beta', one.id, 'member'), 'member');
    t.equal(await store.putMember('beta', one.id, 'admin'), 'admin', 'the role changes');
    t.equal(await store.putMember('alpha', one.id, 'member'), 'member');
    t.equal(await store.putMember('beta', two.id, 'member'), 'member');
    t.equal(await store.putMember('gamma', one.id, 'member'), null);
    t.equal(await store.putMember('beta', randomUUID(), 'member'), null);
    const ofOne = [
      { slug: 'alpha', organization_name: 'the alpha', role: 'member' },
      { slug: 'beta', organization_name: 'the beta', role: 'admin' },
    ];
    t.strictSame(await store.membershipsOf(one.id), ofOne);
    t.equal(await store.removeMember('beta', two.id), true);
    t.equal(await store.removeMember('beta', two.id), false);
    t.equal(await store.removeMember('gamma', one.id), false);
    t.same(await store.membershipsOf(two.id), []);
    t.equal(await store.putMember('beta', two.id, 'admin'), 'admin', 'and again');
    t.equal(await store.putMember('beta', two.id), 'admin', 'without a role it stays as it is');
    const three = aUser({ email: `A${two.email}` });
    await store.createUser(three);
    t.equal(await store.putMember('alpha', three.id), 'member');
    const memberOf = ({ id, email, name }: User, role: string) => ({ user_id: id, email, name, role });
    t.strictSame(
      await store.listMembers('beta'),
      [memberOf(one, 'admin'), memberOf(two, 'admin')].sort((a, b) => (a.email < b.email ? -1 : 1)),
    );
    t.strictSame(
      await store.listMembers('alpha'),
      [memberOf(one, 'member'), memberOf(three, 'member')].sort((a, b) =>
        a.email.toLowerCase() < b.email.toLowerCase() ? -1 : 1,
      ),
    );
    t.equal(await store.listMembers('gamma'), null);
    const again = await opened.reopen();
    t.strictSame(await again.membershipsOf(one.id), ofOne);
    t.match(await again.membershipsOf(two.id), [{ role: 'admin' }]);
    t.same(await again.membershipsOf(randomUUID()), []);
  });

  void t.test('the first user is made once, whoever asks at the same time', async (t) => {
    const opened = await open(t);
    const first = () => {
      const user = aUser({ email: 'admin@localhost' });
      return { user, organization: anOrganization('default'), key: aKey(user) };
    };
    const asked = Array.from({ length: 5 }, first);
    const done = await Promise.all(asked.map((one) => opened.store.bootstrap(one)));
    t.equal(done.filter(Boolean).length, 1);
    const winner = asked[done.indexOf(true)];
    const store = await opened.reopen();
    t.strictSame(await store.listUsers(), [winner?.user]);
    t.strictSame(await store.listKeys(), [winner?.key]);
    t.strictSame(await store.listOrganizations(), [winner?.organization]);
    t.match(await store.membershipsOf(winner?.user.id ?? ''), [{ slug: 'default', role: 'admin' }]);
    t.equal(await store.bootstrap(first()), false);
  });

  void t.test('of many that want one name at the same time, one gets it', async (t) => {
    const { store } = await open(t);
    const users = await Promise.allSettled(
      Array.from({ length: 10 }, () => store.createUser(aUser({ email: 'same@example.org' }))),
    );
    t.equal(users.filter(({ status }) => status === 'fulfilled').length, 1);
    const organizations = await Promise.allSettled(
      Array.from({ length: 10 }, () => store.createOrganization(anOrganization('same'))),
    );
    t.equal(organizations.filter(({ status }) => status === 'fulfilled').length, 1);
    await Promise.all(Array.from({ length: 20 }, () => store.createUser(aUser())));
    t.equal((await store.listUsers()).length, 21);
  });

  void t.test('who watches the keys hears of each change before its maker does', async (t) => {
    const { store } = await open(t);
    const heard: KeyChange[] = [];
    const end = store.watchKeys((change) => heard.push(change));
    const user = aUser();
    const [first, second] = [aKey(user), aKey(user)];
    await store.bootstrap({ user, organization: anOrganization('default'), key: first }).then(() => {
      t.strictSame(heard.splice(0), [{ kind: 'created', key: first }]);
    });
    await store.bootstrap({ user, organization: anOrganization('default'), key: first });
    await store.createKey(second).then(() => {
      t.strictSame(heard.splice(0), [{ kind: 'created', key: second }]);
    });
    await store.revokeKey(randomUUID(), NOON);
    await store.touchKeys([{ id: first.id, at: NOON }]);
    t.same(heard, []);
    await store.revokeKey(second.id, NOON + 7).then(() => {
      t.strictSame(heard.splice(0), [{ kind: 'revoked', id: second.id, at: NOON + 7 }]);
    });
    end();
    await store.createKey(aKey(user));
    t.same(heard, []);
  });

  void t.test('texts are kept as they are', async (t) => {
    const { store } = await open(t);
    const name = `it's "quoted" \\ \t\n 🪶 ${'ä'.repeat(5000)}`;
    const user = aUser({ name });
    await store.createUser(user);
    const key = aKey(user, { name });
    await store.createKey(key);
    t.strictSame(await store.listUsers(), [user]);
    t.strictSame(await store.listKeys(), [key]);
  });

  void t.test('prompts are listed by name, then the newest version first', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const [one, two] = [aUser(), aUser()];
    await store.createUser(one);
    await store.createUser(two);
    // In the order of the characters, which is not that of UTF-16.
    const names = ['', 'B', 'a', 'a b', 'a/b', 'é', '\uFFFD', '🪶'].map((name) => `n${name}`);
    const versions = [1, 2, 10, Number.MAX_SAFE_INTEGER];
    const expected = names.flatMap((name) =>
      versions.toReversed().map((version) => aPrompt({ name, version, description: null })),
    );
    for (const prompt of [...expected].sort((a, b) => (a.id < b.id ? -1 : 1)))
      await store.createPrompt(one.id, prompt);
    const others = aPrompt({ name: 'na', is_active: false });
    await store.createPrompt(two.id, others);
    const check = async (store: MetaStore) => {
      t.strictSame(await all(store.listPrompts(one.id)), expected);
      t.strictSame(await all(store.listPrompts(two.id)), [others]);
      t.strictSame(await all(store.listPromptVersions(one.id, 'na')), expected.slice(8, 12));
      t.strictSame(await all(store.listPromptVersions(two.id, 'na')), [others]);
      for (const name of ['n🪶x', 'A', '']) t.equal(await store.listPromptVersions(one.id, name), null);
      t.equal(await store.listPromptVersions(two.id, 'nB'), null, 'that of another');
    };
    await check(store);
    await check(await opened.reopen());
  });

  void t.test('a version of a prompt is made once, whoever asks at the same time', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const [one, two] = [aUser(), aUser()];
    await store.createUser(one);
    await store.createUser(two);
    t.same(await all(store.listPrompts(one.id)), []);
    const asked = Array.from({ length: 10 }, () => aPrompt());
    const made = await Promise.allSettled(asked.map((prompt) => store.createPrompt(one.id, prompt)));
    const winners = asked.filter((_, i) => made[i]?.status === 'fulfilled');
    t.equal(winners.length, 1);
    const conflict = { name: 'ConflictError', field: 'version' };
    await t.rejects(store.createPrompt(one.id, aPrompt({ template_text: 'other' })), conflict);
    t.strictSame(await all(store.listPrompts(one.id)), winners);
    await store.createPrompt(two.id, aPrompt());
    const again = await opened.reopen();
    await t.rejects(again.createPrompt(one.id, aPrompt()), conflict);
    for (const prompt of [aPrompt({ version: 2 }), aPrompt({ name: 'Prompt' }), aPrompt({ name: 'prompt ' })])
      await again.createPrompt(one.id, prompt);
    t.equal((await all(again.listPrompts(one.id))).length, 4);
  });

  void t.test('texts of prompts come back as they were, whatever they hold', async (t) => {
    const opened = await open(t);
    const user = aUser();
    await opened.store.createUser(user);
    const prompts = ODD_TEXTS.map((text) =>
      aPrompt({
        name: text.slice(0, 1024).toWellFormed() || 'empty',
        template_text: text,
        description: text,
      }),
    );
    for (const prompt of prompts) await opened.store.createPrompt(user.id, prompt);
    const byId = (list: readonly PromptVersion[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    t.strictSame(byId(await all(opened.store.listPrompts(user.id))), byId(prompts));
    const again = await opened.reopen();
    for (const prompt of prompts)
      t.strictSame(await all(again.listPromptVersions(user.id, prompt.name)), [prompt]);
  });

  void t.test('a long list comes as it was when it was asked for', async (t) => {
    const { store } = await open(t);
    const user = aUser();
    await store.createUser(user);
    const expected = Array.from({ length: 1000 }, (_, i) =>
      aPrompt({ version: 1000 - i, template_text: i % 10 === 0 ? `${i} ${'ä🪶'.repeat(3333)}` : `${i}` }),
    );
    await Promise.all(expected.map((prompt) => store.createPrompt(user.id, prompt)));
    const pages = await store.listPrompts(user.id);
    await store.createPrompt(user.id, aPrompt({ name: 'later' }));
    t.strictSame(await all(Promise.resolve(pages)), expected);
    t.strictSame(await all(store.listPromptVersions(user.id, 'prompt')), expected);
  });

  void t.test('webhook endpoints are kept as they are, the newest first', async (t) => {
    const opened = await open(t);
    for (const slug of ['one', 'two']) await opened.store.createOrganization(anOrganization(slug));
    const endpoints = [
      anEndpoint({ created_at: NOON - 1, event_types: ['*'], name: '' }),
      ...ODD_TEXTS.map((name, i) => anEndpoint({ created_at: NOON + i, name: name.toWellFormed() })),
      anEndpoint({ created_at: NOON + 1000, is_active: false, consecutive_failures: 2 ** 40 }),
    ];
    const [first] = endpoints;
    const foreign = anEndpoint({ created_at: NOON + 2000 });
    for (const endpoint of endpoints)
      t.equal(await opened.store.createEndpoint('one', endpoint, endpoints.length), 'created');
    t.equal(await opened.store.createEndpoint('one', anEndpoint(), endpoints.length), 'full');
    t.equal(await opened.store.createEndpoint('two', foreign, 1), 'created');
    t.equal(await opened.store.createEndpoint('three', anEndpoint()), 'unknown');
    const check = async (store: MetaStore) => {
      t.strictSame(await store.listEndpoints('one'), endpoints.toReversed().map(withoutSecret));
      t.strictSame(await store.listEndpoints('two'), [withoutSecret(foreign)]);
      t.strictSame(await store.listEndpoints('three'), []);
      t.strictSame(await store.listStoredEndpoints(), [...endpoints, foreign]);
      t.strictSame(await store.readEndpoint(first?.id ?? ''), first);
      t.equal(await store.readEndpoint(randomUUID()), null);
    };
    await check(opened.store);
    await check(await opened.reopen());
  });

  void t.test('a webhook endpoint is changed in what is named, and deleted for good', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    for (const slug of ['one', 'two']) await store.createOrganization(anOrganization(slug));
    const endpoint = anEndpoint({ consecutive_failures: 7 });
    const other = anEndpoint();
    const { id } = endpoint;
    for (const each of [endpoint, other]) await store.createEndpoint('one', each);
    let expected = endpoint;
    for (const change of [
      {},
      { name: 'another' },
      { is_active: false },
      { url: 'https://example.org/', event_types: ['a', 'b.c'] },
      { name: '', url: 'https://example.net/', event_types: ['*'], is_active: false },
    ]) {
      expected = { ...expected, ...change };
      t.strictSame(await store.updateEndpoint('one', id, change, NOON), withoutSecret(expected));
      t.strictSame(await store.readEndpoint(id), expected);
    }
    expected = { ...expected, is_active: true, consecutive_failures: 0 };
    t.strictSame(await store.updateEndpoint('one', id, { is_active: true }, NOON), withoutSecret(expected));
    t.ok(await store.rotateEndpointSecret('one', id, 'v1:another'));
    expected = { ...expected, sealed_secret: 'v1:another' };

    for (const [slug, unknown] of [
      ['two', id],
      ['three', id],
      ['one', randomUUID()],
    ] as const) {
      t.equal(await store.updateEndpoint(slug, unknown, { name: 'x', is_active: true }, NOON), null);
      t.equal(await store.rotateEndpointSecret(slug, unknown, 'v1:x'), false);
      t.equal(await store.deleteEndpoint(slug, unknown), false);
    }
    const reopened = await opened.reopen();
    t.strictSame(await reopened.readEndpoint(id), expected);
    t.strictSame(await reopened.readEndpoint(other.id), other, 'others are left alone');
    t.match(await reopened.testEndpoint('one', id, NOON), { deliveryId: String });
    t.equal(await reopened.testEndpoint('two', id, NOON), null);
    t.equal(await reopened.testEndpoint('one', randomUUID(), NOON), null);
    await reopened.updateEndpoint('one', id, { is_active: false }, NOON);
    t.equal(await reopened.testEndpoint('one', id, NOON), 'paused');
    t.ok(await reopened.deleteEndpoint('one', id));
    t.notOk(await reopened.deleteEndpoint('one', id));
    const again = await opened.reopen();
    t.equal(await again.readEndpoint(id), null);
    t.strictSame(await again.listStoredEndpoints(), [other]);
  });
}

/** What all pages of a list hold. */
async function all(pages: Promise<PromptPages | null>): Promise<readonly PromptVersion[]> {
  const prompts: PromptVersion[] = [];
  for await (const page of (await pages) ?? []) prompts.push(...page);
  return prompts;
}

/** By their making, then id. */
function sorted(users: readonly User[]): User[] {
  return [...users].sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}
