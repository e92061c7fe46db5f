import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { anEndpoint } from '../storage/duckdb/meta-records.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, type OpenControl } from './control-stores.js';
import {
  HOUR,
  MINUTE,
  RULES,
  anEvent,
  anOwner,
  count,
  failure,
  idOf,
  only,
  request,
  result,
  some,
} from './delivery-records.js';

function checkDeliveries(t: Test, open: OpenControl): void {
  void t.test('queues an event once per subscribed endpoint', async (t) => {
    const { store } = await open(t);
    const one = await anOwner(store, 'one', 2);
    const two = await anOwner(store, 'two');
    await store.organizations.putMember('two', one.userId);
    const [all, paused] = [
      anEndpoint({ event_types: ['*'] }),
      anEndpoint({ is_active: false, event_types: ['*'] }),
    ];
    for (const endpoint of [all, paused]) await store.endpoints.create('two', endpoint);
    const queue = store.deliveries;
    const event = anEvent(one.userId);
    t.equal(await queue.enqueue([event, event], NOON), 4);
    t.equal(await queue.enqueue([event], NOON), 0, 'it was queued before');
    t.equal(await queue.enqueue([anEvent(one.userId, { type: 'agent.created' })], NOON), 1);
    const organization_id = two.organizationId;
    t.equal(await queue.enqueue([anEvent(organization_id, { organization_id })], NOON), 2);
    const endpoint_id = idOf(two);
    const type = 'webhook.test';
    t.equal(await queue.enqueue([anEvent(organization_id, { organization_id, endpoint_id, type })], NOON), 1);
    t.equal(await queue.enqueue([anEvent(randomUUID())], NOON), 0, 'of an unknown user');
    const { claims } = await queue.claim(request());
    t.same(
      count(claims, (claim) => claim.endpoint_id),
      new Map([
        [idOf(one, 0), 1],
        [idOf(one, 1), 1],
        [idOf(two), 3],
        [all.id, 3],
      ]),
    );
    const claim = claims.find((each) => each.event_id === event.event.id && each.endpoint_id === all.id);
    t.match(claim, {
      attempt: 1,
      step: 0,
      isManual: false,
      event_type: 'trace.failed',
      body: event.event.body,
      url: all.url,
      sealed_secret: all.sealed_secret,
    });
  });

  void t.test('results extend the history and the schedule continues', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const owner = await anOwner(store, 'one');
    const other = await anOwner(store, 'two');
    const queue = store.deliveries;
    await queue.enqueue(some(1, owner.userId), NOON);
    const first = only((await queue.claim(request())).claims);
    const id = first.delivery_id;
    t.match(await queue.read('one', id), {
      status: 'pending',
      attempt_count: 1,
      attempts: [{ attempt_number: 1, http_status_code: null, duration_ms: null, attempted_at: NOON }],
    });
    await queue.finish([failure(first, { error: 'refused', statusCode: null })], RULES);
    t.strictSame(await queue.claim(request()), { claims: [], nextDueAt: NOON + MINUTE });
    t.strictSame(await queue.stats(NOON + 2 * MINUTE), { pending: 1, overdueMs: 60_000 });
    const second = only((await queue.claim(request({ now: NOON + MINUTE }))).claims);
    t.match(second, { delivery_id: id, attempt: 2, step: 1 });
    await queue.finish([result(second)], RULES);
    await queue.finish([failure(second)], RULES);
    t.strictSame(await queue.claim(request({ now: NOON + HOUR })), { claims: [], nextDueAt: null });
    const { deliveries } = await opened.reopen();
    t.strictSame(await deliveries.read('one', id.toUpperCase()), {
      id,
      event_type: 'trace.failed',
      status: 'success',
      created_at: NOON,
      attempt_count: 2,
      hasMoreAttempts: false,
      body: first.body,
      attempts: [
        {
          attempt_number: 1,
          http_status_code: null,
          response_body: 'ok\0',
          duration_ms: 12,
          attempted_at: NOON,
          error_message: 'refused',
        },
        {
          attempt_number: 2,
          http_status_code: 200,
          response_body: 'ok\0',
          duration_ms: 12,
          attempted_at: NOON + MINUTE,
          error_message: null,
        },
      ],
    });
    t.equal(await deliveries.read('two', id), null);
    t.equal(await deliveries.list('two', idOf(owner), { offset: 0, limit: 10 }), null);
    t.strictSame(await deliveries.list('two', idOf(other), { offset: 0, limit: 10 }), {
      items: [],
      count: 0,
    });
  });

  void t.test('deleted and finally failed deliveries are not retried', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one');
    const queue = store.deliveries;
    await queue.enqueue(some(2, owner.userId), NOON);
    const { claims } = await queue.claim(request());
    const [gone, last] = claims;
    if (gone === undefined || last === undefined) throw new Error('two are due');
    await queue.finish(
      [failure(gone, { isGone: true, statusCode: 410 }), failure(last, { retryAt: null })],
      RULES,
    );
    for (const { delivery_id } of claims)
      t.match(await queue.read('one', delivery_id), { status: 'failed', attempt_count: 1 });
    t.strictSame(await queue.stats(NOON + HOUR), { pending: 0, overdueMs: 0 });
    await store.endpoints.update('one', idOf(owner), { is_active: true }, NOON);
    t.ok(await queue.retry('one', last.delivery_id));
    t.notOk(await queue.retry('two', last.delivery_id));
    t.notOk(await queue.retry('one', randomUUID()));
    const again = only((await queue.claim(request())).claims);
    t.match(again, { delivery_id: last.delivery_id, attempt: 2, isManual: true });
    await queue.finish([result(again)], RULES);
    t.match(await queue.read('one', last.delivery_id), { status: 'success', attempt_count: 2 });
  });

  void t.test('manual retries do not change the schedule', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one');
    const queue = store.deliveries;
    await queue.enqueue(some(1, owner.userId), NOON);
    const first = only((await queue.claim(request())).claims);
    for (let i = 0; i < 2; i++) await queue.retry('one', first.delivery_id);
    await queue.finish([failure(first)], RULES);
    for (const attempt of [2, 3]) {
      const claim = only((await queue.claim(request())).claims);
      t.match(claim, { attempt, isManual: true, step: 1 });
      await queue.finish([failure(claim, { retryAt: null })], { ...RULES, breakerThreshold: 99 });
    }
    t.strictSame(await queue.claim(request()), { claims: [], nextDueAt: NOON + MINUTE });
    t.match(only((await queue.claim(request({ now: NOON + MINUTE }))).claims), { attempt: 4, step: 1 });
  });

  void t.test('lists history in pages, newest first, and long attempts in parts', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one');
    const queue = store.deliveries;
    for (let i = 0; i < 5; i++) await queue.enqueue(some(1, owner.userId), NOON + i);
    const page = await queue.list('one', idOf(owner), { offset: 1, limit: 2 });
    t.equal(page?.count, 5);
    t.same(
      page?.items.map(({ created_at }) => created_at),
      [NOON + 3, NOON + 2],
    );
    const id = page?.items[0]?.id ?? '';
    for (let i = 0; i < 205; i++) {
      await queue.retry('one', id);
      const { claims } = await queue.claim(request({ now: NOON - 1 }));
      await queue.finish([result(only(claims))], RULES);
    }
    const found = await queue.read('one', id);
    const numbers = found?.attempts.map(({ attempt_number }) => attempt_number) ?? [];
    t.equal(found?.hasMoreAttempts, true);
    for (let after = numbers.at(-1); after !== undefined;) {
      const part = (await queue.readAttempts('one', id, after))?.map(({ attempt_number }) => attempt_number);
      numbers.push(...(part ?? []));
      after = part?.at(-1);
    }
    t.same(
      numbers,
      Array.from({ length: 205 }, (_, i) => i + 1),
    );
    t.equal(await queue.readAttempts('other', id, 0), null);
    t.equal(await queue.removeBefore(NOON + 4), 4);
    t.equal(await queue.read('one', id), null);
    t.equal(await queue.readAttempts('one', id, 200), null);
    t.match(await queue.list('one', idOf(owner), { offset: 0, limit: 9 }), { count: 1 });
    t.same(await queue.stats(NOON + 4), { pending: 1, overdueMs: 0 });
  });

  void t.test('repeated failures pause an endpoint and emit an event', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const owner = await anOwner(store, 'one');
    await store.endpoints.create('one', anEndpoint({ event_types: ['webhook.endpoint.disabled'] }));
    const start = await store.events.open('reader');
    const queue = store.deliveries;
    await queue.enqueue(some(5, owner.userId), NOON);
    const { claims } = await queue.claim(request({ limit: 4 }));
    const [a, b, c, d] = claims;
    if (!a || !b || !c || !d) throw new Error('five are due');
    await queue.finish([failure(a), result(b), failure(c)], RULES);
    t.match(await store.endpoints.find(idOf(owner)), { consecutive_failures: 1, is_active: true });
    await queue.retry('one', a.delivery_id);
    const manual = only((await queue.claim(request({ limit: 1 }))).claims);
    t.same(await queue.finish([failure(d), failure(manual)], RULES), [idOf(owner)]);
    t.match(await store.endpoints.find(idOf(owner)), { consecutive_failures: 3, is_active: false });
    const { events } = await store.events.read(start, { events: 10, bytes: 1e6 });
    const event = only(events);
    t.match(event, {
      tenant: owner.organizationId,
      event: { type: 'webhook.endpoint.disabled', organization_id: owner.organizationId },
    });
    t.match(JSON.parse(event.event.body), {
      data: { endpoint_id: idOf(owner), consecutive_failures: 3, url: 'https://example.com/…' },
    });
    t.equal(await queue.enqueue(events, NOON), 1, 'the other endpoint');
    t.equal(await queue.enqueue(some(1, owner.userId), NOON), 0);
    t.ok(await queue.retry('one', a.delivery_id), 'retrying has no effect');
    const later = await queue.claim(request({ now: NOON + HOUR }));
    t.not(only(later.claims).endpoint_id, idOf(owner));
  });

  void t.test('a receiver that is gone pauses its endpoint at once', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one');
    const queue = store.deliveries;
    await queue.enqueue(some(2, owner.userId), NOON);
    const { claims } = await queue.claim(request({ limit: 1 }));
    const gone = { ...failure(only(claims)), isGone: true };
    t.same(await queue.finish([gone], RULES), [idOf(owner)]);
    t.match(await store.endpoints.find(idOf(owner)), { consecutive_failures: 1, is_active: false });
    t.same((await queue.claim(request({ now: NOON + HOUR }))).claims, [], 'the other delivery waits');
  });

  void t.test('held deliveries resume spread over time, unless they are too old', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one');
    const queue = store.deliveries;
    await queue.enqueue(some(1, owner.userId), NOON - 97 * HOUR);
    await queue.enqueue(some(3, owner.userId), NOON - HOUR);
    await queue.enqueue(some(1, owner.userId), NOON + 2 * MINUTE);
    const oldest = (await queue.list('one', idOf(owner), { offset: 4, limit: 1 }))?.items[0]?.id ?? '';
    await queue.retry('one', oldest);
    await store.endpoints.update('one', idOf(owner), { is_active: false }, NOON);
    t.same(await queue.claim(request()), { claims: [], nextDueAt: null });
    t.same(await queue.stats(NOON), { pending: 5, overdueMs: 0 });
    await store.endpoints.update('one', idOf(owner), { is_active: true }, NOON);
    t.match(await queue.read('one', oldest), { status: 'failed', attempt_count: 0 });
    const taken: number[] = [];
    for (const now of [0, 20, 40, 60, 120]) {
      const { claims } = await queue.claim(request({ now: NOON + now * 1_000_000 }));
      taken.push(claims.length);
    }
    t.same(taken, [1, 1, 1, 0, 1]);
    t.ok(await store.endpoints.delete('one', idOf(owner)));
    t.same(await queue.stats(NOON), { pending: 0, overdueMs: 0 });
    t.equal(await queue.read('one', oldest), null);
  });

  void t.test('a test event goes only to its endpoint, immediately', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one', 2);
    const start = await store.events.open('reader');
    const tested = await store.endpoints.test('one', idOf(owner).toUpperCase(), NOON);
    t.equal(await store.endpoints.test('two', idOf(owner), NOON), null);
    const claim = only((await store.deliveries.claim(request())).claims);
    t.same(tested, { deliveryId: claim.delivery_id });
    t.match(claim, { endpoint_id: idOf(owner), event_type: 'webhook.test' });
    const { events } = await store.events.read(start, { events: 10, bytes: 1e6 });
    t.equal(only(events).event.id, claim.event_id);
    t.equal(await store.deliveries.enqueue(events, NOON), 0);
    await store.endpoints.update('one', idOf(owner), { is_active: false }, NOON);
    t.equal(await store.endpoints.test('one', idOf(owner), NOON), 'paused');
  });
}

await onEveryControl(t, checkDeliveries);
