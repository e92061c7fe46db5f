import { randomUUID } from 'node:crypto';
import t from 'tap';
import { anOrganization } from '../storage/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { DeliveryPlace, failure, success } from './delivery-place.js';

const SECOND = 1_000_000;

void t.test('an event goes to the active endpoints of its owner that want it, once', async (t) => {
  const place = await DeliveryPlace.open(t);
  const { store } = place;
  const others = anOrganization('others');
  await store.createOrganization(others);
  const [all, some, none, paused] = [
    await place.endpoint(),
    await place.endpoint({ event_types: ['agent.created', 'trace.failed'] }),
    await place.endpoint({ event_types: ['agent.created', 'trace'] }),
    await place.endpoint({ is_active: false }),
  ];
  const theirs = { ...all, id: randomUUID() };
  await store.createEndpoint('others', theirs);

  const event = place.event();
  t.equal(await place.add(event, place.event({ type: 'trace.completed' }), event), 3);
  t.equal(await place.add(event), 0, 'a repeat');
  const late = await place.endpoint();
  t.equal(await place.add(event), 0, 'an endpoint that was made after it');
  const counts = [];
  for (const endpoint of [all, some, none, paused, late]) counts.push((await place.list(endpoint)).length);
  t.same(counts, [2, 1, 0, 0, 0]);

  const ofOthers = place.event({ organization_id: others.id });
  t.equal(await place.add(ofOthers), 1, 'the event of an organization goes to that one alone');
  const test = { type: 'webhook.test' as const, endpoint_id: none.id };
  t.equal(await place.add(place.event(test)), 1, 'whatever it subscribes to');
  t.equal(await place.add(place.event({ ...test, endpoint_id: paused.id })), 0);
  t.equal(await place.add(place.event({ ...test, endpoint_id: theirs.id })), 0, "another organization's");
  t.equal(await store.addDeliveries({ tenant: randomUUID(), items: [place.event()] }, place.now), 0);
  t.equal(await place.add(), 0);
  await store.putMember('others', place.user, 'member');
  t.equal(await place.add(place.event()), 4);
  await place.opened.reopen();
  t.equal(await place.add(event, ofOthers), 0, 'after a restart, too');
});

void t.test('a test is queued with its event, and readers that bring the event add nothing', async (t) => {
  const place = await DeliveryPlace.open(t);
  const { store } = place;
  const endpoint = await place.endpoint({ event_types: ['none.such'] });
  const cursor = await store.openEventReader('one');
  let calls = 0;
  const end = store.watchDeliveries(() => calls++);
  const tested = await store.testEndpoint(place.slug, endpoint.id, place.now);
  if (tested === null || tested === 'paused') throw new Error('the endpoint is active');
  t.equal(calls, 1, 'who sends is told');
  end();
  t.match(await place.list(endpoint), [
    { id: tested.deliveryId, event_type: 'webhook.test', status: 'pending' },
  ]);
  const { events } = await store.readEvents(cursor, { events: 10, bytes: 1e6 });
  t.match(events, [{ event: { type: 'webhook.test', endpoint_id: endpoint.id } }]);
  const bring = async () => {
    let added = 0;
    for (const { tenant, event } of events)
      added += await place.store.addDeliveries({ tenant, items: [event] }, place.now);
    return added;
  };
  t.equal(await bring(), 0);
  await place.opened.reopen();
  t.equal(await bring(), 0, 'after a restart, too');
  const claim = await place.claimOne();
  t.match(claim, { delivery_id: tested.deliveryId, body: events[0]?.event.body });
});

void t.test('what belongs to another organization is not there', async (t) => {
  const place = await DeliveryPlace.open(t);
  const { store } = place;
  await store.createOrganization(anOrganization('others'));
  const endpoint = await place.endpoint();
  await place.add(place.event());
  const [queued] = await place.list(endpoint);
  const id = queued?.id ?? '';
  const page = { offset: 0, limit: 10 };
  t.equal(await store.listDeliveries('others', endpoint.id, page), null);
  t.equal(await store.listDeliveries('nobody', endpoint.id, page), null);
  t.equal(await store.listDeliveries(place.slug, randomUUID(), page), null);
  t.equal(await store.readDelivery('others', id), null);
  t.equal(await store.readDelivery(place.slug, randomUUID()), null);
  t.equal(await store.retryDelivery('others', id), false);
  t.equal(await store.retryDelivery(place.slug, randomUUID()), false);
  t.equal(await store.retryDelivery(place.slug, id), true);
});

void t.test('pages of a list, the newest first', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  t.same(await place.list(endpoint), []);
  const events = Array.from({ length: 5 }, () => place.event());
  await place.add(...events.slice(0, 3));
  place.now += 1;
  await place.add(...events.slice(3));
  const bodies = [];
  for (const { id } of await place.list(endpoint)) bodies.push((await place.detail(id)).body);
  t.same(bodies, events.map(({ body }) => body).reverse());
  const all = await place.list(endpoint);
  const page = { offset: 1, limit: 2 };
  t.same(await place.store.listDeliveries(place.slug, endpoint.id, page), {
    items: all.slice(1, 3),
    count: 5,
  });
  t.same(await place.store.listDeliveries(place.slug, endpoint.id, { offset: 5, limit: 2 }), {
    items: [],
    count: 5,
  });
});

void t.test('a deleted endpoint takes its history along', async (t) => {
  const place = await DeliveryPlace.open(t);
  const [endpoint, other] = [await place.endpoint(), await place.endpoint()];
  const event = place.event();
  await place.add(event);
  const { claims } = await place.claim();
  t.equal(await place.store.deleteEndpoint(place.slug, endpoint.id), true);
  t.same(
    await place.finish(
      claims.map((claim) => failure(claim, place.now)),
      1,
    ),
    [other.id],
  );
  for (const { delivery_id, endpoint_id } of claims) {
    const found = await place.store.readDelivery(place.slug, delivery_id);
    t.equal(found === null, endpoint_id === endpoint.id);
  }
  t.equal((await place.store.deliveryFigures(place.now)).pending, 1);
  t.equal(await place.add(event), 0);
});

