import { randomUUID } from 'node:crypto';
import t from 'tap';
import { envelope } from '../../../../src/signal/event.js';
import { UNWATCHED } from '../../../support/alert-calls.js';
import { startApi } from '../../../support/api.js';
import { anEvent } from '../../../support/event-records.js';

const PLACE = '/org/default/webhooks';

interface Page {
  readonly items: readonly { readonly id: string; readonly status: string }[];
  readonly next_cursor: string | null;
}

void t.test('lists the deliveries of an organization and retries them in bulk', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const { deliveries } = api.control;
  const user = (await api.get<{ readonly user: { readonly id: string } }>('/me')).user.id;
  const { key: stranger } = await api.createUser('other@example.com', ['read', 'manage']);
  const json = { url: 'https://hook.example/', event_types: ['*'] };
  const { body } = await api.call('POST', `${PLACE}/endpoints`, { json });
  const { id: endpoint_id } = body as { readonly id: string };
  const trace_id = randomUUID();
  const now = Date.now() * 1000;
  const events = [1, 2, 3].map((n) => {
    const event = anEvent(n, n === 3 ? 'trace.completed' : 'trace.failed', {});
    return { ...event, body: envelope(event, { trace_id: n === 1 ? trace_id : randomUUID() }) };
  });
  for (const [at, event] of events.entries()) await deliveries.enqueue([{ tenant: user, event }], now + at);
  const { claims } = await deliveries.claim({
    now: now + 10,
    limit: 10,
    perEndpoint: 10,
    perOrganization: 10,
    perHost: 10,
    leaseMs: 60_000,
  });
  await deliveries.finish(
    claims.map(({ delivery_id, attempt, event_type }) => ({
      delivery_id,
      attempt,
      succeeded: event_type === 'trace.completed',
      statusCode: 500,
      responseBody: '',
      durationMs: 1,
      error: null,
      retryAt: null,
      isGone: false,
    })),
    { now, breakerThreshold: 100 },
  );
  const list = (query = '', key?: string) => api.get<Page>(`${PLACE}/deliveries${query}`, key);
  const all = await list();
  t.match(all, {
    items: [
      { event_type: 'trace.completed', status: 'success', attempt_count: 1, endpoint_id },
      { event_type: 'trace.failed', status: 'failed' },
      { status: 'failed', subject: { kind: 'trace', id: trace_id }, created_at: /Z$/ },
    ],
    next_cursor: null,
  });
  const ids = async (query: string) => (await list(query)).items.map(({ id }) => id);
  const [third, second, first] = all.items.map(({ id }) => id);
  t.same(await ids('?status=failed'), [second, first]);
  t.same(await ids('?event_type=trace.completed'), [third]);
  t.same(await ids(`?trace_id=${trace_id}`), [first]);
  t.same(await ids(`?endpoint_id=${randomUUID()}`), []);
  const page = await list('?page_size=2');
  t.same(
    page.items.map(({ id }) => id),
    [third, second],
  );
  t.same(await ids(`?page_size=2&cursor=${page.next_cursor ?? ''}`), [first]);
  for (const query of ['?status=lost', '?trace_id=1', '?cursor=eA', '?cursor=WzEsMl0'])
    t.equal((await api.call('GET', `${PLACE}/deliveries${query}`)).status, 422, query);
  t.equal((await api.call('GET', `${PLACE}/deliveries`, { key: stranger })).status, 404);

  const retry = (changes: object = {}, key?: string) =>
    api.call('POST', `${PLACE}/deliveries/retry`, {
      json: { endpoint_id, since: '2026-01-01T00:00:00Z', ...changes },
      ...(key === undefined ? {} : { key }),
    });
  t.match(await retry({ since: '2200-01-01T00:00:00Z' }), { status: 202, body: { queued: 0 } });
  t.match(await retry(), { status: 202, body: { queued: 2, has_more: false } });
  t.match(await retry(), { status: 202, body: { queued: 0, has_more: false } }, 'once');
  t.same(await ids('?status=pending'), [second, first]);
  t.equal((await retry({ endpoint_id: randomUUID() })).status, 404);
  t.equal((await retry({}, stranger)).status, 404);
  t.match(await retry({ status: 'success' }), { status: 422 });
  t.match(await retry({ since: undefined }), { status: 422 });
  await api.call('PATCH', `${PLACE}/endpoints/${endpoint_id}`, { json: { is_active: false } });
  t.match(await retry(), { status: 409, body: { detail: /activate it/ } });
  const { key: reader } = await api.createKey(['read']);
  t.equal((await retry({}, reader)).status, 403);
});
