import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Accounts } from '../../src/storage/contracts/accounts.js';
import type { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { TELEMETRY_EVENTS } from '../../src/storage/contracts/events.js';
import { PromptNumbers } from '../../src/storage/shared/prompt-numbers.js';
import { KnownUsers } from '../../src/storage/shared/store-user-limits.js';
import type { Prompts } from '../../src/storage/contracts/prompts.js';
import { openControlStore } from '../support/control-store.js';
import { HandClock } from '../support/hand-clock.js';
import { anEndpoint, anOrganization, aPrompt, aUser } from './duckdb/meta-records.js';

const OLD_MS = 30_000;

/** A control store and its clients: each query is counted, and waits while `hold` is in effect. */
async function opened(t: Test) {
  const clock = new HandClock();
  const control = await openControlStore(t, { clock });
  const asked = { users: 0, prompts: 0 };
  let held: Promise<void> | null = null;
  const accounts: Pick<Accounts, 'findUser'> = {
    async findUser(id) {
      asked.users++;
      const user = await control.accounts.findUser(id);
      await held;
      return user;
    },
  };
  const prompts: Pick<Prompts, 'findNumbers'> = {
    async findNumbers(userId, references) {
      asked.prompts++;
      const numbers = await control.prompts.findNumbers(userId, references);
      await held;
      return numbers;
    },
  };
  const { events, watch } = control;
  const users = new KnownUsers({ accounts: accounts as Accounts, events, watch }, clock);
  const numbers = new PromptNumbers({ prompts: prompts as Prompts, watch }, clock);
  t.teardown(() => {
    users.close();
    numbers.close();
  });
  return {
    clock,
    control,
    users,
    numbers,
    asked,
    /** @returns a function that releases the answers */
    hold: (): (() => void) => {
      let release = (): void => undefined;
      held = new Promise((resolve) => (release = resolve));
      return () => {
        held = null;
        release();
      };
    },
  };
}

async function addUser(control: SqlControlStore): Promise<string> {
  const user = aUser({ monthly_event_limit: 7 });
  await control.accounts.createUser(user);
  return user.id;
}

void t.test('loads a user once, and again after a possible change', async (t) => {
  const { control, users, asked, clock } = await opened(t);
  const [id, other] = [await addUser(control), await addUser(control)];
  t.equal(users.known(id), undefined);
  const both = await Promise.all([users.find(id), users.find(id)]);
  t.strictSame(both[0], { tenant: 1, monthlyLimit: 7, storedLimit: null, wanted: [] });
  t.equal(users.known(id), both[0]);
  t.equal(both[1], both[0]);
  t.equal(asked.users, 1, 'concurrent reads share a query');
  t.match(await users.find(other), { tenant: 2 });

  await control.accounts.updateUser(id, { monthly_event_limit: 9 });
  t.match(await users.find(id), { monthlyLimit: 9 }, 'as soon as the change resolves');
  await control.organizations.create(anOrganization('acme'));
  await control.organizations.putMember('acme', id, 'member');
  await control.endpoints.create('acme', anEndpoint({ event_types: ['trace.failed', 'alert.fired'] }));
  t.match(await users.find(id), { wanted: ['trace.failed'] }, 'the version that telemetry uses');
  t.match(await users.find(other), { wanted: [] });
  await control.events.want('a reader', ['*'], Number.MAX_SAFE_INTEGER);
  t.match(await users.find(other), { wanted: TELEMETRY_EVENTS });

  const before = asked.users;
  clock.advance(OLD_MS - 1);
  await users.find(other);
  t.equal(asked.users, before);
  clock.advance(1);
  await users.find(other);
  t.equal(asked.users, before + 1, 'a hint may have been lost');
});

void t.test('does not cache answers requested before a change', async (t) => {
  const { control, users, hold } = await opened(t);
  const id = await addUser(control);
  const release = hold();
  const early = users.find(id);
  await control.accounts.updateUser(id, { monthly_event_limit: 9 });
  const late = users.find(id);
  release();
  await early;
  t.match(await late, { monthlyLimit: 9 });
  t.match(await users.find(id), { monthlyLimit: 9 });
});

void t.test('reports an unknown user without caching it', async (t) => {
  const { control, users } = await opened(t);
  const user = aUser();
  await t.rejects(users.find(user.id), { message: /user of a request does not exist/ });
  t.same(await users.tenants([user.id, randomUUID()]), new Map());
  await control.accounts.createUser(user);
  t.match(await users.find(user.id), { tenant: 1 });
  t.same(await users.tenants([user.id, randomUUID(), user.id]), new Map([[user.id, 1]]));
});

void t.test('caches prompt version numbers and reloads missing ones', async (t) => {
  const { control, numbers, asked, hold } = await opened(t);
  const [id, other] = [await addUser(control), await addUser(control)];
  const versions = [1, 2].map((version) => ({ name: 'p', version }));
  const number = await control.prompts.create(id, aPrompt({ name: 'p' }));
  t.equal(numbers.known(id, versions), undefined);
  t.strictSame(await numbers.find(id, versions), [number, null]);
  t.strictSame(numbers.known(id, versions), [number, null]);
  t.strictSame(await numbers.find(id, versions), [number, null]);
  t.equal(asked.prompts, 1);
  t.strictSame(await numbers.find(other, versions), [null, null], 'each user has its own');

  const next = await control.prompts.create(id, aPrompt({ name: 'p', version: 2 }));
  t.equal(numbers.known(id, versions.slice(0, 1)), undefined, 'it may have been deleted');
  t.equal(numbers.known(id, versions), undefined);
  t.strictSame(await numbers.find(id, versions), [number, next]);

  const third = [{ name: 'p', version: 3 }];
  const release = hold();
  const early = numbers.find(id, third);
  const made = await control.prompts.create(id, aPrompt({ name: 'p', version: 3 }));
  release();
  await early;
  t.strictSame(await numbers.find(id, third), [made], 'missing numbers are not cached afterwards');
});
