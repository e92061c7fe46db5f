import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { startApi, type TestApi } from '../../support/api.js';
import { traceIdOf } from '../../support/header-text.js';
import { aSpan, anItem, type Item } from '../../support/trace-batch.js';

interface Model {
  readonly model: string | null;
  readonly calls: number;
  readonly priced_calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly total_cost: number | null;
  readonly first_call_at: string;
  readonly last_call_at: string;
}

interface Page {
  readonly items: readonly Model[];
  readonly count: number;
  readonly page: number;
  readonly page_size: number;
  readonly has_more: boolean;
}

/** A run with calls; each gives its model, start hour and other relevant fields. */
function aRun(agent: string, calls: readonly (JsonObject & { readonly hour: string })[]): Item {
  const item = anItem({
    trace: { agent, started_at: '2026-11-03T00:00:00Z', ended_at: undefined },
    spans: 0,
  });
  const traceId = traceIdOf(item);
  const spans = calls.map(({ hour, ...call }) => ({
    ...aSpan(traceId, {
      total_tokens: undefined,
      duration_ms: undefined,
      ended_at: undefined,
      cost_usd: undefined,
    }),
    started_at: `2026-11-03T${hour}:00:00Z`,
    ...call,
  }));
  return { trace: item.trace, spans };
}

const RUNS = [
  aRun('a', [
    { hour: '01', model: 'gpt-5', input_tokens: 1000, output_tokens: 100 },
    { hour: '03', model: 'gpt-5', input_tokens: 10, output_tokens: 1, cost_usd: '1.5' },
    { hour: '02', model: 'unheard-of', input_tokens: 7, output_tokens: 3 },
    { hour: '02', model: 'gpt-5', type: 'agent', input_tokens: 1000, cost_usd: '9' },
  ]),
  aRun('b', [
    { hour: '04', model: 'unheard-of', input_tokens: 1, output_tokens: null },
    { hour: '05', model: 'gpt-4o', input_tokens: null, output_tokens: null },
    { hour: '05', model: null, input_tokens: 5, output_tokens: 5, cost_usd: '0.25' },
  ]),
];

const GPT5: Model = {
  model: 'gpt-5',
  calls: 2,
  priced_calls: 2,
  // With what the agent reports.
  input_tokens: 2010,
  output_tokens: 121,
  total_tokens: 2131,
  total_cost: 10.50225,
  first_call_at: '2026-11-03T01:00:00Z',
  last_call_at: '2026-11-03T03:00:00Z',
};
const UNNAMED: Model = {
  model: null,
  calls: 1,
  priced_calls: 1,
  input_tokens: 5,
  output_tokens: 5,
  total_tokens: 10,
  total_cost: 0.25,
  first_call_at: '2026-11-03T05:00:00Z',
  last_call_at: '2026-11-03T05:00:00Z',
};
const UNHEARD: Model = {
  model: 'unheard-of',
  calls: 2,
  priced_calls: 0,
  input_tokens: 8,
  output_tokens: 3,
  total_tokens: 11,
  total_cost: null,
  first_call_at: '2026-11-03T02:00:00Z',
  last_call_at: '2026-11-03T04:00:00Z',
};

async function names(api: TestApi, query: string): Promise<readonly (string | null)[]> {
  return (await api.get<Page>(`/dashboard/models?${query}`)).items.map(({ model }) => model);
}

void t.test('lists models with their usage, most expensive first, priced or not', async (t) => {
  const api = await startApi(t);
  t.strictSame(await api.get('/dashboard/models'), {
    items: [],
    count: 0,
    page: 1,
    page_size: 20,
    has_more: false,
  });
  await api.send(RUNS);
  const page = await api.get<Page>('/dashboard/models/');
  t.strictSame(page.items.slice(0, 3), [GPT5, UNNAMED, UNHEARD]);
  t.match(page.items[3], { model: 'gpt-4o', calls: 1, priced_calls: 0, total_tokens: 0, total_cost: null });
  t.match(page, { count: 4, has_more: false });
  await api.send(RUNS);
  t.strictSame(await api.get('/dashboard/models'), page, 'repeats change nothing');
});

