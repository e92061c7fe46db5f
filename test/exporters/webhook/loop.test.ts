import t from 'tap';
import { Upkeep } from '../../../src/exporters/webhook/webhook-exporter.js';
import { only } from '../../conformance/delivery-records.js';
import { openSendingPlace, settle } from '../../support/sending-place.js';
import { until } from '../../support/until.js';

const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;

void t.test('attempts each due delivery once and records it', async (t) => {
  const { put, start, open, arrived, succeeded, receiver, deliveries } = await openSendingPlace(t);
  await put();
  const { queue, counts } = start();
  await arrived(1);
  t.match(queue.claims[0], { limit: 10, perEndpoint: 4, perOrganization: 5, perHost: 4 });
  open[0]?.();
  await succeeded(1);
  await put(2);
  await arrived(3);
  open[1]?.();
  open[2]?.();
  await succeeded(3);
  t.equal(receiver.requests.length, 3);
  for (const { attempts } of await deliveries())
    t.match(attempts, [{ attempt_number: 1, http_status_code: 200 }]);
  t.same(counts, [1, 0, 1, 2, 1, 0], 'reports the pending attempts');
});

void t.test('polls nothing while nothing is due and retries on time', async (t) => {
  const { put, start, open, arrived, pass, succeeded, deliveries } = await openSendingPlace(t);
  const { queue } = start();
  await settle();
  const asked = queue.claims.length;
  await pass(10 * 60_000);
  t.equal(queue.claims.length, asked, 'nothing due');
  await put();
  await arrived(1);
  open[0]?.('500 Internal Server Error');
  await until('it is noted', async () => {
    const [delivery] = await deliveries();
    return delivery?.attempts[0]?.http_status_code === 500;
  });
  await pass(29_000);
  t.equal(open.length, 1);
  await pass(1000);
  await arrived(2);
  open[1]?.();
  await succeeded(1);
  t.match(only(await deliveries()).attempts, [{ http_status_code: 500 }, { http_status_code: 200 }]);
});

void t.test('never exceeds its slots, and a slow receiver delays no others', async (t) => {
  const options = { endpoints: 3, maxConcurrency: 20, perEndpoint: 2 };
  const { put, start, open, arrived, succeeded, receiver } = await openSendingPlace(t, options);
  await put(4);
  start();
  await arrived(5);
  await settle();
  const lines = () => receiver.requests.map(({ line }) => line.split(' ')[1]);
  t.equal(open.length, 5, 'a quarter of twenty per host');
  for (const path of ['/0', '/1', '/2']) t.ok(lines().filter((line) => line === path).length <= 2);
  for (let done = 0; done < 12; done++) {
    await until('one is under way', () => open.length > done);
    open[done]?.();
    await succeeded(done + 1);
    t.ok(open.length <= done + 6);
  }
  for (const path of ['/0', '/1', '/2']) t.equal(lines().filter((line) => line === path).length, 4);
});

void t.test('records a result again after a store failure, whether it was stored or not', async (t) => {
  const { put, start, open, arrived, clock, receiver, deliveries, logger } = await openSendingPlace(t);
  const { queue, statuses } = start();
  queue.faults.finish.push('before', 'after', 'before');
  await put();
  await arrived(1);
  open[0]?.();
  await until('the store fails', () => statuses.length === 1);
  for (const ms of [250, 500, 1000]) {
    clock.advance(ms);
    await settle();
  }
  await until('the store works', () => statuses.length === 2);
  t.strictSame(statuses, [true, false]);
  t.match(logger.lines.join('\n'), /the store is out of order/);
  t.equal(receiver.requests.length, 1, 'no second request');
  const { status, attempts } = only(await deliveries());
  t.equal(status, 'success');
  t.equal(attempts.length, 1);
});

