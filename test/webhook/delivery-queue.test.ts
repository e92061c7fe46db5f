import t from 'tap';
import { DeliveryPlace, failure, success } from './delivery-place.js';

const SECOND = 1_000_000;

void t.test(
  'a delivery is claimed with all that its sender needs, and its history says what came of it',
  async (t) => {
    const place = await DeliveryPlace.open(t);
    const endpoint = await place.endpoint();
    const event = place.event();
    t.equal(await place.add(event), 1);
    const [queued] = await place.list(endpoint);
    if (queued === undefined) throw new Error('it is listed');
    t.match(queued, {
      event_type: 'trace.failed',
      status: 'pending',
      created_at: place.now,
      attempt_count: 0,
    });
    t.same((await place.detail(queued.id)).attempts, []);

    const claim = await place.claimOne(1);
    t.match(claim, {
      delivery_id: queued.id,
      attempt: 1,
      isManual: false,
      step: 0,
      event_id: event.id,
      event_type: 'trace.failed',
      body: event.body,
      endpoint_id: endpoint.id,
      url: endpoint.url,
      sealed_secret: endpoint.sealed_secret,
    });
    const begun = { attempt_number: 1, attempted_at: place.now, response_body: '', error_message: null };
    t.match(await place.detail(queued.id), {
      status: 'pending',
      attempt_count: 1,
      attempts: [{ ...begun, http_status_code: null, duration_ms: null }],
    });
    t.same(await place.claim(), { claims: [], nextDueAt: null }, 'until its result comes');

    await place.finish([failure(claim, place.now + 5 * SECOND, { error: 'it said no', durationMs: 12.6 })]);
    t.same(await place.claim(), { claims: [], nextDueAt: place.now + 5 * SECOND });
    const second = await place.claimOne(5);
    t.match(second, { attempt: 2, step: 1, isManual: false });
    await place.finish([success(second)]);
    const detail = await place.detail(queued.id);
    t.match(detail, { ...queued, status: 'success', attempt_count: 2, body: event.body });
    t.match(detail.attempts, [
      {
        attempt_number: 1,
        http_status_code: 500,
        duration_ms: 13,
        response_body: 'no',
        error_message: 'it said no',
      },
      {
        attempt_number: 2,
        http_status_code: 200,
        duration_ms: 12,
        response_body: 'thanks',
        error_message: null,
      },
    ]);
    t.same(await place.claim(1_000_000), { claims: [], nextDueAt: null });
    await place.opened.reopen();
    t.same(await place.detail(queued.id), detail);
  },
);

void t.test('an endpoint with much to do holds up nobody', async (t) => {
  const place = await DeliveryPlace.open(t);
  const slow = await place.endpoint({ event_types: ['trace.failed'] });
  await place.add(...Array.from({ length: 2000 }, () => place.event()));
  const quick = await place.endpoint({ event_types: ['trace.completed'] });
  place.now += 60 * SECOND;
  await place.add(place.event({ type: 'trace.completed' }), place.event({ type: 'trace.completed' }));

  const first = await place.claim(0, { perEndpoint: 4, limit: 4 });
  t.same(
    first.claims.map(({ endpoint_id }) => endpoint_id),
    [slow.id, quick.id, slow.id, quick.id],
    'in turns, the longest overdue first',
  );
  t.ok((first.nextDueAt ?? Infinity) <= place.now, 'more is due');
  const second = await place.claim(0, { perEndpoint: 4 });
  t.same(
    second.claims.map(({ endpoint_id }) => endpoint_id),
    [slow.id, slow.id],
    'up to four at once',
  );
  t.same(await place.claim(0, { perEndpoint: 4 }), { claims: [], nextDueAt: null });
  const [one] = second.claims;
  if (one === undefined) throw new Error('there are two');
  await place.finish([success(one)]);
  t.equal((await place.claim(0, { perEndpoint: 4 })).claims.length, 1);
});

