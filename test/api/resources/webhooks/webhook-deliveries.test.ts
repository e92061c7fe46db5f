import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { webhookDeliveryRoutes } from '../../../../src/api/resources/webhooks/webhook-deliveries.js';
import { notFound } from '../../../../src/api/support/not-found.js';
import type { Host } from '../../../../src/component/host.js';
import { HttpProblem } from '../../../../src/component/http.js';
import type { Scope } from '../../../../src/component/identity.js';
import { createRouteBuilder } from '../../../../src/http/operation.js';
import type { DeliveryDetail } from '../../../../src/storage/contracts/deliveries.js';
import { ApiCaller, type Call } from '../../../support/api-caller.js';
import { ENGINES, send, startListener } from '../../../support/http-listener.js';
import { MemoryDeliveries } from '../../../support/memory-deliveries.js';
import { openControlStore } from '../../../support/control-store.js';
import { ODD_TEXTS } from '../../../support/odd-texts.js';

/** 2026-01-15T12:00:00Z */
const NOON = 1_768_478_400_000_000;
const ENDPOINT = '01950000-0000-7000-8000-00000000000a';
const ACME = '/org/acme/webhooks';
const LIST = `${ACME}/endpoints/${ENDPOINT}/deliveries`;

/** The n-th delivery; later ones are newer. */
function aDelivery(n: number, more: Partial<DeliveryDetail> = {}): DeliveryDetail {
  return {
    id: `01950000-0000-7000-8000-${n.toString().padStart(12, '0')}`,
    event_type: 'trace.failed',
    status: 'pending',
    created_at: NOON + n,
    attempt_count: 0,
    body: '{}',
    attempts: [],
    hasMoreAttempts: false,
    ...more,
  };
}

/** The routes over in-memory stores. A key is `user:scope,scope`; `ann` is admin of acme, `bob` a member, `eve` admin of another. */
async function startDeliveries(t: Test, engine: (typeof ENGINES)[number] = 'uws') {
  const control = await openControlStore(t);
  const deliveries = new MemoryDeliveries();
  for (const slug of ['acme', 'other'])
    await control.organizations.create({ id: randomUUID(), slug, name: slug, created_at: NOON });
  for (const [id, slug, role] of [
    ['ann', 'acme', 'admin'],
    ['bob', 'acme', 'member'],
    ['eve', 'other', 'admin'],
  ] as const) {
    await control.accounts.createUser({
      id,
      email: id,
      name: id,
      monthly_event_limit: null,
      stored_bytes_limit: null,
      disabled: false,
      created_at: NOON,
    });
    await control.organizations.putMember(slug, id, role);
  }
  const authenticate: Host['authenticate'] = (request, scope) => {
    const [userId = '', list = ''] = (request.header('authorization') ?? '').slice(7).split(':');
    const scopes = list.split(',') as Scope[];
    if (scope !== undefined && scope !== 'any' && !scopes.includes(scope))
      throw new HttpProblem(403, 'forbidden_scope', 'No.');
    return { userId, keyId: null, scopes };
  };
  const routes = createRouteBuilder({ authenticate });
  const shown = { organizations: control.organizations, deliveries };
  const { url } = await startListener(
    t,
    engine,
    webhookDeliveryRoutes({ audit: () => undefined, routes, control: shown }),
  );
  return { deliveries, url, api: new ApiCaller(url, 'ann:read,manage') };
}

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly count: number;
}

