import t from 'tap';
import { ALL_EVENTS } from '../../src/signal/event.js';
import { formatTime } from '../../src/signal/time.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { anEndpoint, anOrganization, aPrompt, aUser } from '../storage/meta-records.js';
import { openMetaTables } from '../storage/opened-meta-tables.js';

const LIMIT = { events: 1000, bytes: 1e9 };

void t.test('a prompt is told of where somebody wants that, in the transaction that makes it', async (t) => {
  const { tables, told, again } = await openMetaTables(t);
  const [member, stranger] = [aUser(), aUser()];
  for (const user of [member, stranger]) await tables.createUser(user);
  await tables.createOrganization(anOrganization('one'));
  await tables.putMember('one', member.id, 'member');
  const endpoint = anEndpoint({ event_types: ['trace.failed', 'prompt.created'] });
  await tables.createPrompt(member.id, aPrompt());
  await tables.createEndpoint('one', endpoint);
  const wanted = aPrompt({ version: 2, created_at: NOON + 5 });
  await tables.createPrompt(member.id, wanted);
  await t.rejects(tables.createPrompt(member.id, aPrompt({ version: 2 })), { name: 'ConflictError' });
  await t.rejects(tables.createPrompt(member.id, aPrompt({ id: wanted.id, version: 9 })), 'the id is taken');
  await tables.createPrompt(stranger.id, aPrompt());
  await tables.updateEndpoint('one', endpoint.id, { is_active: false }, NOON);
  await tables.createPrompt(member.id, aPrompt({ version: 3 }));
  await tables.updateEndpoint('one', endpoint.id, { is_active: true, event_types: ['trace.failed'] }, NOON);
  await tables.createPrompt(member.id, aPrompt({ version: 4 }));

  const { events, hasMore } = await tables.events.read(0, LIMIT);
  t.equal(hasMore, false);
  t.equal(events.length, 1);
  t.equal(told(), 1);
  const [entry] = events;
  t.match(entry, {
    tenant: member.id,
    event: { type: 'prompt.created', timestamp: NOON + 5, organization_id: null, endpoint_id: null },
  });
  const { id, name, version, description, is_active } = wanted;
  t.strictSame(JSON.parse(entry?.event.body ?? ''), {
    id: entry?.event.id,
    type: 'prompt.created',
    timestamp: formatTime(NOON + 5),
    data: { id, name, version, description, is_active, created_at: formatTime(NOON + 5) },
  });
  t.strictSame(await (await again()).events.read(0, LIMIT), { events, hasMore });
});

void t.test('long descriptions are told in part, without tearing a character', async (t) => {
  const { tables } = await openMetaTables(t);
  const user = aUser();
  await tables.createUser(user);
  const end = tables.interests.read([ALL_EVENTS]);
  const told = [null, '', 'x'.repeat(1000), '🪶'.repeat(1000), `x${'🪶'.repeat(999)}`];
  const odd = ODD_TEXTS.filter((text) => text.length <= 1000);
  const cut = ['x'.repeat(1001), '🪶'.repeat(1001), `x${'🪶'.repeat(5000)}`];
  const cases = [...told, ...odd, ...cut];
  for (const [i, description] of cases.entries())
    await tables.createPrompt(user.id, aPrompt({ version: i + 1, description }));
  end();
  await tables.createPrompt(user.id, aPrompt({ version: 99 }));
  const { events } = await tables.events.read(0, LIMIT);
  t.strictSame(
    events.map(({ event }) => (JSON.parse(event.body) as { data: { description: string } }).data.description),
    [...told, ...odd, ...told.slice(2)],
  );
});

void t.test('a test is for its endpoint alone, whatever that subscribes to', async (t) => {
  const { tables, told } = await openMetaTables(t);
  const organization = anOrganization('one');
  await tables.createOrganization(organization);
  await tables.createOrganization(anOrganization('two'));
  const [active, paused] = [anEndpoint({ name: '\uFEFFmine' }), anEndpoint({ is_active: false })];
  for (const endpoint of [active, paused]) await tables.createEndpoint('one', endpoint);
  t.match(await tables.testEndpoint('one', active.id, NOON), { deliveryId: String });
  t.equal(await tables.testEndpoint('one', paused.id, NOON), 'paused');
  for (const slug of ['two', 'three']) t.equal(await tables.testEndpoint(slug, active.id, NOON), null);
  t.equal(await tables.testEndpoint('one', anEndpoint().id, NOON), null);
  t.equal(told(), 1);
  const { events } = await tables.events.read(0, LIMIT);
  t.match(events, [
    {
      tenant: organization.id,
      event: { type: 'webhook.test', organization_id: organization.id, endpoint_id: active.id },
    },
  ]);
  t.strictSame((JSON.parse(events[0]?.event.body ?? '') as { data: unknown }).data, {
    endpoint_id: active.id,
    endpoint_name: '\uFEFFmine',
    organization: 'one',
  });
});

