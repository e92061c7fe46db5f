import t, { type Test } from 'tap';
import type { ConsumeContext } from '../../src/component/consumer.js';
import { monthOf, startOfMonth } from '../../src/storage/contracts/telemetry-writer.js';
import { TestStore } from '../storage/duckdb/test-store.js';
import { aLog } from '../support/log-records.js';
import { aPoint } from '../support/metric-points.js';
import { aTrace, DAY, NOON } from '../support/run-records.js';
import { QuotaChain } from '../support/quota-chain.js';

const THIS_MONTH: ConsumeContext = { receivedAt: NOON };
const NEXT_MONTH: ConsumeContext = { receivedAt: NOON + 30 * DAY };
const REFUSED = { name: 'ConsumeError', code: 'quota_exceeded' };

/** A store with a quota of ten, and a user. */
async function opened(t: Test) {
  const store = await TestStore.open(t);
  const chain = await QuotaChain.start(store, 10);
  t.teardown(() => chain.stop());
  const tenant = await store.addUser();
  const logs = (count: number, context = THIS_MONTH) =>
    chain.logs({ tenant, items: Array.from({ length: count }, () => aLog()) }, context);
  const points = (count: number, context = THIS_MONTH) =>
    chain.metrics({ tenant, items: Array.from({ length: count }, () => aPoint()) }, context);
  return { store, chain, tenant, logs, points };
}

void t.test('rejects log records early if they certainly exceed the limit', async (t) => {
  const { chain, logs } = await opened(t);
  await t.rejects(logs(11), REFUSED, 'nothing cached yet: the store rejects');
  t.equal(chain.refusedEarly, 0);
  await t.rejects(logs(11), { ...REFUSED, usage: { used: 0, limit: 10 } });
  t.equal(chain.refusedEarly, 1);
  await logs(7);
  await t.rejects(logs(4), {
    ...REFUSED,
    retryable: true,
    usage: { used: 7, limit: 10, resets_at: startOfMonth(monthOf(NOON) + 1) },
    retryAfterMs: (startOfMonth(monthOf(NOON) + 1) - NOON) / 1000,
    message: /limit of 10 events would be exceeded: 7 are used and this request adds 4\. None/,
  });
  t.equal(chain.refusedEarly, 2);
  t.match(await logs(3), { accepted: 3, usage: { used: 10 } }, 'what fits is accepted');
});

void t.test('forwards points to the store as long as any quota is left', async (t) => {
  const { chain, points } = await opened(t);
  await points(9);
  await t.rejects(points(2), REFUSED);
  t.equal(chain.refusedEarly, 0, 'the store might reject one of them for its name');
  await points(1);
  await t.rejects(points(1), REFUSED);
  t.equal(chain.refusedEarly, 1);
  t.match(await points(0), { accepted: 0 });
});

void t.test('always forwards spans, as they may be repeats', async (t) => {
  const { chain, tenant } = await opened(t);
  const whole = aTrace(10);
  const sent = () => ({ tenant, items: [structuredClone(whole)] });
  t.match(await chain.traces(sent(), THIS_MONTH), { usage: { used: 10, limit: 10 } });
  await t.rejects(chain.traces({ tenant, items: [aTrace(1)] }, THIS_MONTH), REFUSED);
  t.match(await chain.traces(sent(), THIS_MONTH), { accepted: 1, usage: { used: 10 } });
  t.equal(chain.refusedEarly, 0);
});

void t.test('asks the store for another month, user or limit', async (t) => {
  const { store, chain, tenant, logs } = await opened(t);
  await logs(10);
  t.match(await logs(10, NEXT_MONTH), { usage: { used: 10 } }, 'not cached');
  await t.rejects(logs(1), REFUSED, 'the other month replaced the cached one');
  const other = await store.addUser();
  t.match(await chain.logs({ tenant: other, items: [aLog()] }, THIS_MONTH), { accepted: 1 });
  await t.rejects(logs(1), REFUSED);
  const before = chain.refusedEarly;
  await store.control.accounts.updateUser(tenant, { monthly_event_limit: 12 });
  t.match(await logs(2), { usage: { used: 12, limit: 12 } }, 'a raised limit applies immediately');
  await store.control.accounts.updateUser(tenant, { monthly_event_limit: 0 });
  t.match(await logs(2), { accepted: 2 }, 'also a removed one');
  t.equal(chain.refusedEarly, before);
});

void t.test('caches a refusal for a few seconds only', async (t) => {
  const { chain, logs } = await opened(t);
  await logs(10);
  await t.rejects(logs(1), REFUSED);
  t.equal(chain.refusedEarly, 1);
  chain.settings.clock.advance(5000);
  await t.rejects(logs(1), REFUSED);
  t.equal(chain.refusedEarly, 1, 'the store rejected again');
  await t.rejects(logs(1), REFUSED);
  t.equal(chain.refusedEarly, 2);
});