void t.test('lists deliveries in pages, newest first, without bodies', async (t) => {
  const { api, deliveries } = await startDeliveries(t);
  for (let n = 1; n <= 101; n++) deliveries.add('acme', ENDPOINT, aDelivery(n));
  deliveries.add(
    'acme',
    ENDPOINT,
    aDelivery(102, { status: 'success', attempt_count: 3, event_type: 'x.y', body: '{"secret":1}' }),
  );
  const first = await api.get<Page>(LIST);
  t.strictSame(
    { ...first, items: first.items.slice(0, 2) },
    {
      items: [
        {
          id: aDelivery(102).id,
          event_type: 'x.y',
          status: 'success',
          created_at: '2026-01-15T12:00:00.000102Z',
          attempt_count: 3,
        },
        {
          id: aDelivery(101).id,
          event_type: 'trace.failed',
          status: 'pending',
          created_at: '2026-01-15T12:00:00.000101Z',
          attempt_count: 0,
        },
      ],
      count: 102,
      page: 1,
      page_size: 20,
      has_more: true,
    },
  );
  t.equal(first.items.length, 20);
  const pages = async (size: number) => {
    const ids: string[] = [];
    for (let page = 1; ; page++) {
      const got = await api.get<Page & { has_more: boolean }>(`${LIST}/?page=${page}&page_size=${size}`);
      t.equal(got.count, 102);
      ids.push(...got.items.map(({ id }) => id));
      if (!got.has_more) return ids;
    }
  };
  const all = Array.from({ length: 102 }, (_, index) => aDelivery(102 - index).id);
  for (const size of [7, 34, 100]) t.strictSame(await pages(size), all);
  for (const [query, expected] of [
    ['?page=0&page_size=0', { page: 1, page_size: 1, has_more: true }],
    ['?page=-5&page_size=1000', { page: 1, page_size: 100, has_more: true }],
    ['?page=99', { items: [], count: 102, page: 99, has_more: false }],
  ] as const)
    t.match(await api.get(LIST + query), expected, query);
  for (const query of ['?page=x', '?page_size='])
    t.match(await api.call('GET', LIST + query), { status: 422, body: { code: 'validation_failed' } }, query);
});

void t.test('a delivery includes its attempts', async (t) => {
  const { api, deliveries } = await startDeliveries(t);
  const attempts = [
    {
      attempt_number: 1,
      http_status_code: 503,
      response_body: 'busy \u2028 \uFFFD',
      duration_ms: 12,
      attempted_at: NOON,
      error_message: null,
    },
    {
      attempt_number: 2,
      http_status_code: null,
      response_body: '',
      duration_ms: null,
      attempted_at: NOON + 5_000_000,
      error_message: 'The receiver refused the connection',
    },
  ];
  const { id } = aDelivery(1);
  deliveries.add(
    'acme',
    ENDPOINT,
    aDelivery(1, { status: 'failed', body: '{"a":1}', attempts, attempt_count: 2 }),
  );
  t.strictSame(await api.get(`${ACME}/deliveries/${id}`), {
    id,
    event_type: 'trace.failed',
    status: 'failed',
    request_body: { a: 1 },
    created_at: '2026-01-15T12:00:00.000001Z',
    attempts: [
      { ...attempts[0], attempted_at: '2026-01-15T12:00:00Z' },
      { ...attempts[1], attempted_at: '2026-01-15T12:00:05Z' },
    ],
  });
});

for (const engine of ENGINES)
  void t.test(`${engine}: the body of a delivery is returned byte for byte`, async (t) => {
    const { deliveries, url } = await startDeliveries(t, engine);
    const bodies = [
      '{}',
      '{"id":"e","data":{"a":1.0,"b":1e2,"c":-0.0,"d":12345678901234567890.10,"e":0.1000}}',
      '{ "spaces" :\t[ 1 ,\n2 ] }',
      '{"same":1,"same":2,"__proto__":{"x":1}}',
      String.raw`{"escaped":"\u00e9\u2028\/\ud83d\ude00\ud800"}`,
      '{"raw":"é\u2028\u2029 日本 😀"}',
      ...ODD_TEXTS.map((text) => JSON.stringify({ text })),
      JSON.stringify({ much: 'é'.repeat(128 * 1024) }),
    ];
    for (const [index, body] of bodies.entries()) {
      const delivery = aDelivery(index, { body });
      deliveries.add('acme', ENDPOINT, delivery);
      const answer = await send(`${url}/api/v1${ACME}/deliveries/${delivery.id}`, {
        headers: { authorization: 'Bearer bob:read' },
      });
      t.equal(answer.headers['content-type'], 'application/json');
      const expected = `{"id":"${delivery.id}","event_type":"trace.failed","status":"pending","request_body":${body},"created_at":`;
      t.ok(answer.body.startsWith(expected), `body ${index}`);
      t.doesNotThrow(answer.json);
    }
  });

