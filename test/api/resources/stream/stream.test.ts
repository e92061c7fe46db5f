import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { startApi } from '../../../support/api.js';
import { ApiCaller } from '../../../support/api-caller.js';
import { startTestDaemon } from '../../../support/daemon.js';
import { EventStreamClient } from '../../../support/event-stream.js';
import { traceIdOf } from '../../../support/header-text.js';
import { ENGINES } from '../../../support/http-listener.js';
import { logRequest } from '../../../support/log-request.js';
import { anItem, aSpan } from '../../../support/trace-batch.js';
import { until } from '../../../support/until.js';

async function sendLogs(api: ApiCaller, service: string, bodies: readonly string[], key = api.adminKey) {
  const logs = bodies.map((body, i) => ({ body, nanos: 1_780_000_000_000_000_000n + BigInt(i) }));
  const { status } = await api.call('POST', '/otlp/v1/logs', { key, json: logRequest(service, logs) });
  if (status !== 200) throw new Error(`the records were refused: ${status}`);
}

void t.test('streams stored runs, spans and log records to their user only', async (t) => {
  const api = await startApi(t);
  const other = await api.createUser('other@example.com', ['read', 'write']);
  const item = anItem({ trace: { status: 'running', ended_at: undefined, success: undefined } });
  const id = traceIdOf(item);
  await api.send([item]);
  const { seq } = await api.get<{ seq: number }>(`/dashboard/traces/${id}/spans`);
  // Events between the first read and the stream are not missed.
  await api.send([{ ...item, spans: [aSpan(id, { name: 'between' })] }]);
  const coming = randomUUID();
  const topics = `runs,logs,alerts,trace:${id.toUpperCase()}@${seq},trace:${coming}`;
  const stream = await EventStreamClient.open(t, api, `topics=${topics}&query=disk+full&service_name=shop`);
  const theirs = await EventStreamClient.open(t, api, `topics=runs,logs,trace:${id}@0`, { key: other.key });
  t.equal(stream.status, 200);
  t.match(Object.fromEntries(stream.headers), {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  t.notOk(stream.headers.get('content-encoding'));
  t.match(await stream.next('open'), { id: /^[0-9a-f]{12}\.\d+$/ });
  t.match(await stream.next('span'), {
    data: { trace_id: id, status: 'running', spans: [{ name: 'between' }] },
  });

  await api.send([{ ...item, spans: [aSpan(id, { name: 'later', input_data: { a: 'long' } })] }]);
  const { data } = await stream.next('span');
  t.match(data, { trace_id: id, spans: [{ name: 'later', preview: '{"a":"long"}', input_bytes: 12 }] });
  t.equal((data['spans'] as unknown[]).length, 1, 'only new spans');
  const list = await api.get<{ items: object[] }>('/dashboard/traces');
  t.strictSame((await stream.next('run')).data, list.items[0], 'as in the list');

  await api.call('PATCH', `/dashboard/traces/${id}/outcome`, { json: { success: true, outcome: 'well' } });
  t.match(await stream.next('run'), { data: { trace_id: id, success: true, outcome: 'well' } });
  t.match(await stream.next('span'), { data: { trace_id: id, outcome: 'well', spans: [] } });

  const scored = async (name: string) => {
    const attributes = {
      ...{ 'event.name': 'gen_ai.evaluation.result', 'gen_ai.evaluation.name': name },
      'gen_ai.evaluation.score.label': 'good',
    };
    const nanos = 1_780_000_000_000_000_000n + 1000n * BigInt(name.length);
    const json = logRequest('judge', [{ body: '', nanos, traceId: id.replaceAll('-', ''), attributes }]);
    return await api.call('POST', '/otlp/v1/logs', { key: api.adminKey, json });
  };
  t.equal((await scored('Tone')).status, 200);
  t.match(await stream.next('span'), { data: { trace_id: id, scores: [{ name: 'Tone' }] } });
  await api.call('PATCH', `/dashboard/traces/${id}/outcome`, { json: { success: false, outcome: 'badly' } });
  const unscored = await stream.next('span');
  t.match(unscored.data, { trace_id: id, outcome: 'badly' });
  t.notOk('scores' in unscored.data, 'the scores did not change');
  t.equal((await scored('Fluency')).status, 200);
  t.match(await stream.next('span'), { data: { scores: [{ name: 'Tone' }, { name: 'Fluency' }] } });

  await api.send([anItem({ trace: { trace_id: coming }, spans: 0 })]);
  t.match(await stream.next('span'), { data: { trace_id: coming, spans: [] } }, 'a new run');

  await sendLogs(api, 'shop', ['The disk is full', 'disk: FULL', 'all is well']);
  await sendLogs(api, 'bank', ['disk full']);
  await sendLogs(api, 'shop', ['disk full, again']);
  const found = await api.get<{ items: object[] }>(
    '/dashboard/logs/search?query=disk+full&service_name=shop',
  );
  const lines = [await stream.next('log'), await stream.next('log'), await stream.next('log')];
  const byBody = (a: object, b: object) => JSON.stringify(a).localeCompare(JSON.stringify(b));
  t.strictSame(
    lines.map(({ data }) => data).sort(byBody),
    found.items.map((record) => ({ ...record, is_truncated: false })).sort(byBody),
    'the records and format of the search',
  );

  await api.send([anItem()], other.key);
  await sendLogs(api, 'theirs', ['disk full'], other.key);
  t.match(await theirs.next('run'), { data: { agent_name: 'researcher' } });
  t.match(await theirs.next('log'), { data: { service_name: 'theirs' } });
  theirs.close();
  stream.close();
});

void t.test('filters by topic and counts what exceeds the limit', async (t) => {
  const api = await startApi(t);
  const first = anItem({ trace: { agent: 'one' } });
  await api.send([first, anItem({ trace: { agent: 'two' } })]);
  const agents = await api.get<{ id: string; name: string }[]>('/agents');
  const idOf = (name: string) => agents.find((agent) => agent.name === name)?.id ?? '';
  const stream = await EventStreamClient.open(t, api, `topics=runs&agent_id=${idOf('two')}`);
  await stream.next('open');
  await api.send([first, anItem({ trace: { agent: 'two', outcome: 'mine' } })]);
  t.match(await stream.next('run'), { data: { agent_name: 'two', outcome: 'mine' } });

  const logs = await EventStreamClient.open(t, api, 'topics=logs');
  await logs.next('open');
  await sendLogs(api, 'shop', ['x'.repeat(100_000), ...Array.from({ length: 999 }, (_, i) => `line ${i}`)]);
  t.match(await logs.next('log'), { data: { is_truncated: true, body: /^x+…$/ } });
  t.match(await logs.next('lost'), { data: { topic: 'logs', count: 800 } });
});

void t.test('a stream resumes from a previous one or says that it cannot', async (t) => {
  const api = await startApi(t);
  const stream = await EventStreamClient.open(t, api, 'topics=runs');
  const from = await stream.next('open');
  stream.close();
  const [one, two] = [anItem(), anItem()];
  await api.send([one]);
  await api.send([two]);
  const headers = { 'last-event-id': from.id };
  const again = await EventStreamClient.open(t, api, 'topics=runs,logs,alerts', { headers });
  const runs = [await again.next('run'), await again.next('run')];
  t.strictSame(
    runs.map(({ data }) => data['trace_id']).sort(),
    [traceIdOf(one), traceIdOf(two)].sort(),
    'arrived meanwhile',
  );
  t.match(await again.next('lost'), { data: { topic: 'logs', count: null } });
  t.match(await again.next('lost'), { data: { topic: 'alerts', count: null } });
  await api.send([anItem()]);
  await again.next('run');
  again.close();
  for (const id of ['0123456789ab.1', `${from.id}9999`, 'x', '.']) {
    const lost = await EventStreamClient.open(t, api, 'topics=runs', { headers: { 'last-event-id': id } });
    t.match(await lost.next('lost'), { data: { topic: 'runs', count: null } }, id);
    lost.close();
  }
});

void t.test('streams changed alerts', async (t) => {
  const api = await startApi(t);
  const { key } = await api.createKey(['read']);
  const stream = await EventStreamClient.open(t, api, 'topics=alerts', { key });
  await stream.next('open');
  const alert = {
    ...{ target_service: 'payments', type: 'failure_rate', threshold: 0.5 },
    ...{ channel: 'webhook', webhook_url: 'https://hooks.example.com/token' },
  };
  // The feed reads its start position shortly after opening; earlier changes are not sent.
  const event = stream.next('alert');
  let isNotified = false;
  void event.then(() => (isNotified = true));
  await until('an alert is reported', async () => {
    await api.call('POST', '/alerts', { json: alert });
    return isNotified;
  });
  t.match((await event).data, {
    type: 'failure_rate',
    threshold: 0.5,
    is_firing: false,
    target_service: 'payments',
    webhook_url: 'https://hooks.example.com/…',
  });
});

void t.test('streams deliveries to members of the organization', async (t) => {
  const api = await startApi(t);
  const stranger = await api.createUser('stranger@example.com', ['read']);
  const stream = await EventStreamClient.open(t, api, 'topics=deliveries');
  const theirs = await EventStreamClient.open(t, api, 'topics=deliveries', { key: stranger.key });
  await stream.next('open');
  await theirs.next('open');
  let areTheyNotified = false;
  const notifiedThem = theirs.next('delivery').then((event) => {
    areTheyNotified = true;
    return event;
  });
  const endpoints = '/org/default/webhooks/endpoints';
  const json = { url: 'https://hook.example/', event_types: ['*'] };
  const { id } = (await api.call('POST', endpoints, { json })).body as { readonly id: string };
  // The feed reads its start position shortly after opening; earlier changes are not sent.
  const first = stream.next('delivery');
  // Few enough: every delivery fails, and too many failures pause the endpoint.
  let isNotified: boolean;
  do {
    t.equal((await api.call('POST', `${endpoints}/${id}/test`)).status, 202);
    isNotified = await Promise.race([first.then(() => true), wait(1000, false)]);
  } while (!isNotified);
  t.match((await first).data, { org_slug: 'default', endpoint_id: id, event_type: 'webhook.test' });
  const list = await api.get<{ items: readonly { readonly id: string }[] }>(
    '/org/default/webhooks/deliveries',
  );
  const oldest = list.items.at(-1)?.id ?? '';
  const retry = `/org/default/webhooks/deliveries/${oldest}/retry`;
  t.equal((await api.call('POST', retry)).status, 202);
  let next = await stream.next('delivery');
  while (next.data['id'] !== oldest) next = await stream.next('delivery');

  // A new member sees events from then on.
  t.notOk(areTheyNotified, 'not visible to others');
  const member = `/admin/orgs/default/members/${stranger.id}`;
  t.equal((await api.call('PUT', member, { json: { role: 'member' } })).status, 200);
  const { status, body } = await api.call('POST', `${endpoints}/${id}/test`);
  t.equal(status, 202);
  const { delivery_id } = body as { readonly delivery_id: string };
  let seen = await notifiedThem;
  while (seen.data['id'] !== delivery_id) seen = await theirs.next('delivery');
  t.match(seen.data, { org_slug: 'default', event_type: 'webhook.test' });
});

void t.test('streams pipeline statistics to administrators', async (t) => {
  const api = await startApi(t);
  const stream = await EventStreamClient.open(t, api, 'topics=daemon');
  const first = await stream.next('edges');
  t.match(first.data, { phase: 'running', edges: Array, components: Array });
  await api.send([anItem()]);
  const takenIn = ({ data }: { readonly data: Readonly<Record<string, unknown>> }) =>
    (data['edges'] as readonly { readonly to: { readonly id: string }; readonly accepted: number }[]).find(
      ({ to }) => to.id === 'storage',
    )?.accepted;
  t.equal(takenIn(first), 0);
  let next = await stream.next('edges');
  while (takenIn(next) === 0) next = await stream.next('edges');
  t.equal(takenIn(next), 1);
  stream.close();
  const { key } = await api.createKey(['read', 'write', 'manage']);
  const refused = await api.call('GET', '/dashboard/stream?topics=runs,daemon', { key });
  t.match(refused, { status: 403, body: { code: 'forbidden_scope' } });
});

void t.test('rejects missing scopes and too many streams', async (t) => {
  const api = await startApi(t);
  const call = async (query: string, key = api.adminKey) =>
    await api.call('GET', `/dashboard/stream?${query}`, { key });
  const writer = await api.createKey(['write']);
  t.match(await call('topics=runs', writer.key), { status: 403, body: { code: 'forbidden_scope' } });
  for (const [query, field] of [
    ['', 'topics'],
    ['topics=', 'topics'],
    ['topics=runs,nonsense', 'topics'],
    ['topics=trace:abc', 'topics'],
    [`topics=${Array.from({ length: 17 }, () => `trace:${randomUUID()}`).join(',')}`, 'topics'],
    [`topics=logs&span_id=${randomUUID()}`, 'span_id'],
    ['topics=logs&severity=loud', 'severity'],
  ] as const)
    t.match(await call(query), { status: 422, body: { errors: [{ field }] } }, query);
  const open = async () => await EventStreamClient.open(t, api, 'topics=runs');
  const streams = await Promise.all(Array.from({ length: 8 }, open));
  for (const stream of streams) await stream.next('open');
  const refused = await call('topics=runs');
  t.match(refused, { status: 429, body: { code: 'too_many_streams', detail: /at most|can have 8/ } });
  t.equal(refused.headers.get('retry-after'), '5');
  streams[0]?.close();
  // A HEAD has no events and takes no slot.
  const heads = async () =>
    (
      await fetch(`${api.url}/api/v1/dashboard/stream?topics=runs`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${api.adminKey}` },
      })
    ).status;
  while ((await heads()) === 429);
  for (let i = 0; i < 3; i += 1) t.equal(await heads(), 200);
  const ninth = await open();
  await ninth.next('open');
});

for (const engine of ENGINES)
  void t.test(`${engine}: a stream ends with its key, session and daemon`, async (t) => {
    const started = await startTestDaemon(t, { overlay: JSON.stringify({ service: { http: { engine } } }) });
    const api = new ApiCaller(started.url, started.key);
    const reader = await api.createKey(['read']);
    const byKey = await EventStreamClient.open(t, api, 'topics=runs', { key: reader.key });
    const login = await api.call('POST', '/session', {
      key: null,
      json: { key: started.key },
      headers: { 'x-jackdaw': '1', 'sec-fetch-site': 'same-origin' },
    });
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const byCookie = await EventStreamClient.open(t, api, 'topics=runs', { key: null, headers });
    const lasting = await EventStreamClient.open(t, api, 'topics=runs');
    for (const stream of [byKey, byCookie, lasting]) await stream.next('open');
    await api.send([anItem()]);
    for (const stream of [byKey, byCookie, lasting]) await stream.next('run');

    await api.call('DELETE', `/admin/keys/${reader.id}`);
    t.match((await byKey.rest()).at(-1), { event: 'bye', data: { reason: 'signed_out' } });
    await api.call('DELETE', '/session', { key: null, headers: { ...headers, 'x-jackdaw': '1' } });
    t.match((await byCookie.rest()).at(-1), { event: 'bye', data: { reason: 'signed_out' } });
    const stopping = started.daemon.shutdown();
    t.match((await lasting.rest()).at(-1), { event: 'bye', data: { reason: 'shutting_down' } });
    await stopping;
    t.notMatch(started.logs.join('\n'), /cut off|internal error/);
    t.notMatch(started.logs.join('\n'), cookie.split('=')[1] ?? '?', 'not in any log');
  });