void t.test('an organization whose endpoints all hang holds up no other', async (t) => {
  const place = await DeliveryPlace.open(t);
  for (let i = 0; i < 100; i++) await place.endpoint();
  await place.add(place.event());
  const limits = { limit: 64, perEndpoint: 4, perOrganization: 32 };
  t.equal((await place.claim(0, limits)).claims.length, 32, 'half of the places');
  await place.add(place.event());
  t.same(await place.claim(600, { ...limits, limit: 32 }), { claims: [], nextDueAt: null });

  const theirs = await place.another('others');
  await place.add(place.event({ organization_id: theirs.organizationId }));
  const { claims } = await place.claim(0, { ...limits, limit: 1 });
  t.match(claims, [{ endpoint_id: theirs.endpointId }], 'though it came last');
  const full = { ...limits, limit: 31 };
  t.same(await place.claim(0, full), { claims: [], nextDueAt: null });
});

void t.test('organizations take turns, and so do the endpoints of each', async (t) => {
  const place = await DeliveryPlace.open(t);
  const [first, second] = [await place.endpoint(), await place.endpoint()];
  const theirs = await place.another('others');
  await place.add(...Array.from({ length: 3 }, () => place.event()));
  place.now += SECOND;
  for (let i = 0; i < 3; i++) await place.add(place.event({ organization_id: theirs.organizationId }));
  const ours = new Set([first.id, second.id]);
  const { claims } = await place.claim(0, { limit: 6 });
  const names = claims.map(({ endpoint_id }) => (ours.has(endpoint_id) ? 'ours' : 'theirs'));
  t.same(names, ['ours', 'theirs', 'ours', 'theirs', 'ours', 'theirs']);
  const ofOurs = claims.filter(({ endpoint_id }) => ours.has(endpoint_id));
  t.equal(new Set(ofOurs.slice(0, 2).map(({ endpoint_id }) => endpoint_id)).size, 2, 'both in turns');
});

void t.test('a claim holds as long as its sender names it, whatever the clock says', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  await place.add(place.event());
  const claim = await place.claimOne();
  for (const seconds of [120, 86_400, -200_000])
    t.same(await place.claim(seconds), { claims: [], nextDueAt: null });
  await place.finish([success(claim)]);
  t.match(await place.list(endpoint), [{ status: 'success', attempt_count: 1 }]);
});

void t.test('a claim that nobody has is given up; what is told under it is not heard', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  await place.add(place.event());
  const lost = await place.claimOne();
  place.lose(lost);
  const again = await place.claimOne();
  t.match(again, { attempt: 2, step: 0, isManual: false });
  t.same(await place.finish([success(lost)]), []);
  const [queued] = await place.list(endpoint);
  t.match(queued, { status: 'pending', attempt_count: 2 });
  t.match((await place.detail(queued?.id ?? '')).attempts, [
    { attempt_number: 1, duration_ms: null, error_message: 'interrupted: nobody is making it' },
    { attempt_number: 2, error_message: null },
  ]);
  await place.finish([success(again), failure(again, null)]);
  t.match(await place.list(endpoint), [{ status: 'success', attempt_count: 2 }]);
  t.match(await place.store.listEndpoints(place.slug), [{ consecutive_failures: 0 }], 'once only');
});

void t.test('a restart interrupts what was under way', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  await place.add(place.event());
  const before = await place.claimOne();
  await place.opened.reopen();
  t.same(await place.finish([success(before)]), []);
  t.match(await place.list(endpoint), [{ status: 'pending', attempt_count: 1 }]);
  const again = await place.claimOne();
  t.match(again, { attempt: 2, step: 0 });
  const { attempts } = await place.detail(again.delivery_id);
  t.match(attempts, [{ attempt_number: 1, error_message: 'interrupted by restart' }, { attempt_number: 2 }]);
  t.match(await place.store.listEndpoints(place.slug), [{ consecutive_failures: 0 }]);
});

