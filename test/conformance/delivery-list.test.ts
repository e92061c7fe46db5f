import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { envelope } from '../../src/signal/event.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import type {
  DeliveryFilter,
  DeliveryCursor,
  ListedDelivery,
} from '../../src/storage/contracts/deliveries.js';
import { aDecision, addRule } from '../support/kept-rules.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, type OpenControl } from './control-stores.js';
import {
  HOUR,
  MINUTE,
  RULES,
  anEvent,
  anOwner,
  failure,
  idOf,
  only,
  request,
  result,
  some,
} from './delivery-records.js';

type Follow = Pick<ControlStore, 'deliveries'>;

/** All matching deliveries, read in pages of `limit`. */
async function all(
  { deliveries }: Follow,
  filter: DeliveryFilter,
  limit = 2,
  slug = 'one',
): Promise<readonly ListedDelivery[]> {
  const found: ListedDelivery[] = [];
  for (let after: DeliveryCursor | null = null; ;) {
    const page = await deliveries.follow(slug, filter, { after, limit });
    found.push(...page.items);
    if (page.items.length > limit) throw new Error('too many on a page');
    if (page.next === null) return found;
    after = page.next;
  }
}

function aboutTrace(tenant: string, id: string) {
  const event = anEvent(tenant);
  const head = { id: event.event.id, type: 'trace.failed', timestamp: NOON } as const;
  return { tenant, event: { ...event.event, body: envelope(head, { trace_id: id }) } };
}