void t.test('pages hold so many events and so many bytes, and at least one', async (t) => {
  const { tables } = await openMetaTables(t);
  await tables.createOrganization(anOrganization('one'));
  const endpoint = anEndpoint();
  await tables.createEndpoint('one', endpoint);
  for (let i = 0; i < 7; i++) await tables.testEndpoint('one', endpoint.id, NOON);
  const { events: all } = await tables.events.read(0, LIMIT);
  const bytes = Buffer.byteLength(all[0]?.event.body ?? '');
  const pages = async (limit: typeof LIMIT): Promise<number[]> => {
    const sizes: number[] = [];
    for (let after = 0, hasMore = true; hasMore;) {
      const page = await tables.events.read(after, limit);
      t.strictSame(page.events, all.slice(after, after + page.events.length));
      sizes.push(page.events.length);
      after += page.events.length;
      hasMore = page.hasMore;
    }
    return sizes;
  };
  t.same(await pages({ events: 3, bytes: 1e9 }), [3, 3, 1]);
  t.same(await pages({ events: 7, bytes: 1e9 }), [7]);
  t.same(await pages({ events: 100, bytes: 0 }), [1, 1, 1, 1, 1, 1, 1]);
  t.same(await pages({ events: 100, bytes: 2 * bytes - 1 }), [2, 2, 2, 1]);
  t.same(await pages({ events: 100, bytes: 2 * bytes }), [3, 3, 1]);
});

void t.test('numbers grow, whatever failed, was removed or restarted', async (t) => {
  const { tables, again } = await openMetaTables(t);
  const user = aUser();
  await tables.createUser(user);
  tables.interests.read([ALL_EVENTS]);
  const prompt = aPrompt();
  await tables.createPrompt(user.id, prompt);
  const reader = await tables.readers.open('a', () => 0);
  t.equal(reader.entry, 1);
  await t.rejects(tables.createPrompt(user.id, aPrompt({ id: prompt.id, version: 2 })));
  await tables.createPrompt(user.id, aPrompt({ version: 2, created_at: NOON + 1 }));
  await tables.createPrompt(user.id, aPrompt({ version: 3, created_at: NOON + 2 }));
  const { events } = await tables.events.read(reader.entry, LIMIT);
  t.strictSame(
    events.map(({ event }) => event.timestamp),
    [NOON + 1, NOON + 2],
  );
  const last = events.at(-1)?.entry ?? 0;
  await tables.readers.save('a', { ...reader, entry: last });
  await tables.events.removeBefore(NOON + 2);
  t.strictSame((await tables.events.read(0, LIMIT)).events, events.slice(1));
  await tables.events.removeBefore(NOON + 100);
  t.strictSame(await tables.events.read(0, LIMIT), { events: [], hasMore: false });

  const restarted = await again();
  restarted.interests.read([ALL_EVENTS]);
  const { entry } = await restarted.readers.open('a', () => 0);
  t.equal(entry, last);
  await restarted.createPrompt(user.id, aPrompt({ version: 4, created_at: NOON + 3 }));
  t.match(await restarted.events.read(entry, LIMIT), { events: [{ event: { timestamp: NOON + 3 } }] });
});

void t.test('a reader goes on where it was; a new one behind everything', async (t) => {
  const { tables, again } = await openMetaTables(t);
  const cursor = await tables.readers.open('a', () => 41);
  t.equal(cursor.commit, 41);
  t.strictSame(await tables.readers.open('a', () => 99), cursor, 'noted at once');
  t.strictSame(await (await again()).readers.open('a', () => 99), cursor);
  const later = { commit: 43, place: 0, entry: 7 };
  for (let i = 0; i < 50; i++) await tables.readers.save('a', { ...later, place: 50 - i });
  await tables.readers.save('a', later);
  await tables.readers.open('b', () => 12);
  await tables.readers.save('b', cursor);
  const restarted = await again();
  t.strictSame(await restarted.readers.open('a', () => 99), later);
  t.strictSame(await restarted.readers.open('b', () => 99), cursor);
  t.equal((await restarted.readers.open('c', () => 99)).entry, 7, 'no number comes again');
});
