import t, { type Test } from 'tap';
import { aLog } from '../support/log-records.js';
import { aPoint } from '../support/metric-points.js';
import { aTrace, DAY, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const JANUARY = { period: '2026-01', resets_at: Date.UTC(2026, 1, 1) * 1000 };
const FEBRUARY = { period: '2026-02', resets_at: Date.UTC(2026, 2, 1) * 1000 };
const EXCEEDED = { name: 'ConsumeError', code: 'quota_exceeded', retryable: true };

function checkUsage(t: Test, open: OpenTelemetry): void {
  void t.test('counts metric points', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const quota = { monthly_items: 0 };
    await store.writer.metrics({ tenant, items: [aPoint()], quota }, { receivedAt: NOON });
    await store.writer.metrics({ tenant, items: [aPoint()] }, { receivedAt: NOON });
    t.same(await store.usage.read(tenant, NOON), { ...JANUARY, used: 1 });
  });

  void t.test('new items count once, in the month and for the user that received them', async (t) => {
    const opened = await open(t);
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const quota = { monthly_items: 0 };
    const run = aTrace(3);
    const { writer, usage } = opened.store;
    t.same(await usage.read(tenant, NOON), { ...JANUARY, used: 0 });
    for (let times = 0; times < 2; times++)
      await writer.traces({ tenant, items: [structuredClone(run)], quota }, { receivedAt: NOON });
    await writer.logs({ tenant, items: [aLog(), aLog()], quota }, { receivedAt: NOON + 30 * DAY });
    await writer.logs({ tenant, items: [aLog()], quota }, { receivedAt: NOON });
    await writer.logs({ tenant, items: [aLog()] }, { receivedAt: NOON });
    t.same(await usage.read(tenant, NOON), { ...JANUARY, used: 4 }, 'items without a quota are not counted');
    await opened.settled();
    await opened.reopen();
    t.same(await opened.store.usage.read(tenant, NOON), { ...JANUARY, used: 4 });
    t.same(await opened.store.usage.read(tenant, NOON + 30 * DAY), { ...FEBRUARY, used: 2 });
    t.same(await opened.store.usage.read(other, NOON), { ...JANUARY, used: 0 });
  });

  void t.test('counts and keeps days; days before the first are unknown', async (t) => {
    const opened = await open(t);
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const quota = { monthly_items: 0 };
    const days = (user: string, at: number, count: number) => opened.store.usage.days(user, at, count);
    t.same(await days(tenant, NOON, 1), [{ date: '2026-01-15', events: null }]);
    const write = (logs: number, day: number) =>
      opened.store.writer.logs(
        { tenant, items: Array.from({ length: logs }, () => aLog()), quota },
        { receivedAt: NOON + day * DAY },
      );
    await write(2, 1);
    await Promise.all([write(1, 3), write(4, 3)]);
    const expected = [
      { date: '2026-01-15', events: null },
      { date: '2026-01-16', events: 2 },
      { date: '2026-01-17', events: 0 },
      { date: '2026-01-18', events: 5 },
    ];
    t.same(await days(tenant, NOON + 3 * DAY, 4), expected);
    await opened.settled();
    await opened.reopen();
    await write(1, 3);
    t.same(await days(tenant, NOON + 3 * DAY, 2), [expected[2], { date: '2026-01-18', events: 6 }]);
    t.same(await days(other, NOON + 3 * DAY, 1), [{ date: '2026-01-18', events: 0 }], 'only of this user');
    t.same(await opened.store.usage.read(tenant, NOON), { ...JANUARY, used: 8 });
  });

  void t.test('receipts and refusals contain the quota state, and a refusal stores nothing', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const quota = { monthly_items: 3 };
    const write = (logs: number) =>
      store.writer.logs(
        { tenant, items: Array.from({ length: logs }, () => aLog()), quota },
        { receivedAt: NOON },
      );
    const { resets_at } = JANUARY;
    t.same((await write(2)).usage, { limit: 3, used: 2, resets_at });
    await t.rejects(write(2), {
      ...EXCEEDED,
      retryAfterMs: (resets_at - NOON) / 1000,
      usage: { limit: 3, used: 2, resets_at },
    });
    t.match(await store.logs.search(tenant, {}, { offset: 0, limit: 1 }), { count: 2 });
    t.same((await write(1)).usage, { limit: 3, used: 3, resets_at });
    t.equal((await store.usage.read(tenant, NOON)).used, 3);
  });

  void t.test("a user's own limit overrides that of the batch from its change on", async (t) => {
    const { store, control, addUser } = await open(t);
    const tenant = await addUser();
    const write = () =>
      store.writer.logs({ tenant, items: [aLog()], quota: { monthly_items: 1 } }, { receivedAt: NOON });
    await write();
    await t.rejects(write(), EXCEEDED);
    await control.accounts.updateUser(tenant, { monthly_event_limit: 2 });
    t.match((await write()).usage, { limit: 2, used: 2 });
    await t.rejects(write(), EXCEEDED);
    await control.accounts.updateUser(tenant, { monthly_event_limit: 0 });
    t.equal((await write()).usage, undefined, 'no usage without a limit');
    await control.accounts.updateUser(tenant, { monthly_event_limit: 1 });
    await t.rejects(write(), { ...EXCEEDED, usage: { limit: 1, used: 3 } });
  });

  void t.test('accepts as many concurrent batches as fit', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        store.writer.traces(
          { tenant, items: [aTrace(3)], quota: { monthly_items: 10 } },
          { receivedAt: NOON },
        ),
      ),
    );
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 3);
    t.equal((await store.usage.read(tenant, NOON)).used, 9);
  });
}

await onEveryTelemetry(t, checkUsage);