void t.test('retries that are asked for', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  await place.add(place.event());
  const first = await place.claimOne();
  const id = first.delivery_id;
  const ask = async () => await place.store.retryDelivery(place.slug, id);
  await ask();
  await ask();
  t.same((await place.claim()).claims, [], 'they wait for the attempt under way');
  const due = place.now + 3600 * SECOND;
  await place.finish([failure(first, due)]);
  const second = await place.claimOne();
  t.match(second, { attempt: 2, isManual: true });
  await place.finish([failure(second, 17)]);
  const third = await place.claimOne();
  t.match(third, { attempt: 3, isManual: true });
  await place.finish([failure(third, null)]);
  t.same(await place.claim(), { claims: [], nextDueAt: due }, 'the schedule is as it was');
  t.match(await place.list(endpoint), [{ status: 'pending', attempt_count: 3 }]);

  const fourth = await place.claimOne(3600);
  t.match(fourth, { attempt: 4, isManual: false, step: 1 });
  await place.finish([success(fourth)]);
  await ask();
  t.match(await place.list(endpoint), [{ status: 'pending', attempt_count: 4 }]);
  const fifth = await place.claimOne();
  t.match(fifth, { attempt: 5, isManual: true });
  await place.finish([failure(fifth, place.now)]);
  t.match(await place.list(endpoint), [{ status: 'success', attempt_count: 5 }], 'it had succeeded before');
  t.same(await place.claim(), { claims: [], nextDueAt: null });

  await ask();
  await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: false }, place.now);
  t.match(await place.list(endpoint), [{ status: 'success' }], 'pausing drops what was asked for');
  t.equal(await ask(), true);
  await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: true }, place.now);
  t.same(await place.claim(), { claims: [], nextDueAt: null });
});

void t.test(
  'a receiver that is gone gets no more by the schedule, whoever asked for the attempt',
  async (t) => {
    const place = await DeliveryPlace.open(t);
    const endpoint = await place.endpoint();
    await place.add(place.event());
    const first = await place.claimOne();
    await place.finish([failure(first, place.now + SECOND)]);
    await place.store.retryDelivery(place.slug, first.delivery_id);
    const asked = await place.claimOne();
    await place.finish([failure(asked, null, { isGone: true, statusCode: 410 })]);
    t.match(await place.list(endpoint), [{ status: 'failed', attempt_count: 2 }]);
    t.same(await place.claim(10), { claims: [], nextDueAt: null });
  },
);

void t.test(
  'failures in a row pause an endpoint, which is an event; then its deliveries are held',
  async (t) => {
    const place = await DeliveryPlace.open(t);
    const withdraw = await place.store.wantEvents(['webhook.endpoint.disabled']);
    const cursor = await place.store.openEventReader('test');
    const [endpoint, other] = [await place.endpoint(), await place.endpoint()];
    await place.add(...Array.from({ length: 4 }, () => place.event()));
    const { claims } = await place.claim();
    const ours = claims.filter(({ endpoint_id }) => endpoint_id === endpoint.id);
    const theirs = claims.filter(({ endpoint_id }) => endpoint_id === other.id);
    const later = place.now + SECOND;
    const results = ours.map((claim, i) => (i === 1 ? success(claim) : failure(claim, later)));
    t.same(await place.finish([...results.slice(0, 3), ...theirs.map((claim) => success(claim))], 2), []);
    t.same(await place.finish(results.slice(3), 2), [endpoint.id]);
    t.match(await place.store.readEndpoint(endpoint.id), { is_active: false, consecutive_failures: 2 });
    t.match(await place.store.readEndpoint(other.id), { is_active: true, consecutive_failures: 0 });

    const { events } = await place.store.readEvents(cursor, { events: 10, bytes: 10_000 });
    t.equal(events.length, 1);
    const [{ event }] = events as [(typeof events)[number]];
    t.match(event, { type: 'webhook.endpoint.disabled', endpoint_id: null, timestamp: place.now });
    t.match((JSON.parse(event.body) as { data: object }).data, {
      endpoint_id: endpoint.id,
      endpoint_name: endpoint.name,
      url: endpoint.url,
      consecutive_failures: 2,
      disabled_at: '2026-01-15T12:00:00Z',
    });
    t.equal(await place.add(event), 1, 'it goes to the others');

    t.equal((await place.claim(100)).claims.length, 1);
    t.match(
      await place.store.deliveryFigures(place.now),
      { pending: 4, overdueMs: 0 },
      'held ones are not late',
    );
    await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: true }, place.now);
    t.match(await place.store.deliveryFigures(place.now), { pending: 4, overdueMs: 0 });
    t.equal((await place.claim()).claims.length, 1);
    t.equal((await place.claim(60)).claims.length, 2);
    await withdraw();
  },
);

