import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { envelope } from '../../src/signal/event.js';
import type { EventLog, EventPosition, Fact, StoredEvent } from '../../src/storage/contracts/events.js';
import type { User } from '../../src/storage/contracts/accounts.js';
import { anEndpoint, anOrganization, aUser } from '../storage/duckdb/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const ALL = { events: 100_000, bytes: 1e9 };
const LONG = 600_000;
const TENANT = randomUUID();

function aFact(fact: string, changes: Partial<Fact['event']> = {}): Fact {
  const head = { id: randomUUID(), type: 'trace.failed', timestamp: NOON } as const;
  const body = envelope(head, { fact });
  return {
    fact,
    tenant: TENANT,
    event: { ...head, organization_id: null, endpoint_id: null, body, ...changes },
  };
}

function factIn(body: string): string {
  return (JSON.parse(body) as { data: { fact: string } }).data.fact;
}

function storedOf({ tenant, event }: Fact): StoredEvent {
  return { tenant, event };
}

/** All events after a position, read in pages. */
async function readAll(log: EventLog, from: EventPosition, limit = ALL): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let at = from; ;) {
    const page = await log.read(at, limit);
    events.push(...page.events);
    at = page.next;
    if (!page.hasMore) return events;
  }
}

function checkEventLog(t: Test, open: OpenControl): void {
  void t.test('facts are appended once, in order and unchanged', async (t) => {
    const opened = await open(t);
    const { events } = opened.store;
    const start = await events.open('all');
    t.same(await readAll(events, start), []);
    const facts = ODD_TEXTS.map((text, i) =>
      aFact(text, {
        type: i % 2 === 0 ? 'alert.fired' : 'webhook.test',
        organization_id: i % 3 === 0 ? randomUUID() : null,
        endpoint_id: i % 4 === 0 ? randomUUID() : null,
        timestamp: NOON + i,
        body: text,
      }),
    );
    t.equal(await events.append(facts), facts.length);
    t.equal(await events.append([]), 0);
    const again = facts.map(({ fact }) => aFact(fact));
    const others = { ...aFact('a'), tenant: randomUUID() };
    t.equal(
      await events.append([...again, aFact('a'), others, aFact('a')]),
      2,
      'the others were already there',
    );
    const { events: reopened } = await opened.reopen();
    const found = await readAll(reopened, start);
    t.strictSame(found.slice(0, facts.length), facts.map(storedOf));
    t.same(
      found.slice(facts.length).map(({ tenant }) => tenant),
      [TENANT, others.tenant],
    );
    t.strictSame(await readAll(reopened, start, { events: 3, bytes: 1e9 }), found);
  });

  void t.test('a page is limited by events, and by bytes beyond the first event', async (t) => {
    const { events } = (await open(t)).store;
    const start = await events.open('all');
    const bodies = ['ä'.repeat(50), 'b'.repeat(60), 'c'.repeat(40), 'd'];
    await events.append(bodies.map((body, i) => aFact(String(i), { body })));
    const sizes = async (limit: { events: number; bytes: number }): Promise<number[]> => {
      const counts: number[] = [];
      for (let at = start; ;) {
        const page = await events.read(at, limit);
        counts.push(page.events.length);
        at = page.next;
        if (!page.hasMore) return counts;
      }
    };
    t.same(await sizes({ events: 3, bytes: 1e9 }), [3, 1]);
    t.same(await sizes({ events: 4, bytes: 1e9 }), [4]);
    t.same(await sizes({ events: 100, bytes: 0 }), [1, 1, 1, 1]);
    t.same(await sizes({ events: 100, bytes: 60 }), [2, 2]);
    t.same(await sizes({ events: 100, bytes: 100 }), [3, 1]);
    const end = (await events.read(start, ALL)).next;
    t.strictSame(await events.read(end, ALL), { events: [], next: end, hasMore: false });
    for (const wrong of ['', 'x', '-1', '1.5', '99999999999999999999'])
      await t.rejects(events.read(wrong, ALL), RangeError);
  });

  void t.test('appends thousands of facts in one transaction', async (t) => {
    const { events } = (await open(t)).store;
    const start = await events.open('all');
    const facts = Array.from({ length: 5000 }, (_, i) => aFact(String(i)));
    t.equal(await events.append([...facts, ...facts.slice(0, 10)]), facts.length);
    t.strictSame(await readAll(events, start), facts.map(storedOf));
  });

  void t.test('concurrent readers miss nothing and see commit order', async (t) => {
    const opened = await open(t);
    const [one, two] = [opened.store, await opened.another()];
    const start = await one.events.open('reader');
    const seen: string[] = [];
    let at = start;
    let areDone = false;
    const read = async (): Promise<void> => {
      for (;;) {
        const isLast = areDone;
        const page = await two.events.read(at, { events: 7, bytes: 1e9 });
        seen.push(...page.events.map(({ event }) => event.body));
        at = page.next;
        if (isLast && !page.hasMore) return;
      }
    };
    const write = async (writer: number): Promise<void> => {
      const { events } = writer % 2 === 0 ? one : two;
      for (let i = 0; i < 15; i++) {
        const names = [0, 1, 2].map((n) => `${String(writer)}:${String(i * 3 + n)}`);
        await events.append(names.map((name) => aFact(name, { body: name })));
      }
    };
    const writing = Promise.all([0, 1, 2, 3].map(write)).then(() => {
      areDone = true;
    });
    await Promise.all([read(), writing]);
    t.equal(seen.length, 4 * 45);
    t.same(
      (await readAll(one.events, start)).map(({ event }) => event.body),
      seen,
    );
    for (const writer of [0, 1, 2, 3]) {
      const own = seen.filter((body) => body.startsWith(`${String(writer)}:`));
      t.same(
        own,
        Array.from({ length: 45 }, (_, i) => `${String(writer)}:${String(i)}`),
      );
    }
  });

  void t.test('a fact is not appended after the fact that excludes it', async (t) => {
    const { store } = await open(t);
    const start = await store.events.open('all');
    const long = 'x'.repeat(5000);
    const failures = [...ODD_TEXTS, long].map((text) => aFact(`failure ${text}`));
    const ends = [...ODD_TEXTS, long].map((text) => ({ ...aFact(`end ${text}`), unless: `failure ${text}` }));
    t.equal(await store.events.append(ends.slice(0, 1)), 1, 'an end may come first');
    t.equal(await store.events.append(failures), failures.length);
    const ofOther = { ...aFact('end'), tenant: randomUUID(), unless: failures[0]?.fact ?? '' };
    t.equal(
      await store.events.append([...ends, ofOther, aFact('a')]),
      2,
      'facts of one owner exclude each other',
    );
    const many = Array.from({ length: 2500 }, (_, i) => ({
      ...aFact(String(i)),
      unless: `not ${String(i)}`,
    }));
    const last = { ...aFact('last'), unless: failures.at(-1)?.fact ?? '' };
    t.equal(await store.events.append([...many, last]), many.length);
    const appended = [...ends.slice(0, 1), ...failures, ofOther, aFact('a'), ...many];
    t.same(
      (await readAll(store.events, start)).map(({ event }) => factIn(event.body)),
      appended.map(({ fact }) => fact),
    );
  });

  void t.test('concurrent appends of one fact add it once', async (t) => {
    const opened = await open(t);
    const stores = [opened.store, await opened.another()];
    const start = await opened.store.events.open('all');
    const added = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => (await stores[i % 2]?.events.append([aFact('same')])) ?? 0),
    );
    t.same(
      added.sort((a, b) => a - b),
      [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    );
    t.equal((await readAll(opened.store.events, start)).length, 1);
  });

  void t.test('stores the mark of a source with its facts or not at all', async (t) => {
    const opened = await open(t);
    const { events } = opened.store;
    const start = await events.open('all');
    t.equal(await events.markOf('segment'), null);
    await events.append([aFact('a')], { source: 'segment', mark: '1' });
    await events.append([], { source: 'segment', mark: '2' });
    await events.append([aFact('a'), aFact('b')], { source: 'segment', mark: 'three\0' });
    await events.append([], { source: 'other', mark: 'x' });
    const broken = { ...aFact('c'), tenant: null as unknown as string };
    await t.rejects(events.append([aFact('d'), broken], { source: 'segment', mark: '4' }), {
      code: 'internal_error',
    });
    const { events: again } = await opened.reopen();
    t.equal(await again.markOf('segment'), 'three\0');
    t.equal(await again.markOf('other'), 'x');
    t.equal((await readAll(again, start)).length, 2);
  });

  void t.test('readers continue from their own positions', async (t) => {
    const opened = await open(t);
    const { events, leases } = opened.store;
    await events.append([aFact('before')]);
    const start = await events.open('one');
    t.same(await readAll(events, start), [], 'a new reader starts with future events');
    await events.append([aFact('a'), aFact('b')]);
    const { next } = await events.read(start, { events: 1, bytes: 1e9 });
    const end = (await events.read(next, ALL)).next;
    t.equal(await events.open('one'), start, 'until it records progress');
    const lease = await leases.take('outbox', 'me', LONG);
    if (lease === null) throw new Error('it is free');
    t.ok(await events.progress('one', end, lease));
    t.ok(await events.progress('one', next, lease));
    const { events: again } = await opened.reopen();
    t.equal(await again.open('one'), end, 'it never goes back');
    t.equal(await again.open('two'), end);
    t.ok(await again.progress('nobody', end, lease));
    await again.append([aFact('c')]);
    t.same((await readAll(again, await again.open('nobody'))).length, 0);
  });

  void t.test('a reader without the lease records nothing', async (t) => {
    const opened = await open(t);
    const [one, two] = [opened.store, await opened.another()];
    const start = await one.events.open('reader');
    const [late, next] = [
      await one.leases.take('outbox', 'a', LONG),
      await two.leases.take('outbox', 'a', LONG),
    ];
    if (late === null || next === null) throw new Error('who takes it again gets it');
    await one.events.append([aFact('a'), aFact('b')]);
    const page = await one.events.read(start, { events: 1, bytes: 1e9 });
    t.notOk(await one.events.progress('reader', page.next, late));
    t.equal(await one.events.open('reader'), start);
    t.ok(await two.events.progress('reader', page.next, next));
    t.equal(await one.events.open('reader'), page.next);
    await two.leases.release(next);
    t.notOk(await two.events.progress('reader', page.next, next), 'nor who gave it back');
  });

  void t.test('wanted event types last until they expire, per owner', async (t) => {
    const { events } = (await open(t)).store;
    t.same(await events.wanted(NOON), new Set());
    await events.want('a', ['trace.failed', 'agent.created', 'trace.failed'], NOON + 10);
    await events.want('b', ['trace.failed', '*'], NOON + 20);
    t.same(await events.wanted(NOON), new Set(['trace.failed', 'agent.created', '*']));
    t.same(await events.wanted(NOON + 10), new Set(['trace.failed', '*']));
    await events.want('b', [], NOON + 20);
    t.same(await events.wanted(NOON), new Set(['trace.failed', 'agent.created']));
    await events.want('a', ['alert.fired'], NOON + 30);
    t.same(await events.wanted(NOON + 29), new Set(['alert.fired']));
    t.same(await events.wanted(NOON + 30), new Set());
  });

  void t.test(
    "a user's wanted types combine those of all readers and of its organizations' active endpoints",
    async (t) => {
      const opened = await open(t);
      const { accounts, endpoints, events, organizations } = opened.store;
      const [one, two] = [aUser(), aUser()];
      for (const user of [one, two]) await accounts.createUser(user);
      for (const slug of ['a', 'b', 'c']) await organizations.create(anOrganization(slug));
      for (const slug of ['a', 'b']) await organizations.putMember(slug, one.id, 'member');
      await organizations.putMember('c', two.id, 'admin');
      const ofB = anEndpoint({ event_types: ['trace.failed'] });
      await endpoints.create('a', anEndpoint({ event_types: ['alert.fired', 'agent.created'] }));
      await endpoints.create('a', anEndpoint({ event_types: ['*'], is_active: false }));
      await endpoints.create('b', ofB);
      await endpoints.create('c', anEndpoint({ event_types: ['*'] }));
      await events.want('reader', ['prompt.created', 'trace.failed'], NOON + 10);
      const wanted = (user: User, now = NOON) => events.wantedOf(user.id.toUpperCase(), now);
      t.same(await wanted(one), new Set(['alert.fired', 'agent.created', 'trace.failed', 'prompt.created']));
      t.same(await wanted(two), new Set(['*', 'prompt.created', 'trace.failed']));
      t.same(await wanted(aUser()), new Set(['prompt.created', 'trace.failed']), 'of any user');
      t.same(await wanted(two, NOON + 10), new Set(['*']));
      await endpoints.delete('b', ofB.id);
      await organizations.removeMember('a', one.id);
      t.same(await wanted(one, NOON + 10), new Set());
    },
  );

  void t.test('watchers of endpoints are also notified of wanted event types', async (t) => {
    const opened = await open(t);
    let count = 0;
    opened.store.watch.watch('endpoints', () => count++);
    await (await opened.another()).events.want('reader', ['trace.failed'], NOON);
    await until('the change is notified', () => count > 0);
  });

  void t.test('removes old events and continues the numbering', async (t) => {
    const opened = await open(t);
    const { events } = opened.store;
    const start = await events.open('all');
    await events.append([0, 1, 2].map((i) => aFact(String(i), { timestamp: NOON + i })));
    t.equal(await events.removeBefore(NOON + 2), 2);
    t.equal((await readAll(events, start)).length, 1);
    const { next } = await events.read(start, ALL);
    t.equal(await events.removeBefore(NOON + 3), 1);
    const { events: again } = await opened.reopen();
    await again.append([aFact('new')]);
    t.equal((await readAll(again, next)).length, 1);
  });

  void t.test('notifies watchers of new events from any process', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    let notifications = 0;
    there.watch.watch('events', () => {
      notifications++;
    });
    await here.events.append([aFact('a')]);
    await until('the notification arrives', () => notifications > 0);
  });

  void t.test('a waiting read resolves when an event is appended or the wait ends', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    const start = await here.events.open('all');
    await here.events.append([aFact('a')]);
    const over = new AbortController();
    const { events, next } = await there.events.read(start, ALL, over.signal);
    t.equal(events.length, 1, 'existing events are returned immediately');
    let isAnswered = false;
    const waiting = there.events.read(next, ALL, over.signal).finally(() => {
      isAnswered = true;
    });
    await here.events.append([]);
    await there.events.read(next, ALL);
    t.notOk(isAnswered);
    const fact = aFact('b');
    await here.events.append([fact]);
    const found = await waiting;
    t.strictSame(found.events, [storedOf(fact)]);
    const last = there.events.read(found.next, ALL, over.signal);
    over.abort();
    t.strictSame(await last, { events: [], next: found.next, hasMore: false });
    t.strictSame(await there.events.read(found.next, ALL, over.signal), await last);
    const wrong = new AbortController().signal;
    await t.rejects(there.events.read('x', ALL, wrong), RangeError);
  });
}

await onEveryControl(t, checkEventLog);
