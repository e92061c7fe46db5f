import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi } from '../../support/api.js';

interface Key {
  readonly id: string;
  readonly key: string;
  readonly scopes: readonly string[];
}

void t.test('users create, list and revoke keys with at most their own scopes', async (t) => {
  const api = await startApi(t);
  const ann = await api.createUser('ann@example.org', ['read', 'manage']);
  const bob = await api.createUser('bob@example.org', ['read', 'manage']);
  const make = (json: object, key = ann.key) => api.call('POST', '/me/keys', { key, json });
  const made = await make({ name: 'dashboard', scopes: ['read'] });
  t.match(made, {
    status: 201,
    body: { user_id: ann.id, name: 'dashboard', scopes: ['read'], expires_at: null },
  });
  const { id, key } = made.body as Key;
  t.match(await api.get('/me', key), { key_id: id, scopes: ['read'] });
  const listed = await api.get<Key[]>('/me/keys', ann.key);
  t.match(listed, [
    { user_id: ann.id, scopes: ['read', 'manage'] },
    { id, last_used_at: null },
  ]);
  t.equal(listed.length, 2, 'no keys of others');
  t.notOk(listed.some((one) => 'key' in one || 'digest' in one));

  for (const scopes of [['write'], ['read', 'admin']])
    t.match(await make({ name: 'more', scopes }), { status: 403, body: { code: 'forbidden_scope' } });
  t.match(await make({ name: 'x', scopes: ['read'] }, key), { status: 403 }, 'a read key cannot create keys');
  for (const json of [
    { name: 'x' },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['read'], user_id: bob.id },
  ])
    t.equal((await make(json)).status, 422);

  t.match(
    await api.call('DELETE', `/me/keys/${id}`, { key: bob.key }),
    { status: 404 },
    'not owned by the user',
  );
  t.equal((await api.call('DELETE', `/me/keys/${id.toUpperCase()}`, { key: ann.key })).status, 204);
  t.equal((await api.call('GET', '/me', { key })).status, 401, 'immediately');
  t.equal((await api.call('DELETE', `/me/keys/${randomUUID()}`, { key: ann.key })).status, 404);
  const writer = await api.createKey(['write'], { user_id: ann.id });
  t.match(
    await api.call('DELETE', `/me/keys/${writer.id}`, { key: ann.key }),
    { status: 403 },
    'broader scopes',
  );
  const { key_id } = await api.get<{ key_id: string }>('/me');
  t.match(
    await api.call('DELETE', `/me/keys/${key_id}`),
    { status: 409 },
    'the last key of the administrator',
  );
});

void t.test('an expiring key cannot create a key that lasts longer', async (t) => {
  const api = await startApi(t);
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const { key } = await api.createKey(['admin'], { expires_at: at(1) });
  const make = (more: object) =>
    api.call('POST', '/me/keys', { key, json: { name: 'x', scopes: ['write'], ...more } });
  t.match(await make({}), { status: 422, body: { errors: [{ field: '/expires_at' }] } });
  t.equal((await make({ expires_at: at(2) })).status, 422);
  t.equal((await make({ expires_at: at(-1) })).status, 422);
  t.equal((await make({ expires_at: at(0.5) })).status, 201, 'admin includes every scope');
});

void t.test('limits the active keys of a user', async (t) => {
  const api = await startApi(t);
  const make = () => api.call('POST', '/me/keys', { json: { name: 'x', scopes: ['read'] } });
  const first = (await make()).body as Key;
  for (let keys = 2; keys < 100; keys++) t.equal((await make()).status, 201);
  t.match(await make(), { status: 409, body: { code: 'conflict' } });
  await api.call('DELETE', `/me/keys/${first.id}`);
  t.equal((await make()).status, 201, 'a revoked key does not count');
});

void t.test('a key records its parent and is revoked with it on request', async (t) => {
  const api = await startApi(t);
  const ann = await api.createUser('ann@example.org', ['read', 'manage']);
  const make = async (key: string) =>
    (await api.call('POST', '/me/keys', { key, json: { name: 'x', scopes: ['read', 'manage'] } }))
      .body as Key;
  const holds = async ({ key }: Pick<Key, 'key'>) => (await api.call('GET', '/me', { key })).status === 200;
  for (const path of ['/me/keys', '/admin/keys']) {
    const child = await make(ann.key);
    const grandchild = await make(child.key);
    t.match(grandchild, { parent_id: child.id });
    const key = path === '/me/keys' ? ann.key : undefined;
    const revoke = (query: string) =>
      api.call('DELETE', `${path}/${child.id}${query}`, key === undefined ? {} : { key });
    t.equal((await revoke('')).status, 204);
    t.strictSame([await holds(child), await holds(grandchild)], [false, true]);
    t.equal((await revoke('?with_children=true')).status, 204, 'also later');
    t.strictSame([await holds(grandchild), await holds(ann)], [false, true]);
  }
});

void t.test('revoked keys count toward the total limit until removed', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.createUser('ann@example.org', ['read', 'manage']);
  for (let keys = 1; keys < 300; keys++) {
    const { body } = await api.call('POST', '/me/keys', { key, json: { name: 'x', scopes: ['read'] } });
    await api.call('DELETE', `/me/keys/${(body as Key).id}`, { key });
  }
  const more = await api.call('POST', '/me/keys', { key, json: { name: 'x', scopes: ['read'] } });
  t.match(more, { status: 409, body: { detail: /^You have 300 API keys, with revoked/ } });
  t.equal((await api.get<Key[]>('/me/keys', key)).length, 300);
  t.equal((await api.get<Key[]>(`/admin/keys?user_id=${id}`)).length, 300);
});