void t.test('retries failed claims, and hints do not hasten it', async (t) => {
  const { put, start, open, arrived, clock, succeeded, deliveries } = await openSendingPlace(t);
  const { queue, statuses } = start();
  await settle();
  queue.faults.claim.push('before', 'before');
  await put();
  await settle();
  const asked = queue.claims.length;
  t.strictSame(statuses, [true]);
  await put();
  await settle();
  t.equal(queue.claims.length, asked);
  clock.advance(250);
  await settle();
  clock.advance(500);
  await arrived(2);
  for (const answer of open) answer();
  await succeeded(2);
  t.strictSame(statuses, [true, false]);
  for (const { attempts } of await deliveries()) t.equal(attempts.length, 1);
});

void t.test('repeats a lost claim after its lease', async (t) => {
  const { put, start, open, arrived, pass, succeeded, deliveries } = await openSendingPlace(t);
  const { queue } = start();
  await settle();
  queue.faults.claim.push('after');
  await put();
  await settle();
  await pass(29_000);
  t.equal(open.length, 0);
  await pass(2000);
  await arrived(1);
  open[0]?.();
  await succeeded(1);
  t.match(only(await deliveries()).attempts, [
    { attempt_number: 1, error_message: /^interrupted/ },
    { attempt_number: 2, http_status_code: 200 },
  ]);
});

void t.test('renews the lease of a slow attempt', async (t) => {
  const { put, start, open, arrived, pass, succeeded, receiver, deliveries } = await openSendingPlace(t);
  const { queue } = start();
  await put();
  await arrived(1);
  const other = start();
  queue.faults.renew.push('before');
  await pass(3 * 60_000);
  other.sending.wake();
  await settle();
  t.ok(queue.renewals.length >= 17, 'renewed every ten seconds');
  t.equal(other.queue.given, 0, 'the other gets nothing');
  open[0]?.();
  await succeeded(1);
  t.equal(receiver.requests.length, 1);
  t.match(only(await deliveries()).attempts, [{ attempt_number: 1, http_status_code: 200 }]);
  const renewed = queue.renewals.length;
  await pass(60_000);
  t.equal(queue.renewals.length, renewed, 'recorded results are not renewed');
});

void t.test('renews the lease of an unrecorded result', async (t) => {
  const { put, start, open, arrived, pass, receiver, deliveries } = await openSendingPlace(t);
  const { queue } = start();
  await put();
  await arrived(1);
  const other = start();
  queue.faults.finish.push(...Array.from({ length: 8 }, () => 'before' as const));
  open[0]?.();
  await until('it is refused once', () => queue.faults.finish.length === 7);
  await pass(2 * 60_000);
  t.equal(other.queue.given, 0);
  t.equal(receiver.requests.length, 1);
  t.match(only(await deliveries()), { status: 'success', attempts: [{ attempt_number: 1 }] });
});

void t.test('a result for a lost claim changes nothing', async (t) => {
  const { put, start, open, arrived, pass, succeeded, deliveries } = await openSendingPlace(t);
  await put();
  const { queue } = start();
  await arrived(1);
  queue.faults.renew.push('before', 'before', 'before');
  start();
  await pass(31_000);
  await arrived(2);
  open[0]?.('500 Internal Server Error');
  await until('the first sender has reported its result', async () => {
    await pass(10);
    return queue.results.length === 1;
  });
  t.match(only(await deliveries()), { status: 'pending', attempts: [{}, { http_status_code: null }] });
  open[1]?.();
  await succeeded(1);
  t.match(only(await deliveries()).attempts, [
    { attempt_number: 1, http_status_code: null, error_message: /^interrupted/ },
    { attempt_number: 2, http_status_code: 200 },
  ]);
});

void t.test('reports paused endpoints', async (t) => {
  const { put, start, open, arrived, clock, endpointIds } = await openSendingPlace(t, {
    breakerThreshold: 1,
  });
  const { pauses } = start();
  await put();
  await arrived(1);
  open[0]?.('500 Internal Server Error');
  await until('the result is reported', () => {
    clock.advance(1);
    return pauses.length === 1;
  });
  t.strictSame(pauses, [endpointIds]);
});

