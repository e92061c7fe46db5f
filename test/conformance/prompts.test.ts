import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import {
  MOST_TEXT_BYTES,
  MOST_VERSIONS,
  type PromptPage,
  type Prompts,
  type PromptVersion,
} from '../../src/storage/contracts/prompts.js';
import { anEndpoint, anOrganization, aPrompt, aUser, NOBODY } from '../storage/duckdb/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, onEveryDatabase, type OpenControl, type OpenDatabase } from './control-stores.js';

const VERSION_TAKEN = { name: 'ConflictError', field: 'version' };
const ALL = { events: 1000, bytes: 1e9 };

/** All pages of a list. */
async function all(
  read: (after?: string) => Promise<PromptPage | null>,
  pages: PromptPage[] = [],
): Promise<readonly PromptVersion[]> {
  let after: string | undefined;
  do {
    const page = await read(after);
    if (page === null) break;
    pages.push(page);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return pages.flatMap(({ prompts }) => prompts);
}

function checkPrompts(t: Test, open: OpenControl): void {
  void t.test('lists prompts by name, then the newest version first', async (t) => {
    const opened = await open(t);
    const { prompts, accounts } = opened.store;
    const [one, two] = [aUser(), aUser()];
    await accounts.createUser(one);
    await accounts.createUser(two);
    // Code point order, which differs from UTF-16 order and from any language.
    const names = ['', '\0', '\u0001', ' ', 'B', 'a', 'a b', 'a/b', 'é', '\uFFFD', '🪶'].map(
      (name) => `n${name}`,
    );
    const versions = [1, 2, 10, Number.MAX_SAFE_INTEGER];
    const expected = names.flatMap((name) =>
      versions.toReversed().map((version) => aPrompt({ name, version, description: null })),
    );
    for (const prompt of [...expected].sort((a, b) => (a.id < b.id ? -1 : 1)))
      await prompts.create(one.id, prompt);
    const others = aPrompt({ name: 'na', is_active: false });
    await prompts.create(two.id.toUpperCase(), others);
    const check = async (store: Prompts): Promise<void> => {
      t.strictSame(await all((after) => store.list(one.id.toUpperCase(), after)), expected);
      t.strictSame(await all((after) => store.list(two.id, after)), [others]);
      t.strictSame(
        await all((after) => store.listVersions(one.id, 'na', after)),
        expected.filter(({ name }) => name === 'na'),
      );
      t.strictSame(await store.listVersions(two.id, 'na'), { prompts: [others], next: null });
      for (const name of ['n🪶x', 'A', '']) t.equal(await store.listVersions(one.id, name), null);
      t.equal(await store.listVersions(two.id, 'nB'), null, 'a prompt of another user');
      t.strictSame(await store.list(randomUUID()), { prompts: [], next: null });
      t.strictSame(await store.findNames(one.id.toUpperCase(), '', 100), names, 'each once');
      t.strictSame(await store.findNames(one.id, '', 3), names.slice(0, 3));
      t.strictSame(await store.findNames(one.id, 'NA', 100), ['na', 'na b', 'na/b']);
      for (const name of ['é', '\0', '🪶'])
        t.strictSame(await store.findNames(one.id, name, 100), [`n${name}`], 'exact case');
      for (const text of ['n%', 'n_', 'n\\', 'É', 'nobody'])
        t.strictSame(await store.findNames(one.id, text, 100), [], 'no character is a wildcard');
      t.strictSame(await store.findNames(randomUUID(), '', 100), []);
    };
    await check(prompts);
    await check((await opened.reopen()).prompts);
  });

  void t.test('returns texts unchanged', async (t) => {
    const opened = await open(t);
    const user = aUser();
    await opened.store.accounts.createUser(user);
    const texts = [...ODD_TEXTS, '🪶'.repeat(1024), '🪶'.repeat(1023).concat('x')];
    const made = texts.map((text, version) =>
      aPrompt({ name: text, version, template_text: text, description: text }),
    );
    for (const prompt of made) await opened.store.prompts.create(user.id, prompt);
    const { prompts } = await opened.reopen();
    for (const prompt of made) {
      t.strictSame(await prompts.listVersions(user.id, prompt.name), { prompts: [prompt], next: null });
      await t.rejects(prompts.create(user.id, { ...prompt, id: randomUUID() }), VERSION_TAKEN);
    }
  });

  void t.test('concurrent requests create a version once', async (t) => {
    const opened = await open(t);
    const stores = [opened.store, await opened.another()];
    const [one, two] = [aUser(), aUser()];
    await opened.store.accounts.createUser(one);
    await opened.store.accounts.createUser(two);
    const asked = Array.from({ length: 10 }, () => aPrompt());
    const made = await Promise.allSettled(
      asked.map(async (prompt, i) => stores[i % 2]?.prompts.create(one.id, prompt)),
    );
    const winners = asked.filter((_, i) => made[i]?.status === 'fulfilled');
    t.equal(winners.length, 1);
    for (const one of made) if (one.status === 'rejected') t.match(one.reason, VERSION_TAKEN);
    t.strictSame((await opened.store.prompts.list(one.id)).prompts, winners);
    await opened.store.prompts.create(two.id, aPrompt());
    const { prompts } = await opened.reopen();
    await t.rejects(prompts.create(one.id, aPrompt()), VERSION_TAKEN);
    for (const prompt of [aPrompt({ version: 2 }), aPrompt({ name: 'Prompt' }), aPrompt({ name: 'prompt ' })])
      await prompts.create(one.id, prompt);
    t.equal((await prompts.list(one.id)).prompts.length, 4);
    await t.rejects(prompts.create(randomUUID(), aPrompt()), { code: 'internal_error' }, 'an unknown user');
  });

  void t.test('limits versions and text per user until some are deleted', async (t) => {
    const opened = await open(t);
    const { prompts, accounts } = opened.store;
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await accounts.createUser(each);
    const FULL = { name: 'ConflictError', field: 'prompt' };
    const text = 'ä'.repeat(MOST_TEXT_BYTES / 8);
    for (const version of [1, 2, 3]) await prompts.create(user.id, aPrompt({ version, template_text: text }));
    const last = aPrompt({ name: 'last', template_text: text });
    await t.rejects(
      prompts.create(user.id, last),
      { ...FULL, message: /exceed 64 MiB/ },
      'including the names',
    );
    await prompts.create(other.id, last);
    t.equal(await prompts.remove(user.id.toUpperCase(), 'prompt', 2, NOBODY), true);
    t.equal(await prompts.remove(user.id, 'prompt', 2, NOBODY), false);
    t.equal(await prompts.remove(other.id, 'prompt', 1, NOBODY), false);
    await prompts.create(user.id, { ...last, id: randomUUID() });
    t.equal(await prompts.remove(user.id, 'prompt', null, NOBODY), true);
    t.equal(await prompts.findNumber(user.id, 'prompt', 1), null);
    const again = (await opened.reopen()).prompts;
    await t.rejects(again.create(user.id, aPrompt({ version: 3 })), FULL, 'version numbers stay used');
    await again.create(user.id, aPrompt({ version: 4 }));
  });

  void t.test('a long list is paged as of its first page', async (t) => {
    const opened = await open(t);
    const user = aUser();
    await opened.store.accounts.createUser(user);
    const expected = Array.from({ length: 700 }, (_, i) =>
      aPrompt({
        version: 700 - i,
        template_text: i % 10 === 0 ? `${String(i)} ${'ä🪶'.repeat(3333)}` : String(i),
      }),
    );
    await Promise.all(expected.map((prompt) => opened.store.prompts.create(user.id, prompt)));
    const { prompts } = opened.store;
    const first = await prompts.list(user.id);
    t.ok(first.next !== null && first.prompts.length < expected.length);
    await prompts.create(user.id, aPrompt({ name: 'later' }));
    await prompts.create(user.id, aPrompt({ version: 701 }));
    const pages: PromptPage[] = [first];
    await all((after) => prompts.list(user.id, after ?? first.next ?? ''), pages);
    t.strictSame(
      pages.flatMap((page) => page.prompts),
      expected,
    );
    for (const page of pages) {
      const bytes = page.prompts.slice(0, -1).map(({ template_text }) => template_text.length);
      t.ok(bytes.reduce((sum, more) => sum + more, 0) < 256 * 1024);
    }
    t.equal((await all((after) => prompts.listVersions(user.id, 'prompt', after))).length, 701);
  });

  void t.test('version numbers are unique across users', async (t) => {
    const opened = await open(t);
    const users = [aUser(), aUser()];
    for (const user of users) await opened.store.accounts.createUser(user);
    const wanted = users.flatMap(({ id }) =>
      ['a', '\uFEFFa', 'a\0'].flatMap((name) => [3, 1, 2].map((version) => ({ id, name, version }))),
    );
    const given: number[] = [];
    for (const { id, name, version } of wanted) {
      given.push(await opened.store.prompts.create(id, aPrompt({ name, version })));
      await t.rejects(opened.store.prompts.create(id, aPrompt({ name, version })), VERSION_TAKEN);
    }
    t.equal(new Set(given).size, wanted.length);
    const { prompts } = await opened.reopen();
    for (const [i, { id, name, version }] of wanted.entries())
      t.equal(await prompts.findNumber(id.toUpperCase(), name, version), given[i]);
    const [one = ''] = users.map(({ id }) => id);
    t.strictSame(
      await prompts.numbersOf(one.toUpperCase(), 'a'),
      [0, 2, 1].map((i) => ({ number: given[i], version: [3, 1, 2][i] })),
      'the newest first',
    );
    t.equal(await prompts.findNumber(one, 'a', 4), null);
    t.equal(await prompts.findNumber(one, 'b', 1), null);
    t.same(await prompts.numbersOf(one, 'b'), []);
    const next = await prompts.create(one, aPrompt({ name: 'next' }));
    t.ok(next > Math.max(...given));
    const asked = [
      { name: 'next', version: 1 },
      { name: 'next', version: 2 },
      { name: 'a', version: 3 },
      { name: 'a\0', version: 3 },
      { name: 'next', version: 1 },
      { name: 'b', version: 1 },
    ];
    t.strictSame(await prompts.findNumbers(one.toUpperCase(), asked), [
      next,
      null,
      given[0],
      given[6],
      next,
      null,
    ]);
    const many = Array.from({ length: 3000 }, (_, i) => ({ name: 'next', version: 3000 - i }));
    t.strictSame(await prompts.findNumbers(one, many), [...Array<null>(2999).fill(null), next]);
    t.strictSame(await prompts.findNumbers(one, []), []);
  });

  void t.test('writes the event with the prompt if wanted', async (t) => {
    const { store } = await open(t);
    const { prompts, events, endpoints, organizations, accounts } = store;
    const user = aUser();
    await accounts.createUser(user);
    await organizations.create(anOrganization('one'));
    await organizations.putMember('one', user.id);
    const from = await events.open('reader');
    const usage = async (): Promise<readonly unknown[]> =>
      (await events.read(from, ALL)).events.map(({ tenant, event }) => {
        t.equal(tenant, user.id);
        const { data } = JSON.parse(event.body) as { data: { version: unknown; description: unknown } };
        return data.version;
      });
    let version = 0;
    const create = () =>
      prompts.create(user.id, aPrompt({ version: ++version, description: 'x'.repeat(5000) }));
    await create();
    t.same(await usage(), [], 'nobody wants it');
    await events.want('reader', ['trace.failed', 'prompt.created'], NOON + 1);
    await create();
    await events.want('reader', ['trace.failed'], NOON + 1);
    await create();
    await events.want('reader', ['*'], NOON);
    await create();
    t.same(await usage(), [2], 'not after it expires');
    const endpoint = anEndpoint({ event_types: ['prompt.created', 'alert.fired'] });
    await endpoints.create('one', endpoint);
    await create();
    await endpoints.update('one', endpoint.id, { event_types: ['prompt.created.not'] }, NOON);
    await create();
    await endpoints.update('one', endpoint.id, { event_types: ['*'] }, NOON);
    await create();
    await endpoints.update('one', endpoint.id, { is_active: false }, NOON);
    await create();
    await endpoints.update('one', endpoint.id, { is_active: true }, NOON);
    await organizations.removeMember('one', user.id);
    await create();
    t.same(await usage(), [2, 5, 7]);
    await organizations.putMember('one', user.id);
    await t.rejects(prompts.create(user.id, aPrompt({ version: 1 })), VERSION_TAKEN);
    t.same(await usage(), [2, 5, 7], 'no event for failed writes');
    const [last] = (await events.read(from, ALL)).events.slice(-1);
    t.match(last?.event, {
      type: 'prompt.created',
      timestamp: NOON,
      organization_id: null,
      endpoint_id: null,
    });
    t.ok((last?.event.body.length ?? Infinity) < 2000, 'a long description is truncated');
  });
}

function checkMostVersions(t: Test, open: OpenDatabase): void {
  void t.test('a user has at most 10 000 versions', async (t) => {
    const { database, store } = await open(t);
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await store.accounts.createUser(each);
    await store.prompts.create(user.id, aPrompt({ version: 0 }));
    const columns = sql`user_id, name, name_key, template_text, description, is_active, created_at, bytes`;
    await database.transaction((tx) =>
      sql`insert into prompts (number, id, version, ${columns})
        with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(MOST_VERSIONS - 2)})
        select 1000000 + i, 'id ' || i, i, ${columns} from prompts, n`.execute(tx),
    );
    const create = (version: number) => store.prompts.create(user.id, aPrompt({ version }));
    await create(MOST_VERSIONS);
    const message = /10000 versions of prompts, which is the limit for a user: delete some/;
    await t.rejects(create(MOST_VERSIONS + 1), { name: 'ConflictError', field: 'prompt', message });
    await store.prompts.create(other.id, aPrompt());
    await store.prompts.remove(user.id, 'prompt', 0, NOBODY);
    await create(MOST_VERSIONS + 1);
    await t.rejects(create(MOST_VERSIONS + 2), { field: 'prompt', message });
  });
}

await onEveryControl(t, checkPrompts);
await onEveryDatabase(t, checkMostVersions);
