import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startApi } from '../support/api.js';
import { traceIdOf } from '../support/header-text.js';
import { anItem } from '../support/trace-batch.js';

interface Key {
  readonly id: string;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

void t.test('users, keys, members, outcomes and last uses survive a restart', async (t) => {
  const before = await startApi(t);
  const anna = await before.createUser('anna@example.com', ['read', 'write']);
  const revoked = await before.createKey(['admin']);
  await before.call('DELETE', `/admin/keys/${revoked.id}`);
  await before.call('PATCH', `/admin/users/${anna.id}`, { json: { name: 'Anna', monthly_event_limit: 7 } });
  await before.call('POST', '/admin/orgs', { json: { slug: 'acme', name: 'Acme' } });
  await before.call('PUT', `/admin/orgs/acme/members/${anna.id}`, { json: { role: 'admin' } });
  await before.call('DELETE', `/admin/orgs/default/members/${anna.id}`);
  const item = anItem({ trace: { success: undefined } });
  await before.send([item], anna.key);
  const path = `/dashboard/traces/${traceIdOf(item)}`;
  await before.call('PATCH', `${path}/outcome`, {
    key: anna.key,
    json: { success: true, outcome: 'kept' },
  });
  const orgs = await before.get('/admin/orgs');
  const users = await before.get('/admin/users');
  await before.stop();

  const after = await startApi(t, { directory: before.directory, key: before.adminKey });
  t.match(await after.get(path, anna.key), { success: true, outcome: 'kept' });
  t.match(await after.get('/me', anna.key), {
    user: { name: 'Anna', monthly_event_limit: 7 },
    scopes: ['read', 'write'],
    memberships: [{ slug: 'acme', role: 'admin' }],
  });
  t.equal((await after.call('GET', '/me', { key: revoked.key })).status, 401);
  t.strictSame(await after.get('/admin/orgs'), orgs);
  t.strictSame(await after.get('/admin/users'), users);
  const keys = await after.get<Key[]>('/admin/keys');
  t.equal(keys.length, 3);
  t.ok(
    keys.every((key) => (key.id === revoked.id ? key.last_used_at === null : key.last_used_at !== null)),
    'the stop writes uses of the last minute',
  );
});

void t.test('no key or digest is logged', async (t) => {
  const api = await startApi(t);
  const { key } = await api.createKey(['read']);
  await api.get('/agents', key);
  await api.call('GET', '/agents', { key: `${key}x` });
  await api.call('POST', '/admin/keys', { json: { name: key, scopes: ['none'] } });
  await api.stop();
  const log = api.logs.join('\n');
  t.notMatch(log, key.slice(3, 20));
  t.notMatch(log, api.adminKey.slice(3, 20));
});

void t.test('a configured key writes no key file', async (t) => {
  const api = await startApi(t);
  await t.rejects(stat(join(api.directory, 'initial-api-key')), { code: 'ENOENT' });
});