void t.test('a stop claims no more and waits for pending attempts', async (t) => {
  const { put, start, open, arrived, receiver, deliveries } = await openSendingPlace(t);
  const { sending, queue } = start();
  await put();
  await arrived(1);
  let hasStopped = false;
  const stopped = sending.stop(NEVER).then(() => (hasStopped = true));
  await put();
  sending.wake();
  await settle();
  t.equal(queue.given, 1);
  t.notOk(hasStopped);
  open[0]?.();
  await stopped;
  t.same((await deliveries()).map(({ status }) => status).sort(), ['pending', 'success']);
  t.equal(receiver.requests.length, 1);
  await sending.stop(NEVER);
});

void t.test('pending attempts are aborted at the deadline and repeated by the next sender', async (t) => {
  const { put, start, open, arrived, pass, succeeded, deliveries } = await openSendingPlace(t);
  const { sending, queue } = start();
  await put(2);
  await arrived(2);
  const deadline = new AbortController();
  const stopped = sending.stop(deadline.signal);
  open[0]?.();
  await settle();
  deadline.abort();
  await stopped;
  await sending.close();
  const renewed = queue.renewals.length;
  start();
  await pass(31_000);
  t.equal(queue.renewals.length, renewed, 'a stopped sender renews nothing');
  await until('what was broken off comes again', () => open.length >= 3);
  for (const answer of open.slice(2)) answer();
  await succeeded(2);
  const attempts = (await deliveries()).map(({ attempts }) => attempts.at(-1)?.http_status_code);
  t.same(attempts, [200, 200]);
});

void t.test('does not wait for a failing store at the deadline', async (t) => {
  const { put, start, open, arrived, logger, deliveries } = await openSendingPlace(t);
  const { sending, queue, statuses } = start();
  queue.faults.finish.push(...Array.from({ length: 5 }, () => 'before' as const));
  await put();
  await arrived(1);
  open[0]?.();
  await until('the store fails', () => statuses.length === 1);
  await sending.stop(AbortSignal.abort());
  t.match(only(await deliveries()), { status: 'pending' });
  t.match(logger.lines.join('\n'), /out of order/);
});

void t.test('removes old deliveries every hour and reads statistics', async (t) => {
  const { clock, store, put, pass, deliveries, logger } = await openSendingPlace(t);
  await put();
  await pass(6000);
  await put();
  let calls = 0;
  const onPending = (): void => {
    calls++;
  };
  const queue = store.deliveries;
  const upkeep = new Upkeep({ queue, retentionMs: 5000, clock, logger, onPending });
  await settle();
  t.equal((await deliveries()).length, 1, 'expired deliveries are removed immediately');
  t.match(upkeep.stats, { pending: Number });
  t.equal(calls, 1, 'reports due deliveries');
  await pass(15_000);
  t.same(upkeep.stats, { pending: 1, overdueMs: 15_000 });
  t.equal(calls, 2);
  clock.advance(HOUR_MS);
  await settle();
  t.equal((await deliveries()).length, 0);
  clock.advance(15_000);
  await settle();
  t.same(upkeep.stats, { pending: 0, overdueMs: 0 });
  upkeep.end();
  await put();
  clock.advance(10 * HOUR_MS);
  await settle();
  t.equal((await deliveries()).length, 1);
});

void t.test('the log names the failed maintenance', async (t) => {
  const { clock, logger, store } = await openSendingPlace(t);
  const fails = async (): Promise<never> => await Promise.reject(new Error('no disk'));
  const { deliveries } = store;
  const queues = [
    { removeBefore: fails, stats: deliveries.stats.bind(deliveries) },
    { removeBefore: deliveries.removeBefore.bind(deliveries), stats: fails },
  ];
  for (const queue of queues) {
    const upkeep = new Upkeep({ queue, retentionMs: 5000, clock, logger, onPending: () => undefined });
    await settle();
    upkeep.end();
  }
  const failures = logger.lines.filter((line) => line.includes('no disk'));
  t.match(failures, [/remove webhook deliveries/, /count pending webhook deliveries/]);
  t.equal(failures.length, 2);
});