void t.test('each call queues a retry, in any status', async (t) => {
  const { api, deliveries } = await startDeliveries(t);
  for (const [n, status] of (['pending', 'success', 'failed'] as const).entries())
    deliveries.add('acme', ENDPOINT, aDelivery(0xa + n, { status }));
  const ids = [aDelivery(10).id, aDelivery(11).id, aDelivery(12).id];
  for (const id of [...ids, ...ids]) {
    const answer = await api.call('POST', `${ACME}/deliveries/${id}/retry`);
    t.strictSame([answer.status, answer.body], [202, { queued: true, delivery_id: id }]);
  }
  t.strictSame(deliveries.retried, [...ids, ...ids]);
  const odd = 'ABCDEF00-0000-7000-8000-000000000000';
  deliveries.add('acme', ENDPOINT, aDelivery(0, { id: odd.toLowerCase() }));
  t.match(await api.call('POST', `${ACME}/deliveries/${odd}/retry`), {
    status: 202,
    body: { queued: true, delivery_id: odd.toLowerCase() },
  });
  t.match(await api.get(`${ACME}/deliveries/${odd}`), { id: odd.toLowerCase() });
});

void t.test('members need the scope of each action, and others get 404', async (t) => {
  const { api, deliveries } = await startDeliveries(t);
  const { id } = aDelivery(1);
  deliveries.add('acme', ENDPOINT, aDelivery(1));
  const attempts = async (slug: string, key: string, delivery = id, endpoint = ENDPOINT) => {
    const base = `/org/${slug}/webhooks`;
    const answers = [
      await api.call('GET', `${base}/endpoints/${endpoint}/deliveries`, { key }),
      await api.call('GET', `${base}/deliveries/${delivery}`, { key }),
      await api.call('POST', `${base}/deliveries/${delivery}/retry`, { key }),
    ];
    return answers.map(({ status, body }) => [status, (body as { detail?: string }).detail]);
  };
  const fine = [
    [200, undefined],
    [200, undefined],
    [202, undefined],
  ];
  t.strictSame(await attempts('acme', 'ann:read,manage'), fine);
  t.strictSame(await attempts('acme', 'bob:read,manage'), fine);
  const noOrganization = [404, notFound('organization').message];
  for (const [slug, user] of [
    ['acme', 'eve'],
    ['acme', 'nobody'],
    ['nowhere', 'eve'],
  ] as const)
    t.strictSame(
      await attempts(slug, `${user}:read,manage`),
      [noOrganization, noOrganization, noOrganization],
      `${user} in ${slug}`,
    );
  const missing = [
    [404, notFound('webhook endpoint').message],
    [404, notFound('webhook delivery').message],
    [404, notFound('webhook delivery').message],
  ];
  t.strictSame(await attempts('other', 'eve:read,manage'), missing, 'not through another organization');
  t.strictSame(await attempts('acme', 'ann:read,manage', randomUUID(), randomUUID()), missing);
  t.strictSame(await attempts('acme', 'ann:read'), [fine[0], fine[1], [403, 'No.']]);
  t.strictSame(await attempts('acme', 'ann:manage'), [[403, 'No.'], [403, 'No.'], fine[2]]);
  t.strictSame(deliveries.retried, [id, id, id], 'only permitted calls');

  const refused = async (method: string, path: string, status: number, call: Call = {}) => {
    t.equal((await api.call(method, path, call)).status, status, `${method} ${path}`);
  };
  await refused('GET', `${ACME}/endpoints/x/deliveries`, 422);
  await refused('GET', `${ACME}/deliveries/x`, 422);
  await refused('GET', `${ACME}/deliveries/${id}0`, 422);
  await refused('POST', `${ACME}/deliveries/${'z'.repeat(36)}/retry`, 422);
  await refused('GET', `/org/%20/webhooks/deliveries/${id}`, 422);
  await refused('GET', `/org/%zz/webhooks/deliveries/${id}`, 400);
  await refused('POST', `${ACME}/deliveries/${id}`, 405);
  await refused('GET', `${ACME}/deliveries/${id}/retry`, 405);
  await refused('DELETE', LIST, 405);
});