void t.test('what was held is spread over a minute when its endpoint is active again', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  const set = async (is_active: boolean) => {
    await place.store.updateEndpoint(place.slug, endpoint.id, { is_active }, place.now);
  };
  await place.add(...Array.from({ length: 7 }, () => place.event()));
  const { claims } = await place.claim();
  const [underWay, ...others] = claims;
  const after = [7, 4, 6, 5, 105, 200];
  await place.finish(
    others.map((claim, i) => failure(claim, place.now + (after[i] ?? 0) * SECOND)),
    100,
  );
  await set(false);
  place.now += 50 * SECOND;
  await set(true);
  const resumed = place.now;
  if (underWay !== undefined) await place.finish([success(underWay)]);

  const found: [string, number][] = [];
  for (let next: number | null = place.now; next !== null;) {
    place.now = next;
    const { claims: some } = await place.claim();
    found.push(
      ...some.map((claim) => [claim.delivery_id, (place.now - resumed) / SECOND] as [string, number]),
    );
    await place.finish(some.map((claim) => success(claim)));
    await set(true);
    next = (await place.claim()).nextDueAt;
  }
  const dues = [1, 3, 2, 0, 4, 5].map((i) => others[i]?.delivery_id);
  t.same(
    found,
    [0, 12, 24, 36, 55, 150].map((seconds, i) => [dues[i], seconds]),
    'the longest overdue first, and none before its time',
  );
});

void t.test(
  'what was held for more than 96 hours has failed when its endpoint is active again',
  async (t) => {
    const place = await DeliveryPlace.open(t);
    const endpoint = await place.endpoint();
    await place.add(...Array.from({ length: 4 }, () => place.event()));
    const [delivered, tried, underWay] = (await place.claim(0, { limit: 3 })).claims;
    if (!delivered || !tried || !underWay) throw new Error('three are claimed');
    await place.finish([success(delivered), failure(tried, place.now + SECOND)]);
    place.now += 1;
    await place.add(place.event());
    await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: false }, place.now);
    place.now += 96 * 3600 * SECOND;
    await place.store.updateEndpoint(place.slug, endpoint.id, { name: 'still paused' }, place.now);
    const figures = async () => await place.store.deliveryFigures(place.now);
    t.match(await figures(), { pending: 4 });
    await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: true }, place.now);
    const statuses = new Map((await place.list(endpoint)).map(({ id, status }) => [id, status]));
    t.same(
      [delivered, tried, underWay].map((claim) => statuses.get(claim.delivery_id)),
      ['success', 'failed', 'pending'],
    );
    t.match(await figures(), { pending: 2, overdueMs: 0 });
    await place.finish([success(underWay)]);
    t.equal((await place.claim()).claims.length, 1);
    await place.store.retryDelivery(place.slug, tried.delivery_id);
    t.match((await place.claim()).claims, [{ delivery_id: tried.delivery_id, attempt: 2, isManual: true }]);
  },
);

void t.test('the newest URL and secret are told', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  await place.add(place.event());
  await place.store.updateEndpoint(place.slug, endpoint.id, { url: 'https://example.net/new' }, place.now);
  await place.store.rotateEndpointSecret(place.slug, endpoint.id, 'v1:another');
  t.match(await place.claimOne(), { url: 'https://example.net/new', sealed_secret: 'v1:another' });
});

void t.test(
  'a retry that was asked for and interrupted is made again, and ended where a pause finds it',
  async (t) => {
    const place = await DeliveryPlace.open(t);
    const endpoint = await place.endpoint();
    await place.add(place.event());
    const first = await place.claimOne();
    await place.finish([failure(first, null)]);
    await place.store.retryDelivery(place.slug, first.delivery_id);
    await place.claimOne();
    await place.opened.reopen();
    const third = await place.claimOne();
    t.match(third, { attempt: 3, isManual: true });
    place.lose(third);
    const fourth = await place.claimOne();
    t.match(fourth, { attempt: 4, isManual: true });

    await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: false }, place.now);
    t.match(await place.list(endpoint), [{ status: 'pending', attempt_count: 4 }], 'it is still under way');
    await place.finish([failure(fourth, null)]);
    t.match(await place.list(endpoint), [{ status: 'failed', attempt_count: 4 }]);
    t.match(await place.store.listEndpoints(place.slug), [{ consecutive_failures: 2 }], 'and counts');

    await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: true }, place.now);
    await place.store.retryDelivery(place.slug, first.delivery_id);
    await place.claimOne();
    await place.store.updateEndpoint(place.slug, endpoint.id, { is_active: false }, place.now);
    await place.opened.reopen();
    t.match(
      await place.list(endpoint),
      [{ status: 'failed', attempt_count: 5 }],
      'nothing is made again while paused',
    );
  },
);
