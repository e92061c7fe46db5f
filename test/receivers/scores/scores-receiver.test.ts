import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi } from '../../support/api.js';
import { anItem } from '../../support/trace-batch.js';

interface Reply {
  readonly accepted: number;
  readonly rejected: number;
  readonly ids: readonly string[];
}
interface Scored {
  readonly success: boolean | null;
  readonly scores: readonly Record<string, unknown>[];
}

void t.test('scores of a run, a span and a session', async (t) => {
  const api = await startApi(t);
  const item = anItem({ spans: 2, trace: { success: null, metadata: { session_id: 'chat 7' } } });
  const [trace_id, span_id] = [item.trace.trace_id as string, item.spans[1]?.span_id as string];
  const send = async (...scores: object[]): Promise<Reply> => {
    const { status, body } = await api.call('POST', '/scores', { json: { scores } });
    t.equal(status, 200);
    return body as Reply;
  };
  const run = () => api.get<Scored>(`/dashboard/traces/${trace_id}`);

  const first = {
    trace_id: trace_id.toUpperCase(),
    name: ' helpfulness ',
    value: 0.5,
    metadata: { by: ['x', 2] },
  };
  const early = await send(first, {
    ...first,
    span_id,
    label: 'good',
    value: null,
    at: '2026-11-03T08:00:00.5Z',
  });
  t.match(early, { accepted: 2, rejected: 0, ids: [/^[0-9a-f-]{36}$/, /^[0-9a-f-]{36}$/] });
  const [id] = early.ids;
  t.equal((await api.call('POST', '/traces/batch', { json: { traces: [item] } })).status, 200);
  t.match(await run(), {
    scores: [
      { name: 'helpfulness', span_id, value: null, label: 'good', at: '2026-11-03T08:00:00.500Z' },
      { id, name: 'helpfulness', span_id: null, value: 0.5, source: 'api', metadata: { by: ['x', 2] } },
    ],
  });

  t.same((await send(first)).ids, [id], 'a repeat is the same score');
  const changed = { id, trace_id, name: 'helpfulness', value: 1, comment: 'Better.', source: 'user' };
  t.same((await send(changed, { trace_id, name: 'success', label: 'fail' })).ids[0], id);
  const { success, scores } = await run();
  t.equal(success, false);
  t.equal(scores.length, 3, 'a score with the same id replaces the earlier one');
  t.match(
    scores.find((score) => score['id'] === id),
    { value: 1, comment: 'Better.', source: 'user', metadata: null },
  );

  await send(
    { session_id: ' chat 7', name: 'solved', value: 1 },
    { session_id: 'chat 8', name: 'solved', value: 0 },
  );
  const session = await api.get<Scored>('/dashboard/sessions/chat%207');
  t.match(session.scores, [{ name: 'solved', value: 1, session_id: 'chat 7' }]);
  t.equal(session.scores.length, 1);
  t.equal((await run()).scores.length, 3);
});

void t.test('a key for feedback sends scores and does nothing else', async (t) => {
  const api = await startApi(t);
  const { key } = await api.createUser('page@example.org', ['feedback']);
  const json = { scores: [{ trace_id: randomUUID(), name: 'thumbs', value: 1, source: 'user' }] };
  t.match(await api.call('POST', '/scores', { key, json }), { status: 200, body: { accepted: 1 } });
  for (const [method, path] of [
    ['GET', '/me'],
    ['GET', '/dashboard/traces'],
    ['GET', '/me/keys'],
    ['POST', '/traces/batch'],
  ] as const)
    t.match(await api.call(method, path, { key, ...(method === 'POST' && { json: {} }) }), {
      status: 403,
      body: { code: 'forbidden_scope' },
    });
  const login = { key: null, json: { key } };
  t.match(await api.call('POST', '/session', login), { status: 403, body: { code: 'forbidden_scope' } });
  const named = { trace_id: randomUUID(), name: ' Success', value: 1 };
  t.match(await api.call('POST', '/scores', { key, json: { scores: [named] } }), {
    status: 422,
    body: { errors: [{ field: '/scores/0/name' }] },
  });
  const id = randomUUID();
  const forged = { id, trace_id: randomUUID(), name: 'tone', value: 1, source: 'evaluator' };
  const { body, headers } = await api.call('POST', '/scores', { key, json: { scores: [forged] } });
  t.not((body as Reply).ids[0], id, 'it cannot replace scores of other keys');
  t.equal(headers.get('x-quota-limit'), null);
  const reader = await api.createUser('reader@example.org', ['read']);
  t.equal((await api.call('POST', '/scores', { key: reader.key, json })).status, 403);
});

void t.test('names the field of each broken rule and stores nothing', async (t) => {
  const api = await startApi(t);
  const trace_id = randomUUID();
  const good = { trace_id, name: 'tone', value: 1 };
  const cases: readonly (readonly [object, string])[] = [
    [{ name: 'tone', value: 1 }, '/scores/1/trace_id'],
    [{ session_id: 's', span_id: randomUUID(), name: 'tone', value: 1 }, '/scores/1/trace_id'],
    [{ trace_id, name: 'tone', comment: ' ' }, '/scores/1/value'],
    [{ trace_id, name: ' ', value: 1 }, '/scores/1/name'],
    [{ trace_id, name: 'tone', value: '1' }, '/scores/1/value'],
    [{ trace_id: 'x', name: 'tone', value: 1 }, '/scores/1/trace_id'],
    [{ ...good, trace_id: '0'.repeat(32) }, '/scores/1/trace_id'],
    [{ ...good, span_id: 'ab' }, '/scores/1/span_id'],
    [{ ...good, score: 1 }, '/scores/1/score'],
    [{ ...good, source: 'otlp' }, '/scores/1/source'],
    [{ ...good, metadata: { text: 'x'.repeat(8192) } }, '/scores/1/metadata'],
    [{ ...good, at: 'yesterday' }, '/scores/1/at'],
    [{ ...good, at: '2200-01-01T00:00:00Z' }, '/scores/1/at'],
    [{ ...good, name: 'success', value: 0.5 }, '/scores/1/value'],
    [{ ...good, name: 'success', value: 0.5, label: 'pass' }, '/scores/1/value'],
    [{ ...good, name: 'success', label: 'fail' }, '/scores/1/label'],
    [{ trace_id, name: ' Success', label: 'maybe' }, '/scores/1/label'],
  ];
  for (const [bad, field] of cases) {
    const { status, body } = await api.call('POST', '/scores', { json: { scores: [good, bad] } });
    t.match({ status, body }, { status: 422, body: { errors: [{ field }] } });
    t.equal((body as { errors: readonly object[] }).errors.length, 1, 'one error for one mistake');
  }
  const many = Array.from({ length: 101 }, () => good);
  t.equal((await api.call('POST', '/scores', { json: { scores: many } })).status, 422);
  t.match(await api.call('POST', '/scores', { json: { scores: [] } }), { body: { accepted: 0, ids: [] } });
  const logs = await api.get<{ readonly items: readonly object[] }>('/dashboard/logs/search');
  t.same(logs.items, []);
});
