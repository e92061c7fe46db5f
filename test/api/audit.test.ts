import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { startApi, type TestApi } from '../support/api.js';
import { spawnDaemon } from '../support/process.js';
import { until } from '../support/until.js';
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

void t.test(
  'a disabled user is rejected until enabled, and the last admin key cannot be revoked',
  async (t) => {
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
    t.match(
      await api.call('DELETE', `/admin/keys/${adminKey}`),
      conflict,
      'an expiring key does not count as another one',
    );
    const second = await create<{ readonly key: string }>(api, '/keys', {
      name: 'second',
      scopes: ['admin'],
    });
    t.equal((await api.call('DELETE', `/admin/keys/${adminKey}`)).status, 204);
    t.equal((await api.call('GET', '/admin/users', { key: second.key })).status, 200);
  },
);

void t.test('listed audit entries survive a stop and a kill', async (t) => {
  const audit = async (url: string, key: string) =>
    await new ApiCaller(url, key).get<{ readonly items: readonly { readonly action: string }[] }>(
      '/admin/audit',
    );
  const first = await spawnDaemon(t);
  const { key, directory } = first;
  await new ApiCaller(first.url, key).call('GET', '/daemon/config');
  t.strictSame(await first.stop(), { code: 0, signal: null });
  const second = await spawnDaemon(t, { directory, key });
  t.match((await audit(second.url, key)).items, [{ action: 'config.read' }], 'written before the stop');
  await new ApiCaller(second.url, key).call('POST', '/me/alert-secret');
  await until('it is listed', async () => (await audit(second.url, key)).items.length === 2);
  await second.stop('SIGKILL');
  const third = await spawnDaemon(t, { directory, key });
  const { items } = await audit(third.url, key);
  t.match(items, [{ action: 'alert_secret.rotated' }, { action: 'config.read' }]);
});

void t.test('every administrative action is audited without secrets', async (t) => {
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
    json: { url: 'https://hooks.example.com/token', event_types: ['*'] },
  });
  t.equal(endpoint.status, 201);
  const { id: endpointId, secret } = endpoint.body as { readonly id: string; readonly secret: string };
  await api.call('POST', `/org/default/webhooks/endpoints/${endpointId}/rotate-secret`);
  const place = `/org/default/webhooks/endpoints/${endpointId}`;
  await api.call('PATCH', place, { json: { url: 'https://other.example.com/token', is_active: false } });
  const since = '2026-01-01T00:00:00Z';
  await api.call('DELETE', place);
  await api.call('DELETE', `/admin/keys/${made.id}`);
  await api.call('DELETE', `/admin/keys/${randomUUID()}`);
  const alert = await api.call('POST', '/alerts', {
    json: {
      ...{ target_service: 'payments', type: 'inactivity', threshold: 1, channel: 'webhook' },
      webhook_url: 'https://alerts.example.com/token',
    },
  });
  const { id: alert_id } = alert.body as { readonly id: string };
  await api.call('PATCH', `/alerts/${alert_id}`, { json: { webhook_url: 'https://new.example.com/token' } });
  await api.call('DELETE', `/alerts/${alert_id}`);
  const alertSecret = (await api.call('POST', '/me/alert-secret')).body as { readonly secret: string };
  await api.call('POST', '/dashboard/prompts/', { json: { name: 'greet', template_text: 'token' } });
  const view = randomUUID();
  const shared = { name: 'Failed', path: '/runs', org_slug: 'default' };
  await api.call('PUT', `/dashboard/views/${view}`, { json: shared });
  await api.call('DELETE', `/dashboard/views/${view}`);
  await api.call('GET', '/daemon/config');
  const by = `by_user_id="${user.id}" by_key_id="${key_id}" address="127.0.0.1"`;
  t.strictSame(
    api.logs.flatMap((line) => (/audit=.*/.exec(line) ?? []).slice(0, 1)),
    [
      `audit="user.created" ${by} user_id="${anna.id}"`,
      `audit="key.created" ${by} key_id="${made.id}" user_id="${anna.id}" scopes=["write"] expires_at=null`,
      `audit="user.disabled" ${by} user_id="${anna.id}"`,
      `audit="user.changed" ${by} user_id="${anna.id}" changes={"name":{"from":"Anna","to":"A"}}`,
      `audit="user.enabled" ${by} user_id="${anna.id}"`,
      `audit="organization.created" ${by} slug="acme"`,
      `audit="member.put" ${by} slug="acme" user_id="${anna.id}" role="admin"`,
      `audit="member.removed" ${by} slug="acme" user_id="${anna.id}"`,
      `audit="endpoint.created" ${by} slug="default" endpoint_id="${endpointId}" host="hooks.example.com"`,
      `audit="webhook_secret.rotated" ${by} slug="default" endpoint_id="${endpointId}"`,
      `audit="endpoint.changed" ${by} slug="default" endpoint_id="${endpointId}" is_active=false host="other.example.com"`,
      `audit="endpoint.deleted" ${by} slug="default" endpoint_id="${endpointId}"`,
      `audit="key.revoked" ${by} key_id="${made.id}"`,
      `audit="alert.created" ${by} alert_id="${alert_id}" type="inactivity" channel="webhook" host="alerts.example.com"`,
      `audit="alert.changed" ${by} alert_id="${alert_id}" host="new.example.com"`,
      `audit="alert.deleted" ${by} alert_id="${alert_id}"`,
      `audit="alert_secret.rotated" ${by}`,
      `audit="prompt.created" ${by} name="greet" version=1`,
      `audit="view.saved" ${by} view_id="${view}" slug="default"`,
      `audit="view.removed" ${by} view_id="${view}"`,
      `audit="config.read" ${by}`,
    ],
    'rejected calls are not audited',
  );
  for (const hidden of [made.key, secret, alertSecret.secret, 'token']) t.notMatch(api.logs.join(), hidden);

  interface Page {
    readonly items: readonly { readonly action: string; readonly fields: object }[];
    readonly count: number;
  }
  const audit = async (query: string): Promise<Page> => await api.get<Page>(`/admin/audit?${query}`);
  await until('all entries are stored', async () => (await audit('action=config.read')).count === 1);
  t.match(await audit('action=endpoint.changed'), {
    items: [
      {
        ...{ action: 'endpoint.changed', user_id: user.id, key_id, address: '127.0.0.1' },
        fields: { slug: 'default', endpoint_id: endpointId, is_active: false, host: 'other.example.com' },
      },
    ],
    count: 1,
    has_more: false,
  });
  const { items, count } = await audit('page_size=2');
  t.strictSame(
    items.map(({ action }) => action),
    ['config.read', 'view.removed'],
  );
  t.equal((await audit(`user_id=${user.id}`)).count, count);
  t.equal((await audit(`user_id=${anna.id}`)).count, 0);
  t.match(await api.call('GET', '/admin/audit?action=key.create'), { status: 422 }, 'unknown action');
  t.equal((await audit('since=2100-01-01T00:00:00Z')).count, 0);
  t.equal((await audit(`since=${since}&until=2100-01-01T00:00:00Z`)).count, count);
  const { key: reader } = await api.createUser('reader@example.com', ['read', 'manage']);
  t.equal((await api.call('GET', '/admin/audit', { key: reader })).status, 403);
});