void t.test('filters models by agent and time, in pages', async (t) => {
  const api = await startApi(t);
  await api.send(RUNS);
  const agents = await api.get<{ id: string; name: string }[]>('/agents');
  const idOf = (name: string) => agents.find((agent) => agent.name === name)?.id ?? '';
  t.strictSame(await names(api, `agent_id=${idOf('a')}`), ['gpt-5', 'unheard-of']);
  t.strictSame(await names(api, `agent_id=${idOf('b')}`), [null, 'gpt-4o', 'unheard-of'], 'ties by name');
  t.strictSame(await names(api, `agent_id=00000000-0000-0000-0000-000000000000`), []);
  t.strictSame(await names(api, 'start_time=2026-11-03T03:00:00Z&end_time=2026-11-03T04:00:00Z'), [
    'gpt-5',
    'unheard-of',
  ]);
  const last = await api.get<Page>('/dashboard/models?page_size=3&page=2');
  t.match(last, { items: [{ model: 'gpt-4o' }], count: 4, page: 2, page_size: 3, has_more: false });
  t.match(await api.get('/dashboard/models?page_size=3'), { count: 4, has_more: true });
  t.match(await api.get('/dashboard/models?page=9'), { items: [], count: 4, has_more: false });
  for (const query of ['agent_id=a', 'start_time=yesterday', 'page=first'])
    t.equal((await api.call('GET', `/dashboard/models?${query}`)).status, 422, query);
});

void t.test('a call completed later counts once with its final values', async (t) => {
  const api = await startApi(t);
  const run = aRun('a', [{ hour: '01', model: 'gpt-5', input_tokens: 1000, output_tokens: 100 }]);
  const running = run.spans.map((span) => ({ ...span, status: 'running', output_tokens: null }));
  await api.send([{ trace: { ...run.trace, status: 'running' }, spans: running }]);
  t.match(await api.get('/dashboard/models'), { items: [{ calls: 1, priced_calls: 0, total_tokens: 1000 }] });
  await api.send([run]);
  t.match(await api.get('/dashboard/models'), {
    items: [{ calls: 1, priced_calls: 1, total_tokens: 1100, total_cost: 0.00225 }],
    count: 1,
  });
});

void t.test('users see only their own models and need the scope read', async (t) => {
  const api = await startApi(t);
  await api.send(RUNS);
  const other = await api.createUser('other@example.com', ['read', 'write']);
  t.match(await api.get('/dashboard/models', other.key), { items: [], count: 0 });
  const agents = await api.get<{ id: string }[]>('/agents');
  t.match(await api.get(`/dashboard/models?agent_id=${agents[0]?.id ?? ''}`, other.key), { count: 0 });
  await api.send([aRun('a', [{ hour: '01', model: 'o3' }])], other.key);
  t.match(await api.get('/dashboard/models', other.key), { items: [{ model: 'o3' }], count: 1 });
  const { key } = await api.createKey(['write']);
  t.equal((await api.call('GET', '/dashboard/models', { key })).status, 403);
  t.equal((await api.call('GET', '/dashboard/models', { key: null })).status, 401);
});

void t.test('lists tools with failures, percentiles and agents', async (t) => {
  const api = await startApi(t);
  const call = (minute: number, name: string, fields: JsonObject) => ({
    hour: `0${String(minute % 10)}`,
    type: 'tool',
    model: null,
    name,
    ...fields,
  });
  const search = [100, 200, 300, 400].map((duration_ms, at) =>
    call(at, 'search', { duration_ms, status: at === 3 ? 'failed' : 'completed' }),
  );
  const running = call(5, 'pay', { status: 'running' });
  await api.send([aRun('a', search), aRun('b', [running, call(6, 'search', { duration_ms: 400 })])]);
  const day = 'start_time=2026-11-03T00:00:00Z&end_time=2026-11-03T23:00:00Z';
  const { items } = await api.get<{ readonly items: readonly JsonObject[] }>(`/dashboard/tools?${day}`);
  t.match(items, [
    {
      tool: 'search',
      calls: 5,
      failed_calls: 1,
      p50_ms: 300,
      p95_ms: 400,
      last_call_at: '2026-11-03T06:00:00Z',
      agents: [
        { name: 'a', calls: 4, failed_calls: 1 },
        { name: 'b', calls: 1, failed_calls: 0 },
      ],
    },
    { tool: 'pay', calls: 1, failed_calls: 0, p50_ms: null, p95_ms: null, agents: [{ name: 'b' }] },
  ]);
  t.match(await api.get('/dashboard/tools?start_time=2026-11-03T05:30:00Z&end_time=2026-11-03T23:00:00Z'), {
    count: 1,
    items: [{ tool: 'search', calls: 1, agents: [{ name: 'b' }] }],
  });
  t.match(await api.get('/dashboard/tools'), { count: 0, items: [] }, 'by default the last day');
  t.match(
    await api.call('GET', '/dashboard/tools?start_time=2026-11-03T05:30:00Z&end_time=2026-11-02T00:00:00Z'),
    {
      status: 422,
    },
  );
});
