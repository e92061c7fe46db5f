import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi, type TestApi } from '../support/api.js';
import { anItem } from '../support/trace-batch.js';

interface User {
  readonly id: string;
  readonly disabled: boolean;
}

async function create<Body>(api: TestApi, path: string, json: object): Promise<Body> {
  const answer = await api.call('POST', `/admin${path}`, { json });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as Body;
}

void t.test('a disabled user can do nothing until it is enabled; the last admin key stays', async (t) => {
  const api = await startApi(t);
  const { user: admin, key_id: adminKey } = await api.get<{
    readonly user: { readonly id: string };
    readonly key_id: string;
  }>('/me');
  const anna = await create<User>(api, '/users', { email: 'anna@example.com', name: 'Anna' });
  t.equal(anna.disabled, false);
  const made = await create<{ readonly id: string; readonly key: string }>(api, '/keys', {
    user_id: anna.id,
    name: 'both',
    scopes: ['write', 'read'],
  });
  const send = async () =>
    (await api.call('POST', '/traces/batch', { key: made.key, json: { traces: [anItem()] } })).status;
  t.equal(await send(), 200);
  const patch = async (id: string, json: object) => await api.call('PATCH', `/admin/users/${id}`, { json });
  t.match(await patch(anna.id, { disabled: true }), { status: 200, body: { ...anna, disabled: true } });
  t.equal(await send(), 401, 'ingestion');
  t.equal((await api.call('GET', '/me', { key: made.key })).status, 401);
  t.match((await api.get<User[]>('/admin/users'))[1], { disabled: true });
  t.match(await patch(anna.id, { disabled: false }), { status: 200, body: anna });
  t.equal(await send(), 200);

  const conflict = { status: 409, body: { code: 'conflict', detail: /last key with the scope admin/ } };
  t.match(await patch(admin.id, { disabled: true }), conflict);
  t.match(await api.call('DELETE', `/admin/keys/${adminKey}`), conflict);
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  await create(api, '/keys', { name: 'an hour', scopes: ['admin'], expires_at: soon });
  t.match(await api.call('DELETE', `/admin/keys/${adminKey}`), conflict, 'one that expires is no other');
  const second = await create<{ readonly key: string }>(api, '/keys', { name: 'second', scopes: ['admin'] });
  t.equal((await api.call('DELETE', `/admin/keys/${adminKey}`)).status, 204);
  t.equal((await api.call('GET', '/admin/users', { key: second.key })).status, 200);
});

void t.test('who administers leaves a line of audit for each deed, without a secret', async (t) => {
  const api = await startApi(t);
  const { user, key_id } = await api.get<{ readonly user: { readonly id: string }; readonly key_id: string }>(
    '/me',
  );
  const anna = await create<User>(api, '/users', { email: 'anna@example.com', name: 'Anna' });
  const made = await create<{ readonly id: string; readonly key: string }>(api, '/keys', {
    user_id: anna.id,
    name: 'ci',
    scopes: ['write'],
  });
  await api.call('PATCH', `/admin/users/${anna.id}`, { json: { name: 'A', disabled: true } });
  await api.call('PATCH', `/admin/users/${anna.id}`, { json: { disabled: false } });
  await create(api, '/orgs', { slug: 'acme', name: 'Acme' });
  const member = `/admin/orgs/acme/members/${anna.id}`;
  await api.call('PUT', member, { json: { role: 'admin' } });
  await api.call('DELETE', member);
  const endpoint = await api.call('POST', '/org/default/webhooks/endpoints', {
    json: { url: 'https://hooks.example.com/', event_types: ['*'] },
  });
  t.equal(endpoint.status, 201);
  const { id: endpointId, secret } = endpoint.body as { readonly id: string; readonly secret: string };
  await api.call('POST', `/org/default/webhooks/endpoints/${endpointId}/rotate-secret`);
  await api.call('DELETE', `/admin/keys/${made.id}`);
  await api.call('DELETE', `/admin/keys/${randomUUID()}`);
  const by = `by_user_id="${user.id}" by_key_id="${key_id}" address="127.0.0.1"`;
  t.strictSame(
    api.logs.flatMap((line) => (/audit=.*/.exec(line) ?? []).slice(0, 1)),
    [
      `audit="user.created" ${by} user_id="${anna.id}"`,
      `audit="key.created" ${by} key_id="${made.id}" user_id="${anna.id}" scopes=["write"] expires_at=null`,
      `audit="user.disabled" ${by} user_id="${anna.id}"`,
      `audit="user.changed" ${by} user_id="${anna.id}" fields=["name"]`,
      `audit="user.enabled" ${by} user_id="${anna.id}"`,
      `audit="organization.created" ${by} slug="acme"`,
      `audit="member.put" ${by} slug="acme" user_id="${anna.id}" role="admin"`,
      `audit="member.removed" ${by} slug="acme" user_id="${anna.id}"`,
      `audit="webhook_secret.created" ${by} slug="default" endpoint_id="${endpointId}"`,
      `audit="webhook_secret.rotated" ${by} slug="default" endpoint_id="${endpointId}"`,
      `audit="key.revoked" ${by} key_id="${made.id}"`,
    ],
    'what was refused is none',
  );
  for (const hidden of [made.key, secret]) t.notMatch(api.logs.join(), hidden);
});
