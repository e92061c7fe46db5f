import { randomUUID } from 'node:crypto';
import t from 'tap';
import { webhookEndpointRoutes } from '../../../../src/api/resources/webhooks/webhook-endpoints.js';
import { createRouteBuilder } from '../../../../src/http/operation.js';
import { ApiCaller } from '../../../support/api-caller.js';
import { HandClock } from '../../../support/hand-clock.js';
import { startListener } from '../../../support/http-listener.js';
import { MemoryDeliveries } from '../../../support/memory-deliveries.js';
import { MemoryMetaStore } from '../../../support/memory-meta-store.js';
import { testFolder } from '../../../support/test-folder.js';

void t.test('endpoints may be wherever the sender may send to at the moment', async (t) => {
  const meta = new MemoryMetaStore(testFolder(t));
  const deliveries = new MemoryDeliveries();
  const clock = new HandClock();
  const user = {
    id: 'ann',
    email: 'ann',
    name: 'Ann',
    monthly_event_limit: null,
    disabled: false,
    created_at: clock.now(),
  };
  await meta.createUser(user);
  await meta.createOrganization({ id: randomUUID(), slug: 'acme', name: 'Acme', created_at: clock.now() });
  await meta.putMember('acme', user.id, 'admin');
  const routes = createRouteBuilder(() => ({ userId: user.id, keyId: null, scopes: ['manage'] }));
  const secrets = { seal: async () => 'sealed', open: async () => 'opened' };
  const context = { routes, meta, deliveries, secrets, audit: () => undefined, clock };
  const { url } = await startListener(t, 'node', webhookEndpointRoutes(context));
  const api = new ApiCaller(url, 'key');
  const path = '/org/acme/webhooks/endpoints';
  const create = async (target: string) =>
    await api.call('POST', path, { json: { url: target, event_types: ['*'] } });
  const statuses = async () =>
    await Promise.all(
      [
        'https://localhost:8443/',
        'https://127.0.0.1/',
        'https://[::1]/',
        'https://10.1.2.3/',
        'https://hook.internal/',
        'https://hook.example/',
      ].map(async (target) => (await create(target)).status),
    );
  const { body } = await create('https://hook.example/');
  const { id } = body as { readonly id: string };
  const change = async (target: string) =>
    (await api.call('PATCH', `${path}/${id}`, { json: { url: target } })).status;

  t.strictSame(await statuses(), [422, 422, 422, 422, 422, 201], 'before a sender has said anything');
  t.equal(await change('https://localhost:8443/'), 422);
  deliveries.allowedTargets = ['127.0.0.0/8'];
  t.strictSame(await statuses(), [201, 201, 422, 422, 201, 201], 'loopback');
  t.equal(await change('https://localhost:8443/'), 200);
  deliveries.allowedTargets = ['127.0.0.0/8', '10.0.0.0/8'];
  t.strictSame(await statuses(), [201, 201, 422, 201, 201, 201], 'another exporter beside');
  deliveries.allowedTargets = ['10.0.0.0/8'];
  t.strictSame(await statuses(), [422, 422, 422, 201, 201, 201], 'the first has ended');
  deliveries.allowedTargets = [];
  t.strictSame(await statuses(), [422, 422, 422, 422, 422, 201]);
  t.match(await create('http://localhost/'), { status: 422 }, 'never without TLS');
});
