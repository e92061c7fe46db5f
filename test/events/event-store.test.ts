import fc from 'fast-check';
import t from 'tap';
import { ALL_EVENTS } from '../../src/signal/event.js';
import type { EventCursor, EventPageLimit, StoredEvent } from '../../src/storage/event-store.js';
import { neverDiffers, same } from '../support/property.js';
import { aTrace, DAY, NOON } from '../support/run-records.js';
import { anEndpoint, anOrganization, aPrompt } from '../storage/meta-records.js';
import { TestStore } from '../storage/test-store.js';
import { readAll, wholeOrder, type Orders } from './read-events.js';

const RECEIVED = { receivedAt: NOON };
const LIMIT = { events: 1000, bytes: 1e9 };

void t.test('a reader is called after commits of events, and only then', async (t) => {
  const { store, addUser } = await openedStore(t);
  const tenant = await addUser();
  let calls = 0;
  const count = (): void => {
    calls++;
  };
  const ends = [store.watchEvents(count), store.watchEvents(count)];
  await store.writeTraces({ tenant, items: [aTrace(1)] }, RECEIVED);
  await store.createPrompt(tenant, aPrompt());
  t.equal(calls, 0, 'nobody wants any');
  const end = await store.wantEvents(['trace.completed', 'prompt.created']);
  await store.writeTraces({ tenant, items: [aTrace(1)] }, RECEIVED);
  t.equal(calls, 2);
  await store.writeTraces({ tenant, items: [aTrace(1, { status: 'failed' })] }, RECEIVED);
  t.equal(calls, 2);
  await store.createPrompt(tenant, aPrompt({ version: 2 }));
  t.equal(calls, 4);
  await t.rejects(store.createPrompt(tenant, aPrompt({ version: 2 })), { name: 'ConflictError' });
  t.equal(calls, 4);
  ends[0]?.();
  await store.createPrompt(tenant, aPrompt({ version: 3 }));
  t.equal(calls, 5);
  await end();
  await store.createPrompt(tenant, aPrompt({ version: 4 }));
  await store.writeTraces({ tenant, items: [aTrace(1)] }, RECEIVED);
  t.equal(calls, 5);
  ends[1]?.();
});

void t.test('a new reader begins with what comes from now on, and goes on there', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.store.wantEvents([ALL_EVENTS]);
  const write = async (version: number): Promise<void> => {
    await opened.store.writeTraces({ tenant, items: [aTrace(1)] }, RECEIVED);
    await opened.store.createPrompt(tenant, aPrompt({ version }));
  };
  const beginning = await opened.store.openEventReader('another');
  await write(1);
  const cursor = await opened.store.openEventReader('one');
  await opened.reopen();
  await opened.store.wantEvents([ALL_EVENTS]);
  t.strictSame(await opened.store.openEventReader('one'), cursor, 'though it has read nothing yet');
  t.strictSame(await opened.store.readEvents(cursor, LIMIT), { events: [], cursor, hasMore: false });
  await write(2);
  const page = await opened.store.readEvents(cursor, LIMIT);
  t.strictSame(page.events.map(({ tenant, event }) => `${tenant} ${event.type}`).sort(), [
    `${tenant} prompt.created`,
    `${tenant} trace.completed`,
  ]);
  await opened.store.saveEventProgress('one', page.cursor);
  await opened.store.saveEventProgress('another', beginning);
  await opened.reopen();
  t.strictSame(await opened.store.openEventReader('one'), page.cursor);
  const again = await opened.store.readEvents(await opened.store.openEventReader('another'), LIMIT);
  t.equal(again.events.length, 5, 'with the agent, which came into being once');
  t.strictSame(again.cursor, page.cursor);
});

void t.test('events of organizations carry whose they are', async (t) => {
  const { store } = await openedStore(t);
  const organization = anOrganization('one');
  await store.createOrganization(organization);
  const endpoint = anEndpoint();
  await store.createEndpoint('one', endpoint);
  const cursor = await store.openEventReader('one');
  t.match(await store.testEndpoint('one', endpoint.id, NOON), { deliveryId: String });
  t.match((await store.readEvents(cursor, LIMIT)).events, [
    {
      tenant: organization.id,
      event: { type: 'webhook.test', organization_id: organization.id, endpoint_id: endpoint.id },
    },
  ]);
});

void t.test('a page has no more than its limit of both kinds, and each kind has its share', async (t) => {
  const { store, addUser } = await openedStore(t);
  const tenant = await addUser();
  await store.wantEvents(['trace.completed', 'prompt.created']);
  const cursor = await store.openEventReader('one');
  for (let version = 1; version <= 9; version++) await store.createPrompt(tenant, aPrompt({ version }));
  await store.writeTraces({ tenant, items: Array.from({ length: 9 }, () => aTrace(1)) }, RECEIVED);
  for (const [limit, sizes] of [
    [{ events: 6, bytes: 1e9 }, [6, 6, 6]],
    [{ events: 18, bytes: 1e9 }, [18]],
    [{ events: 17, bytes: 1e9 }, [17, 1]],
    [{ events: 1, bytes: 1e9 }, Array.from({ length: 18 }, () => 1)],
    [{ events: 100, bytes: 0 }, Array.from({ length: 18 }, () => 1)],
  ] as const) {
    const pages = await readAll(store, cursor, limit);
    t.strictSame(
      pages.map(({ events }) => events.length),
      sizes,
      JSON.stringify(limit),
    );
  }
  const [first] = await readAll(store, cursor, { events: 6, bytes: 1e9 });
  t.equal(first?.events.filter(({ event }) => event.type === 'prompt.created').length, 3);
});

