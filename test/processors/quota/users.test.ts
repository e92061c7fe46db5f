import t from 'tap';
import { aRun, QuotaDaemon } from './quota-daemon.js';

void t.test('users have separate counts with the default or their own limit', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 5 });
  const usual = await daemon.addUser();
  const little = await daemon.addUser(2);
  const much = await daemon.addUser(50);
  const free = await daemon.addUser(0);
  const take = async ({ key }: { readonly key: string }, spans: number) =>
    (await daemon.send(aRun(spans), { key })).isTaken;
  t.equal(await take(usual, 5), true);
  t.equal(await take(usual, 1), false);
  t.equal(await take(little, 3), false);
  t.equal(await take(little, 2), true);
  t.equal(await take(much, 40), true);
  t.equal(await take(much, 11), false);
  t.equal(await take(free, 90), true);
  t.match(await daemon.usage(usual.key), { used: 5, limit: 5 });
  t.match(await daemon.usage(little.key), { used: 2, limit: 2 });
  t.match(await daemon.usage(much.key), { used: 40, limit: 50 });
  t.match(await daemon.usage(free.key), { used: 90, limit: null });
  t.same((await daemon.send(aRun(1), { key: free.key })).quota, {}, 'no limit, no headers');
  t.match(await daemon.usage(), { used: 0, limit: 5 }, 'of the administrator');
});

void t.test('a changed limit applies immediately without a restart', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 5 });
  const user = await daemon.addUser();
  const { key, id } = user;
  const send = (spans: number) => daemon.send(aRun(spans), { key });
  await send(5);
  t.match(await send(1), { isTaken: false });
  await daemon.setLimit(id, 7);
  t.match(await send(2), { isTaken: true, quota: { limit: '7', remaining: '0' } });
  t.match(await send(1), { isTaken: false, quota: { limit: '7' } });
  await daemon.setLimit(id, 3);
  t.match(await send(1), { isTaken: false, quota: { limit: '3', remaining: '0' } });
  t.match(await daemon.usage(key), { used: 7, limit: 3 });
  await daemon.setLimit(id, 0);
  t.same(await send(20), { isTaken: true, quota: {} });
  t.match(await daemon.usage(key), { used: 27, limit: null });
  await daemon.api.call('PATCH', `/admin/users/${id}`, { json: { name: 'other' } });
  t.match(await daemon.usage(key), { limit: null }, 'other changes keep it');
});

void t.test("returns only the caller's count and only to keys with the scope read", async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 5 });
  const { id } = await daemon.addUser();
  const { key } = await daemon.api.createKey(['write'], { user_id: id });
  t.match(await daemon.api.call('GET', '/usage', { key }), { status: 403 });
  t.match(await daemon.api.call('GET', '/usage', { key: null }), { status: 401 });
});