function checkList(t: Test, open: OpenControl): void {
  void t.test('lists deliveries of an organization by event and result', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const owner = await anOwner(store, 'one', 2);
    const other = await anOwner(store, 'two');
    const queue = store.deliveries;
    const trace = randomUUID();
    const rule = await addRule(store, owner.userId);
    const firing = aDecision(rule, { traceIds: [trace] });
    await store.alerts.recordFirings([firing]);
    const fired = anEvent(owner.userId, { id: firing.eventId, type: 'alert.fired' });
    await queue.enqueue([aboutTrace(owner.userId, trace)], NOON);
    await queue.enqueue([anEvent(owner.userId, { type: 'agent.created' })], NOON + 1);
    await queue.enqueue([aboutTrace(other.userId, trace)], NOON + 2);
    const listed = await all(store, {});
    // No endpoint subscribes to agents.
    t.same(
      listed.map(({ event_type }) => event_type),
      ['trace.failed', 'trace.failed'],
    );
    t.match(listed[0], {
      status: 'pending',
      attempt_count: 0,
      subject: { kind: 'trace', id: trace },
    });
    await queue.enqueue([anEvent(owner.userId, { ...fired.event })], NOON + 3);
    t.equal(
      (await all(store, { traceId: trace.toUpperCase() })).length,
      4,
      'includes the alert with this evidence',
    );
    t.same(
      (await all(store, { eventType: 'alert.fired' })).map(({ subject }) => subject),
      [null, null],
      'the body does not contain the trace',
    );
    t.equal((await all(store, { endpointId: idOf(owner, 1).toUpperCase() })).length, 2);
    t.equal((await all(store, { endpointId: idOf(other) })).length, 0, 'an endpoint of another organization');
    t.equal((await all(store, { traceId: randomUUID() })).length, 0);
    t.equal((await all(store, {}, 2, 'nobody')).length, 0);

    const { claims } = await queue.claim(request({ now: NOON + 3 }));
    const [good, bad] = claims.filter(({ endpoint_id }) => endpoint_id !== idOf(other));
    if (!good || !bad) throw new Error('there is less than was queued');
    await queue.finish([result(good), failure(bad, { retryAt: null })], RULES);
    const ids = async (filter: DeliveryFilter) => (await all(store, filter)).map(({ id }) => id);
    t.same(await ids({ status: 'success' }), [good.delivery_id]);
    t.same(await ids({ status: 'failed' }), [bad.delivery_id]);
    t.equal((await ids({ status: 'pending' })).length, 2);
    await queue.retry('one', good.delivery_id);
    t.ok((await ids({ status: 'pending' })).includes(good.delivery_id), 'it is pending again');
    await opened.reopen();
  });

  void t.test('pages are consistent while deliveries are added', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one', 1);
    await store.deliveries.enqueue(some(5, owner.userId), NOON);
    const first = await store.deliveries.follow('one', {}, { after: null, limit: 3 });
    await store.deliveries.enqueue(some(4, owner.userId), NOON + 1);
    const rest = await store.deliveries.follow('one', {}, { after: first.next, limit: 3 });
    t.equal(rest.next, null);
    const ids = [...first.items, ...rest.items].map(({ id }) => id);
    t.equal(new Set(ids).size, 5);
    t.same(ids, [...ids].sort().reverse(), 'the newest first');
    t.equal((await all(store, { status: 'success' })).length, 0);
  });

  void t.test('reports changes in order with their current state', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one');
    const queue = store.deliveries;
    await queue.enqueue(some(1, owner.userId), NOON);
    const begin = await queue.changes(null);
    t.same([begin.deliveries, begin.lost], [[], 0], 'changes from now on');
    const since = async (after: string) => (await queue.changes(after)).deliveries;
    t.same(await since(begin.next), []);
    const end = new AbortController();
    const changes = queue.changes(begin.next, end.signal);
    const first = only((await queue.claim(request())).claims);
    t.same(await since(begin.next), [], 'a claim is not a change');
    await queue.finish([failure(first)], RULES);
    const { deliveries, next } = await changes;
    t.match(deliveries, [
      {
        id: first.delivery_id,
        org_slug: 'one',
        endpoint_id: idOf(owner),
        event_type: 'trace.failed',
        status: 'pending',
        attempt_count: 1,
      },
    ]);
    t.equal(deliveries.length, 1);
    const second = only((await queue.claim(request({ now: NOON + MINUTE }))).claims);
    await queue.enqueue(some(1, owner.userId), NOON + 1);
    await queue.finish([result(second)], RULES);
    await queue.finish([result(second)], RULES);
    const both = await since(next);
    t.match(both, [{ status: 'pending' }, { id: first.delivery_id, status: 'success', attempt_count: 2 }]);
    t.equal(both.length, 2, 'a result without effect is not reported');
    const last = (await queue.changes(next)).next;
    await queue.retry('one', first.delivery_id);
    await queue.retry('two', both[0]?.id ?? '');
    t.match(await since(last), [{ id: first.delivery_id, status: 'pending' }]);
    t.equal((await since(last)).length, 1);
    const retried = (await queue.changes(last)).next;
    const tested = await store.endpoints.test('one', idOf(owner), NOON);
    t.match(await since(retried), [
      { event_type: 'webhook.test', ...(tested !== 'paused' && { id: tested?.deliveryId }) },
    ]);
    const quiet = queue.changes((await queue.changes(retried)).next, end.signal);
    end.abort();
    t.same((await quiet).deliveries, [], 'a canceled wait returns nothing');
  });

  void t.test('changes by another process are also reported', async (t) => {
    const control = await open(t);
    const { store } = control;
    const owner = await anOwner(store, 'one');
    const other = (await control.another()).deliveries;
    const { next } = await other.changes(null);
    const end = new AbortController();
    const changes = other.changes(next, end.signal);
    await store.deliveries.enqueue(some(1, owner.userId), NOON);
    const { deliveries, lost } = await changes;
    end.abort();
    t.match(deliveries, [{ org_slug: 'one', status: 'pending', attempt_count: 0 }]);
    t.same([deliveries.length, lost], [1, 0]);
  });

  void t.test('retries many deliveries once each', async (t) => {
    const { store } = await open(t);
    const owner = await anOwner(store, 'one', 2);
    const queue = store.deliveries;
    const wanted = { endpointId: idOf(owner).toUpperCase(), status: 'failed', since: NOON } as const;
    await queue.enqueue(some(2, owner.userId), NOON - HOUR);
    await queue.enqueue(some(600, owner.userId), NOON);
    const every = { limit: 5000, perEndpoint: 5000, perOrganization: 5000, perHost: 5000 };
    const { claims } = await queue.claim(request(every));
    const lasting = { ...RULES, breakerThreshold: 1e6 };
    await queue.finish(
      claims.map((claim) => failure(claim, { retryAt: null })),
      lasting,
    );
    t.same(await queue.retrySome('one', { ...wanted, limit: 550 }), { queued: 550, hasMore: true });
    t.same(await queue.retrySome('one', { ...wanted, limit: 550 }), { queued: 50, hasMore: false });
    t.same(await queue.retrySome('one', { ...wanted, limit: 550 }), { queued: 0, hasMore: false });
    const again = (await queue.claim(request(every))).claims;
    t.equal(again.length, 600, 'neither older ones nor those of the other endpoint');
    t.ok(again.every(({ endpoint_id, isManual }) => endpoint_id === idOf(owner) && isManual));
    t.ok(again.every(({ attempt }) => attempt === 2));

    await queue.finish(
      again.map((claim) => failure(claim)),
      lasting,
    );
    t.same(await queue.retrySome('one', { ...wanted, limit: 9 }), { queued: 9, hasMore: true });
    await queue.enqueue(some(1, owner.userId), NOON + 1);
    const one = only(
      (await queue.claim(request({ now: NOON + 1, limit: 1000, perEndpoint: 1000 }))).claims.filter(
        ({ endpoint_id, isManual }) => endpoint_id === idOf(owner) && !isManual,
      ),
    );
    await queue.finish([failure(one, { retryAt: NOON + HOUR })], lasting);
    const pending = { ...wanted, status: 'pending', since: NOON + 1, limit: 9 } as const;
    t.same(await queue.retrySome('one', pending), { queued: 1, hasMore: false }, 'before its time');
    t.same(await queue.retrySome('one', pending), { queued: 0, hasMore: false });
    const due = (await queue.claim(request({ now: NOON + 2 }))).claims;
    t.ok(due.some(({ delivery_id }) => delivery_id === one.delivery_id));

    t.equal(await queue.retrySome('two', { ...wanted, limit: 9 }), null);
    t.equal(await queue.retrySome('one', { ...wanted, endpointId: randomUUID(), limit: 9 }), null);
    await store.endpoints.update('one', idOf(owner), { is_active: false }, NOON);
    t.equal(await queue.retrySome('one', { ...wanted, limit: 9 }), 'paused');
  });
}

await onEveryControl(t, checkList);