void t.test('deliveries are removed when they are old, whatever became of them', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  const [old, young] = [place.event(), place.event()];
  await place.add(old, place.event());
  const { claims } = await place.claim();
  const [done, open] = claims;
  if (done === undefined || open === undefined) throw new Error('there are two');
  await place.finish([success(done)]);
  place.now += SECOND;
  await place.add(young);
  t.equal(await place.store.removeDeliveries(place.now - SECOND), 0);
  t.equal(await place.store.removeDeliveries(place.now), 2);
  t.equal(await place.store.removeDeliveries(place.now), 0);
  t.same(await place.finish([failure(open, place.now)], 1), []);
  t.match(await place.list(endpoint), [{ status: 'pending', attempt_count: 0 }]);
  t.equal((await place.store.deliveryFigures(place.now)).pending, 1);
  t.equal(await place.add(young), 0);
  t.equal(await place.add(old), 1, 'and with them that their event was taken');
});

void t.test('any text comes back as it was', async (t) => {
  const place = await DeliveryPlace.open(t);
  await place.endpoint();
  const texts = [...ODD_TEXTS, 'a\u0000b', '\ufeffmark', `'"\\`, '\ud83d\ude00'];
  const events = texts.map((text) => place.event({ body: JSON.stringify({ data: text.toWellFormed() }) }));
  await place.add(...events);
  const { claims } = await place.claim();
  t.same(claims.map(({ body }) => body).sort(), events.map(({ body }) => body).sort());
  await place.finish(
    claims.map((claim, i) => failure(claim, null, { responseBody: texts[i] ?? '', error: texts[i] ?? '' })),
    1000,
  );
  for (const [i, { delivery_id }] of claims.entries()) {
    const [attempt] = (await place.detail(delivery_id)).attempts;
    t.equal(attempt?.response_body, texts[i]?.toWellFormed());
    t.equal(attempt?.error_message, texts[i]?.toWellFormed());
  }
  const [claim] = claims;
  await place.store.retryDelivery(place.slug, claim?.delivery_id ?? '');
  const half = await place.claimOne();
  await place.finish([success(half, { responseBody: 'half a \ud83d pair' })]);
  t.equal((await place.detail(half.delivery_id)).attempts[1]?.response_body, 'half a \ufffd pair');
});

void t.test('whoever waits is told of what may be due', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  let told = 0;
  const end = place.store.watchDeliveries(() => told++);
  const tells = async (what: string, work: Promise<unknown>, count: number): Promise<void> => {
    told = 0;
    await work;
    t.equal(told, count, what);
  };
  await tells('a delivery', place.add(place.event()), 1);
  await tells(
    'an event that nobody wants',
    place.store.addDeliveries({ tenant: randomUUID(), items: [place.event()] }, 0),
    0,
  );
  const claim = await place.claimOne();
  await tells('a result', place.finish([success(claim)]), 0);
  await tells('a retry', place.store.retryDelivery(place.slug, claim.delivery_id), 1);
  await tells('a retry of nothing', place.store.retryDelivery(place.slug, randomUUID()), 0);
  const change = { url: 'https://example.net/' };
  await tells('another URL', place.store.updateEndpoint(place.slug, endpoint.id, change, place.now), 1);
  await tells(
    'a pause',
    place.store.updateEndpoint(place.slug, endpoint.id, { is_active: false }, place.now),
    0,
  );
  await tells(
    'its end',
    place.store.updateEndpoint(place.slug, endpoint.id, { is_active: true }, place.now),
    1,
  );
  end();
  await tells('nobody', place.add(place.event()), 0);
});

void t.test('targets that senders may reach', async (t) => {
  const { store } = await DeliveryPlace.open(t);
  t.same(store.allowedTargets, []);
  const first = store.announceTargets(['10.0.0.0/8']);
  const second = store.announceTargets(['10.0.0.0/8', '127.0.0.0/8']);
  t.same(store.allowedTargets, ['10.0.0.0/8', '127.0.0.0/8']);
  second();
  t.same(store.allowedTargets, ['10.0.0.0/8']);
  first();
  t.same(store.allowedTargets, []);
});

void t.test('a delivery that was attempted very often is read in parts', async (t) => {
  const place = await DeliveryPlace.open(t);
  await place.endpoint();
  await place.add(place.event());
  const first = await place.claimOne();
  const { delivery_id } = first;
  let claim = first;
  for (let ended = 0; ended < 205; ended++) {
    await place.finish([success(claim)]);
    await place.store.retryDelivery(place.slug, delivery_id);
    claim = await place.claimOne();
  }
  const { attempts, attempt_count, furtherAttempts } = await place.detail(delivery_id);
  t.equal(attempt_count, 206);
  t.equal(attempts.length, 200);
  const all = [...attempts];
  for await (const further of furtherAttempts ?? []) all.push(...further);
  t.strictSame(
    all.map(({ attempt_number }) => attempt_number),
    Array.from({ length: 206 }, (_, i) => i + 1),
  );
  t.equal(all.at(-1)?.duration_ms, null, 'the last one is under way');

  const begun = await place.detail(delivery_id);
  await place.store.removeDeliveries(place.now + SECOND);
  const rest = begun.furtherAttempts?.[Symbol.asyncIterator]();
  await t.rejects(
    async () => await rest?.next(),
    { code: 'storage_unavailable', detail: /was removed/ },
    'a list that lost its source does not end as if it were whole',
  );
});
