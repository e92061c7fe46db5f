import { randomUUID } from 'node:crypto';
import t from 'tap';
import { webhookEndpointRoutes } from '../../../../src/api/resources/webhooks/webhook-endpoints.js';
import { createRouteBuilder } from '../../../../src/http/operation.js';
import { targetPolicy } from '../../../../src/api/support/target-policy.js';
import { ApiCaller } from '../../../support/api-caller.js';
import { openControlStore } from '../../../support/control-store.js';
import { HandClock } from '../../../support/hand-clock.js';
import { startListener } from '../../../support/http-listener.js';

void t.test('endpoint URLs follow the targets that the sender currently allows', async (t) => {
  const clock = new HandClock();
  const control = await openControlStore(t, { clock });
  const publish = async (owner: string, ...allow_cidrs: string[]) => {
    await control.settings.publish(owner, { targets: { allow_cidrs } }, clock.now() + 60_000_000);
  };
  const user = {
    id: randomUUID(),
    email: 'ann',
    name: 'Ann',
    monthly_event_limit: null,
    stored_bytes_limit: null,
    disabled: false,
    created_at: clock.now(),
  };
  await control.accounts.createUser(user);
  await control.organizations.create({
    id: randomUUID(),
    slug: 'acme',
    name: 'Acme',
    created_at: clock.now(),
  });
  await control.organizations.putMember('acme', user.id, 'admin');
  const routes = createRouteBuilder({
    authenticate: () => ({ userId: user.id, keyId: null, scopes: ['manage'] }),
  });
  const secrets = { seal: async () => 'sealed', open: async () => 'opened' };
  const targets = targetPolicy(control, clock);
  const context = { routes, control, targets, secrets, audit: () => undefined, clock };
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

  t.strictSame(await statuses(), [422, 422, 422, 422, 422, 201], 'before a sender publishes its targets');
  t.equal(await change('https://localhost:8443/'), 422);
  await publish('one', '127.0.0.0/8');
  t.strictSame(await statuses(), [201, 201, 422, 422, 201, 201], 'loopback');
  t.equal(await change('https://localhost:8443/'), 200);
  await publish('two', '10.0.0.0/8');
  t.strictSame(await statuses(), [201, 201, 422, 201, 201, 201], 'another exporter runs, too');
  await control.settings.withdraw('one');
  t.strictSame(await statuses(), [422, 422, 422, 201, 201, 201], 'the first has stopped');
  clock.advance(60_000);
  t.strictSame(await statuses(), [422, 422, 422, 422, 422, 201], 'the second has stopped');
  t.match(await create('http://localhost/'), { status: 422 }, 'never without TLS');
});
