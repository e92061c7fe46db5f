import t from 'tap';
import type { MetaTables } from '../../src/storage/duckdb/meta/meta-tables.js';
import type { User } from '../../src/storage/meta-store.js';
import { aPrompt, aUser } from './meta-records.js';
import { openMetaTables } from './opened-meta-tables.js';

/** The tenant number of a user that there is. */
function tenantOf(tables: MetaTables, user: User): number {
  const tenant = tables.tenantOf(user.id);
  if (tenant === undefined) throw new Error('the user is unknown');
  return tenant;
}

void t.test('the limit of a user is known at once, as it was changed last', async (t) => {
  const { tables, again } = await openMetaTables(t);
  const [one, two] = [aUser({ monthly_event_limit: 7 }), aUser()];
  await tables.createUser(one);
  await tables.createUser(two);
  const limits = (from: MetaTables) => [one, two].map((user) => from.limitOf(tenantOf(from, user)));
  t.strictSame(limits(tables), [7, null]);
  await tables.updateUser(one.id, { name: 'y' });
  await tables.updateUser(two.id, { monthly_event_limit: 0 });
  t.strictSame(limits(tables), [7, 0]);
  await t.rejects(tables.updateUser(one.id, { monthly_event_limit: 8, email: two.email }));
  t.strictSame(limits(tables), [7, 0], 'a change that is refused changes nothing');
  await tables.updateUser(one.id, { monthly_event_limit: null });
  t.strictSame(limits(tables), [null, 0]);
  t.strictSame(limits(await again()), [null, 0]);
  t.equal(tables.limitOf(12345), null);
});

void t.test('each version of a prompt has a number of its own, whoever has it', async (t) => {
  const { tables, again } = await openMetaTables(t);
  const users = [aUser(), aUser()];
  for (const user of users) await tables.createUser(user);
  const wanted = users.flatMap((user) =>
    ['a', '\uFEFFa', 'a\0'].flatMap((name) => [3, 1, 2].map((version) => ({ user, name, version }))),
  );
  for (const { user, name, version } of wanted)
    await tables.createPrompt(user.id, aPrompt({ name, version }));
  const numbers = (from: MetaTables) =>
    wanted.map(({ user, name, version }) => from.promptNumber(tenantOf(from, user), name, version));
  const found = numbers(tables);
  t.equal(new Set(found).size, wanted.length);
  t.notOk(found.includes(undefined));
  const tenant = tenantOf(tables, users[1] ?? aUser());
  t.strictSame(
    tables.promptVersions(tenant, 'a').map(({ number, version }) => ({ number, version })),
    [3, 2, 1].map((version) => ({ number: tables.promptNumber(tenant, 'a', version), version })),
    'the newest first',
  );
  for (const [name, version] of [
    ['a', 4],
    ['b', 1],
  ] as const)
    t.equal(tables.promptNumber(tenant, name, version), undefined);
  t.same(tables.promptVersions(tenant, 'b'), []);
  t.same(tables.promptVersions(12345, 'a'), []);
  t.strictSame(numbers(await again()), found, 'and keeps it');
});

void t.test('a prompt that could not be stored is not known', async (t) => {
  const { tables } = await openMetaTables(t);
  const user = aUser();
  await tables.createUser(user);
  const tenant = tenantOf(tables, user);
  const { id } = aPrompt();
  const asked = [
    tables.createPrompt(user.id, aPrompt({ id })),
    // The id is taken: the database refuses the row.
    tables.createPrompt(user.id, aPrompt({ id, name: 'other' })),
    tables.createPrompt(user.id, aPrompt({ name: 'third' })),
  ];
  t.strictSame(
    (await Promise.allSettled(asked)).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.same(tables.promptVersions(tenant, 'other'), []);
  t.equal(tables.promptNumber(tenant, 'prompt', 1), 1);
  t.equal(tables.promptNumber(tenant, 'third', 1), 2);
  t.same(await tables.listPromptVersions(user.id, 'other'), null);
  await tables.createPrompt(user.id, aPrompt({ name: 'other' }));
  t.equal(tables.promptNumber(tenant, 'other', 1), 3);
});

void t.test('a page holds what belongs to its user only', async (t) => {
  const { tables } = await openMetaTables(t);
  const users = [aUser(), aUser()];
  for (const user of users) await tables.createUser(user);
  const [one, two] = users.map(({ id }) => id);
  const prompt = aPrompt();
  await tables.createPrompt(one ?? '', prompt);
  t.strictSame(await tables.readPrompts(one ?? '', [1, 2]), { prompts: [prompt], rest: [] });
  t.strictSame(await tables.readPrompts(two ?? '', [1, 2]), { prompts: [], rest: [] });
});
