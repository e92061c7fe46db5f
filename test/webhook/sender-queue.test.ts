import { MessageChannel, type MessagePort } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { ClaimRequest, DeliveryClaim, SenderLimits } from '../../src/storage/delivery-store.js';
import { SenderQueue } from '../../src/storage/sender-queue.js';
import type { ThreadMessage } from '../../src/worker/thread-protocol.js';
import { until } from '../support/until.js';
import { DeliveryPlace, failure, success } from './delivery-place.js';

const ROOMY: SenderLimits = { limit: 100, perEndpoint: 100, perOrganization: 100 };
const RULES = { now: 0, breakerThreshold: 20 };

/** A sender of a place's deliveries, as the thread of the exporter is one. */
async function openSender(
  t: Test,
  place: DeliveryPlace,
  limits: SenderLimits = ROOMY,
  through: (port: MessagePort) => MessagePort = (port) => port,
) {
  const given: DeliveryClaim[] = [];
  const port = await place.store.openSender(limits);
  const queue = new SenderQueue(through(port), (claims) => given.push(...claims));
  t.teardown(() => {
    queue.close();
  });
  return {
    queue,
    given,
    arrived: (count: number) => until(`${count} are given`, () => given.length === count),
    claim: async (held: ClaimRequest['held'], changes: Partial<ClaimRequest> = {}) =>
      await queue.claimDeliveries({ ...limits, now: place.now, held, ...changes }),
  };
}

/** Lets a port's notices wait until `release`; calls and answers go on. */
function holdNotices(port: MessagePort) {
  const { port1, port2 } = new MessageChannel();
  const waiting: ThreadMessage[] = [];
  port1.on('message', (calls: unknown) => {
    port.postMessage(calls);
  });
  port.on('message', (messages: readonly ThreadMessage[]) => {
    waiting.push(...messages.filter(({ kind }) => kind === 'notice'));
    port1.postMessage(messages.filter(({ kind }) => kind !== 'notice'));
  });
  port1.on('close', () => {
    port.close();
  });
  const release = (): void => {
    port1.postMessage(waiting.splice(0));
  };
  return { port: port2, waiting, release };
}

void t.test('what is queued is given at once, and nobody is called to ask for it', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  const sender = await openSender(t, place);
  let calls = 0;
  t.teardown(place.store.watchDeliveries(() => calls++));
  const events = [place.event(), place.event()];
  await place.add(...events);
  await sender.arrived(2);
  t.equal(calls, 0);
  t.match(sender.given, [
    { lease: 1, attempt: 1, endpoint_id: endpoint.id, url: endpoint.url, event_id: events[0]?.id },
    { lease: 1, attempt: 1, sealed_secret: endpoint.sealed_secret, event_id: events[1]?.id },
  ]);
  t.match(await sender.claim(sender.given), { claims: [], nextDueAt: null });
  await sender.queue.finishDeliveries(
    sender.given.map((claim) => success(claim)),
    RULES,
  );
  t.same(
    (await place.list(endpoint)).map(({ status }) => status),
    ['success', 'success'],
  );
  await place.add();
  t.equal(sender.given.length, 2);
});

void t.test('what is given holds also while it is on its way, and no longer than it is named', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  let notices: ReturnType<typeof holdNotices> | undefined;
  const sender = await openSender(t, place, ROOMY, (port) => (notices = holdNotices(port)).port);
  await place.add(place.event());
  await until('it was given', () => notices?.waiting.length === 1);
  t.same((await sender.claim([])).claims, [], 'the sender knows nothing of it yet');
  notices?.release();
  await sender.arrived(1);
  t.same((await sender.claim(sender.given)).claims, []);
  const [queued] = await place.list(endpoint);
  t.match((await place.detail(queued?.id ?? '')).attempts, [{ attempt_number: 1, error_message: null }]);

  t.match((await sender.claim([])).claims, [{ lease: 2, attempt: 2 }], 'it heard of it, and has it no more');
  t.match((await place.detail(queued?.id ?? '')).attempts, [
    { attempt_number: 1, error_message: 'interrupted: nobody is making it' },
    { attempt_number: 2, error_message: null },
  ]);
});

void t.test('no more is given and claimed together than the limits allow', async (t) => {
  const place = await DeliveryPlace.open(t);
  await place.endpoint();
  await place.endpoint();
  const sender = await openSender(t, place, { limit: 3, perEndpoint: 2, perOrganization: 3 });
  await place.add(place.event(), place.event());
  await sender.arrived(3);
  const [first] = sender.given;
  if (first === undefined) throw new Error('three were given');
  const ofFirst = sender.given.filter(({ endpoint_id: id }) => id === first.endpoint_id);
  t.ok(ofFirst.length <= 2);
  t.same((await sender.claim(sender.given, { limit: 10 })).claims, [], 'there is no room');
  await place.add(place.event());
  t.same((await sender.claim(sender.given, { limit: 10 })).claims, []);
  t.equal(sender.given.length, 3, 'nor is more given');

  await sender.queue.finishDeliveries([success(first)], RULES);
  const others = sender.given.filter((claim) => claim !== first);
  const { claims } = await sender.claim(others, { limit: 10 });
  t.equal(claims.length, 1, 'one place was free');
  await place.add(place.event());
  t.same((await sender.claim([...others, ...claims])).claims, []);
  t.equal(sender.given.length, 3);
});

void t.test('after the end of what is given, others are called, and it is claimed', async (t) => {
  const place = await DeliveryPlace.open(t);
  await place.endpoint();
  const sender = await openSender(t, place);
  let calls = 0;
  t.teardown(place.store.watchDeliveries(() => calls++));
  const before = place.add(place.event());
  await before;
  await sender.queue.endPushes();
  t.equal(sender.given.length, 1, 'what came before it has arrived');
  await place.add(place.event());
  t.equal(calls, 1);
  t.match((await sender.claim(sender.given)).claims, [{ lease: 1 }]);
  t.equal(sender.given.length, 1);
});

void t.test('the next sender takes over: what the one before has is interrupted and due again', async (t) => {
  const place = await DeliveryPlace.open(t);
  const endpoint = await place.endpoint();
  const first = await openSender(t, place);
  await place.add(place.event());
  await first.arrived(1);
  const second = await openSender(t, place);
  const { claims } = await second.claim([]);
  t.match(claims, [{ delivery: first.given[0]?.delivery, lease: 2, attempt: 2 }]);
  await first.queue.finishDeliveries(
    first.given.map((claim) => failure(claim, null)),
    RULES,
  );
  t.match(await place.list(endpoint), [{ status: 'pending' }], 'what the first one tells counts no more');

  first.queue.close();
  await place.add(place.event());
  await second.arrived(1);
  t.equal(first.given.length, 1);
  await second.queue.finishDeliveries(
    [...claims, ...second.given].map((claim) => success(claim)),
    RULES,
  );
  t.match(await place.list(endpoint), [{ status: 'success' }, { status: 'success' }]);
});

void t.test('a sender is told that its store is closed', async (t) => {
  const place = await DeliveryPlace.open(t);
  const sender = await openSender(t, place);
  await sender.claim([]);
  await place.opened.close();
  await until('it is told', async () => {
    const error = await sender.claim([]).catch((reason: unknown) => reason);
    return error instanceof Error && error.message === 'the store is closed';
  });
});
