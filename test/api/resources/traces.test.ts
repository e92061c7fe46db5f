import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi } from '../../support/api.js';
import { traceIdOf } from '../../support/header-text.js';
import { anItem, aSpan } from '../../support/trace-batch.js';

void t.test('returns a trace with ordered spans and exact numbers and payloads', async (t) => {
  const api = await startApi(t);
  const item = anItem({ spans: 0 });
  const id = traceIdOf(item);
  const late = aSpan(id, {
    started_at: '2026-11-03T08:15:30.300000Z',
    ended_at: null,
    duration_ms: undefined,
  });
  const root = aSpan(id, {
    type: 'agent',
    name: 'run',
    started_at: '2026-11-03T08:15:30.25Z',
    model: undefined,
  });
  const failed = aSpan(id, {
    type: 'tool',
    parent_span_id: root['span_id'],
    status: 'failed',
    error_message: 'timeout',
    started_at: '2026-11-03T08:15:30.300001Z',
    input_data: undefined,
    output_data: undefined,
    cost_usd: undefined,
  });
  item.spans.push(failed, late, root);
  await api.send([item]);

  const trace = await api.get<Record<string, unknown> & { spans: Record<string, unknown>[] }>(
    `/dashboard/traces/${id}`,
  );
  t.strictSame(Object.keys(trace), [
    ...[
      'trace_id',
      'agent_name',
      'kind',
      'session_id',
      'user_id',
      'tags',
      'environment',
      'release',
      'agent_version',
      'repository',
      'status',
      'started_at',
      'ended_at',
      'duration_ms',
      'success',
      'outcome',
    ],
    ...['error_message', 'total_tokens', 'total_cost_usd', 'sample_rate', 'metadata', 'scores', 'spans'],
  ]);
  t.match(trace, {
    trace_id: id,
    agent_name: 'researcher',
    status: 'completed',
    started_at: '2026-11-03T08:15:30.250Z',
    ended_at: '2026-11-03T08:15:31.500Z',
    success: true,
    outcome: null,
    error_message: null,
    metadata: { environment: 'test' },
  });
  t.strictSame(
    trace.spans.map((span) => span['span_id']),
    [root, late, failed].map((span) => span['span_id']),
  );
  t.strictSame(trace.spans[1], {
    span_id: late['span_id'],
    trace_id: id,
    parent_span_id: null,
    type: 'llm',
    name: 'answer',
    status: 'completed',
    started_at: '2026-11-03T08:15:30.300Z',
    ended_at: null,
    duration_ms: null,
    model: 'model-one',
    input_tokens: 100,
    output_tokens: 20,
    total_tokens: 120,
    cost_usd: 0.00125,
    error_message: null,
    input_data: { messages: [{ role: 'user', content: 'Why is the sky blue?' }] },
    output_data: { content: 'Because of Rayleigh scattering.' },
  });
  t.match(trace.spans[2], {
    parent_span_id: root['span_id'],
    status: 'failed',
    error_message: 'timeout',
    input_data: null,
    output_data: null,
    cost_usd: null,
  });
});

void t.test('finds a trace by its id in any case, with a trailing slash and by HEAD', async (t) => {
  const api = await startApi(t);
  const id = 'ABCDEF01-2345-6789-abcd-ef0123456789';
  await api.send([anItem({ trace: { trace_id: id }, spans: 0 })]);
  for (const path of [id, id.toLowerCase(), `${id.toUpperCase()}/`]) {
    const trace = await api.get<{ trace_id: string; spans: unknown[] }>(`/dashboard/traces/${path}`);
    t.equal(trace.trace_id, id.toLowerCase());
    t.strictSame(trace.spans, [], 'no spans is an empty list');
  }
  const head = await api.call('HEAD', `/dashboard/traces/${id}`);
  t.equal(head.status, 200);
  t.equal(head.body, undefined);
});

void t.test('sets and changes an outcome and keeps omitted or null fields', async (t) => {
  const api = await startApi(t);
  const item = anItem({ trace: { success: undefined } });
  const id = traceIdOf(item);
  await api.send([item]);
  const path = `/dashboard/traces/${id}`;
  t.match(await api.get(path), { success: null, outcome: null });

  const steps = [
    { json: { success: true, outcome: 'resolved' }, expected: { success: true, outcome: 'resolved' } },
    { json: { success: false }, expected: { success: false, outcome: 'resolved' } },
    { json: { success: true, outcome: null }, expected: { success: true, outcome: 'resolved' } },
    { json: { success: true, outcome: '' }, expected: { success: true, outcome: '' } },
    { json: { success: false, outcome: 'ünïcode 🦜' }, expected: { success: false, outcome: 'ünïcode 🦜' } },
  ];
  for (const { json, expected } of steps) {
    const answer = await api.call('PATCH', `${path}/outcome`, { json });
    t.equal(answer.status, 200);
    t.strictSame(answer.body, { trace_id: id, ...expected });
    t.match(await api.get(path), expected);
  }
});