void t.test('retention takes away old events of both kinds, whoever has read them', async (t) => {
  const opened = await TestStore.open(t, { eventRetentionDays: 2 });
  const { clock } = opened.settings;
  const tenant = await opened.addUser();
  await opened.store.wantEvents(['trace.completed', 'prompt.created']);
  const cursor = await opened.store.openEventReader('one');
  for (let day = 0; day < 4; day++) {
    const at = clock.now() - day * DAY;
    await opened.store.writeTraces({ tenant, items: [aTrace(1)] }, { receivedAt: at });
    await opened.store.createPrompt(tenant, aPrompt({ version: day + 1, created_at: at }));
  }
  t.equal((await opened.store.readEvents(cursor, LIMIT)).events.length, 8);
  await opened.reopen();
  let left: readonly StoredEvent[];
  do {
    await opened.store.settled();
    left = (await opened.store.readEvents(cursor, LIMIT)).events;
  } while (left.length > 4);
  t.strictSame(left.map(({ event }) => (clock.now() - event.timestamp) / DAY).sort(), [0, 0, 1, 1]);
});

/** What happens between two restarts, begun at once as far as it is written. */
interface Session {
  readonly steps: readonly Step[];
}

type Step =
  | { readonly kind: 'traces'; readonly traces: number; readonly user: number }
  | { readonly kind: 'prompt' | 'refused' | 'test'; readonly user: number }
  | { readonly kind: 'read'; readonly limit: EventPageLimit; readonly save: boolean }
  | { readonly kind: 'wait' };

const user = fc.nat(1);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('traces'), traces: fc.integer({ min: 1, max: 20 }), user }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('prompt', 'refused', 'test'), user }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('read'),
      limit: fc.record({ events: fc.integer({ min: 1, max: 30 }), bytes: fc.constantFrom(0, 2000, 1e9) }),
      save: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait') }) },
);
const sessions = fc.array(fc.record({ steps: fc.array(step, { maxLength: 20 }) }), {
  minLength: 1,
  maxLength: 3,
});

void t.test(
  'no event is skipped, comes twice or out of order, while others are written and moved',
  async (t) => {
    const opened = await TestStore.open(t);
    const users = [await opened.addUser(), await opened.addUser()];
    await opened.store.createOrganization(anOrganization('one'));
    const endpoint = anEndpoint({ event_types: ['alert.fired'] });
    await opened.store.createEndpoint('one', endpoint);
    let version = 0;
    let runs = 0;

    await neverDiffers(t, { runs: 12, ms: 4_000 }, [sessions], async (played: readonly Session[]) => {
      const reader = `reader ${++runs}`;
      const start = await opened.store.openEventReader(reader);
      let written = 0;
      /** Of each session: where it began, and what it read. */
      const readings: { readonly from: EventCursor; readonly events: StoredEvent[] }[] = [];

      for (const { steps } of played) {
        await opened.reopen();
        const { store } = opened;
        await store.wantEvents(['trace.completed', 'prompt.created']);
        const from = await store.openEventReader(reader);
        const reading = { from, events: [] as StoredEvent[] };
        readings.push(reading);
        let cursor = from;
        const writes: Promise<unknown>[] = [];
        for (const step of steps) {
          const tenant = users['user' in step ? step.user : 0] ?? '';
          if (step.kind === 'traces') {
            const items = Array.from({ length: step.traces }, () => aTrace(1));
            writes.push(store.writeTraces({ tenant, items }, RECEIVED));
            written += step.traces;
          } else if (step.kind === 'prompt') {
            writes.push(store.createPrompt(tenant, aPrompt({ version: ++version })));
            written++;
          } else if (step.kind === 'refused') {
            const prompt = aPrompt({ version: ++version });
            // The second fails after its number was given: the id is taken.
            writes.push(store.createPrompt(tenant, prompt));
            const failing = store.createPrompt(tenant, { ...prompt, version: ++version });
            writes.push(failing.catch(() => undefined));
            written++;
          } else if (step.kind === 'test') {
            writes.push(store.testEndpoint('one', endpoint.id, NOON));
            written++;
          } else if (step.kind === 'read') {
            const page = await store.readEvents(cursor, step.limit);
            reading.events.push(...page.events);
            ({ cursor } = page);
            if (step.save) await store.saveEventProgress(reader, cursor);
          } else {
            await Promise.all(writes);
          }
        }
        await Promise.all(writes);
      }

      const whole = wholeOrder(await readAll(opened.store, start, LIMIT));
      same(whole.telemetry.length + whole.others.length, written);
      same(new Set([...whole.telemetry, ...whole.others]).size, written);
      for (const { from, events } of readings) {
        const rest = wholeOrder(await readAll(opened.store, from, { events: 7, bytes: 1e9 }));
        const found = wholeOrder([{ events }]);
        for (const order of ['telemetry', 'others'] satisfies (keyof Orders)[]) {
          same(rest[order], whole[order].slice(whole[order].length - rest[order].length));
          same(found[order], rest[order].slice(0, found[order].length));
        }
      }
    });
  },
);

async function openedStore(t: Parameters<typeof TestStore.open>[0]) {
  const opened = await TestStore.open(t);
  return { store: opened.store, addUser: () => opened.addUser() };
}
