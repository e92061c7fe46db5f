import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi } from '../../support/api.js';

void t.test('saves, shares, lists and deletes views', async (t) => {
  const api = await startApi(t);
  const ann = await api.createUser('ann@example.org', ['read', 'manage']);
  const bob = await api.createUser('bob@example.org', ['read', 'manage']);
  await api.call('POST', '/admin/orgs', { json: { slug: 'team', name: 'Team' } });
  for (const { id } of [ann, bob])
    await api.call('PUT', `/admin/orgs/team/members/${id}`, { json: { role: 'member' } });
  const id: string = randomUUID();
  const view = { name: 'Failures', path: '/runs?status=failed&q=a%2Fb' };
  const put = (json: object, key = ann.key, of = id) =>
    api.call('PUT', `/dashboard/views/${of}`, { key, json });
  t.match(await put(view, ann.key, id.toUpperCase()), { status: 200, body: { id, ...view, org_slug: null } });
  t.strictSame(await api.get('/dashboard/views', ann.key), [
    { id, ...view, org_slug: null, may_change: true },
  ]);
  t.strictSame(await api.get('/dashboard/views', bob.key), []);
  t.match(await put(view, bob.key), { status: 404 }, 'as if it did not exist');
  t.equal((await put({ ...view, org_slug: 'team' })).status, 200);
  t.strictSame(await api.get('/dashboard/views', bob.key), [
    { id, ...view, org_slug: 'team', may_change: false },
  ]);
  t.equal((await put({ ...view, org_slug: 'nobody' })).status, 404);
  const reader = await api.createKey(['read'], { user_id: ann.id });
  t.equal((await put(view, reader.key)).status, 403);
  for (const path of [
    '',
    'runs',
    '//host/x',
    '/\\host',
    '/a b',
    'https://host/',
    '/ä',
    `/${'a'.repeat(4000)}`,
  ])
    t.equal((await put({ ...view, path })).status, 422, path.slice(0, 20));
  for (const path of ['/', '/r', '/runs']) t.equal((await put({ ...view, path })).status, 200, path);
  for (const json of [{ ...view, name: '' }, { name: 'x' }, { ...view, more: 1 }])
    t.equal((await put(json)).status, 422);
  const others = Array.from({ length: 99 }, () => randomUUID());
  for (const one of others) t.equal((await put(view, ann.key, one)).status, 200);
  t.match(await put(view, ann.key, randomUUID()), { status: 409, body: { code: 'conflict' } });
  t.equal((await put(view)).status, 200, 'a change needs no free slot');
  t.equal((await api.call('DELETE', `/dashboard/views/${id}`, { key: bob.key })).status, 404);
  t.equal((await api.call('DELETE', `/dashboard/views/${id}`, { key: ann.key })).status, 204);
  t.equal((await api.call('DELETE', `/dashboard/views/${id}`, { key: ann.key })).status, 404);
});

void t.test('rejects views with a fragment or of the login page', async (t) => {
  const api = await startApi(t);
  const put = (path: string) =>
    api.call('PUT', `/dashboard/views/${randomUUID()}`, { json: { name: 'x', path } });
  for (const path of ['/login#t=x', '/runs#t=x', '/login', '/LOGIN?x', '/#t=x'])
    t.equal((await put(path)).status, 422, path);
  for (const path of ['/', '/logs?q=1', '/runs?q=%23t']) t.equal((await put(path)).status, 200, path);
});