void t.test('an outcome needs a boolean success and rejects unknown fields', async (t) => {
  const api = await startApi(t);
  const item = anItem();
  await api.send([item]);
  const path = `/dashboard/traces/${traceIdOf(item)}/outcome`;
  const cases: readonly (readonly [unknown, string])[] = [
    [{}, '/success'],
    [{ success: null }, '/success'],
    [{ success: 'true' }, '/success'],
    [{ success: 1 }, '/success'],
    [{ success: true, outcome: 5 }, '/outcome'],
    [{ success: true, outcome: 'x'.repeat(65_537) }, '/outcome'],
    [{ success: true, outcom: 'typo' }, '/outcom'],
    [{ success: true, 'a/b~c': 1 }, '/a~1b~0c'],
    [[], ''],
    [null, ''],
    ['x', ''],
  ];
  for (const [json, field] of cases) {
    const answer = await api.call('PATCH', path, { json });
    t.equal(answer.status, 422, JSON.stringify(json));
    t.match(answer.body, { code: 'validation_failed', errors: [{ field }] });
  }
});

void t.test('an unknown trace is 404, an invalid id 422', async (t) => {
  const api = await startApi(t);
  const missing = randomUUID();
  const calls = [
    (id: string) => api.call('GET', `/dashboard/traces/${id}`),
    (id: string) => api.call('PATCH', `/dashboard/traces/${id}/outcome`, { json: { success: true } }),
  ];
  for (const call of calls) {
    const unknown = await call(missing);
    t.equal(unknown.status, 404);
    t.match(unknown.body, { code: 'not_found', detail: /^There is no such trace:/ });
    for (const id of ['nonsense', '123', `${missing}0`, '%00', "'%20OR%201=1", missing.replaceAll('-', '')]) {
      const answer = await call(id);
      t.equal(answer.status, 422, id);
      t.match(answer.body, {
        code: 'validation_failed',
        errors: [{ field: 'trace_id', message: 'must be a UUID' }],
      });
    }
  }
});

void t.test('compare-agents returns both agents in the requested order', async (t) => {
  const api = await startApi(t);
  const run = (agent: string, duration_ms: number, more = {}) =>
    anItem({ trace: { agent, duration_ms, success: undefined, ...more }, spans: 0 });
  await api.send([
    run('alpha', 100, { success: true, total_cost_usd: '0.100000' }),
    run('alpha', 200, { success: true, total_cost_usd: '0.200000' }),
    run('alpha', 300, { success: false }),
    run('beta', 50, { status: 'failed', started_at: '2026-11-02T00:00:00Z', ended_at: undefined }),
  ]);
  const agents = await api.get<{ id: string; name: string }[]>('/agents');
  const idOf = (name: string) => agents.find((agent) => agent.name === name)?.id ?? '';
  const [alpha, beta] = [idOf('alpha'), idOf('beta')];

  const expected = {
    alpha: {
      id: alpha,
      name: 'alpha',
      total_runs: 3,
      success_rate: 2 / 3,
      failed_runs: 0,
      failure_percentage: 0,
      avg_cost_per_run: 0.15,
      total_cost: 0.3,
      p95_latency_ms: 290,
      last_run_at: '2026-11-03T08:15:30.250Z',
    },
    beta: {
      id: beta,
      name: 'beta',
      total_runs: 1,
      success_rate: null,
      failed_runs: 1,
      failure_percentage: 100,
      avg_cost_per_run: null,
      total_cost: null,
      p95_latency_ms: 50,
      last_run_at: '2026-11-02T00:00:00Z',
    },
  };
  const compare = (a: string, b: string) =>
    api.get(`/dashboard/traces/compare-agents?agent_a=${a}&agent_b=${b}`);
  t.strictSame(await compare(alpha, beta), { agents: [expected.alpha, expected.beta] });
  t.strictSame(await compare(beta.toUpperCase(), alpha), { agents: [expected.beta, expected.alpha] });
  t.strictSame(await compare(alpha, alpha), { agents: [expected.alpha, expected.alpha] });
});

void t.test('compare-agents requires two ids of existing agents', async (t) => {
  const api = await startApi(t);
  await api.send([anItem()]);
  const [agent] = await api.get<{ id: string }[]>('/agents');
  const id = agent?.id ?? '';
  const path = '/dashboard/traces/compare-agents';
  const cases: readonly (readonly [string, number, readonly string[]])[] = [
    ['', 422, ['agent_a', 'agent_b']],
    [`?agent_a=${id}`, 422, ['agent_b']],
    [`?agent_a=${id}&agent_b=x`, 422, ['agent_b']],
    [`?agent_a=${id}&agent_b=`, 422, ['agent_b']],
    [`?agent_a=${id}&agent_b=${id}&agent_a=${id}`, 422, ['agent_a']],
    [`?agent_a=${id}&agent_b=${randomUUID()}`, 404, []],
    [`?agent_a=${randomUUID()}&agent_b=${id}`, 404, []],
  ];
  for (const [query, status, fields] of cases) {
    const answer = await api.call('GET', path + query);
    t.equal(answer.status, status, query);
    const { errors = [] } = answer.body as { errors?: { field: string }[] };
    t.strictSame(
      errors.map(({ field }) => field),
      fields,
    );
  }
});
