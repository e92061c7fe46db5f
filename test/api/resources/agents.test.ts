import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi } from '../../support/api.js';
import { anItem } from '../../support/trace-batch.js';

interface Day {
  readonly date: string;
  readonly total_runs: number;
}

interface Stats {
  readonly window: string;
  readonly daily: readonly Day[];
}

const DAY_MS = 86_400_000;

void t.test('lists agents with their statistics, most recently active first', async (t) => {
  const api = await startApi(t);
  t.strictSame(await api.get('/agents'), []);
  const run = (agent: string, day: string, trace = {}) =>
    anItem({
      trace: { agent, started_at: `2026-11-${day}T10:00:00Z`, ended_at: undefined, ...trace },
      spans: 0,
    });
  await api.send([
    run('b', '03', { success: true, total_cost_usd: '1.000002' }),
    run('b', '02', { success: true, total_cost_usd: '2' }),
    run('b', '01', { success: false }),
    run('c', '03', { success: undefined }),
    run('a', '03', { success: undefined, total_cost_usd: '0' }),
    run('z', '04', { success: false }),
  ]);
  const agents = await api.get<Record<string, unknown>[]>('/agents');
  t.strictSame(
    agents.map((agent) => agent['name']),
    ['z', 'a', 'b', 'c'],
    'ties are sorted by name',
  );
  const b = agents[2] ?? {};
  const { id, created_at, ...stats } = b;
  t.strictSame(stats, {
    name: 'b',
    total_runs: 3,
    success_percentage: 66.7,
    failed_runs: 0,
    failure_percentage: 0,
    total_cost: 3.000002,
    avg_cost_per_run: 1.500001,
    last_run_at: '2026-11-03T10:00:00Z',
  });
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/, 'an agent has a UUIDv7');
  t.match(created_at, /^20\d\d-.*Z$/);
  t.match(agents[1], { success_percentage: null, total_cost: 0, avg_cost_per_run: 0 });
  t.match(agents[3], { success_percentage: null, total_cost: null, avg_cost_per_run: null });
  t.match(agents[0], { success_percentage: 0 });
  t.strictSame(await api.get(`/agents/${String(id)}`), { ...b, success_count: 2, failure_count: 1 });
});

interface AgentPage {
  readonly items: readonly { readonly name: string }[];
}

void t.test('lists agents in pages, filtered by name and in any order', async (t) => {
  const api = await startApi(t);
  const stranger = (await api.createUser('stranger@example.com', ['write'])).key;
  const run = (agent: string, day: number, cost?: string) =>
    anItem({
      trace: {
        agent,
        started_at: `2026-11-0${day}T10:00:00Z`,
        ended_at: undefined,
        total_cost_usd: cost,
      },
      spans: 0,
    });
  await api.send([run('Mail 1', 1, '3'), run('mail 2', 3, '0'), run('mail 2', 2), run('post', 4)]);
  await api.send([run('E-MAIL', 3, '1')]);
  await api.send([run('mail of others', 5)], stranger);
  const page = async (query: string): Promise<string[]> =>
    (await api.get<AgentPage>(`/agents?${query}`)).items.map(({ name }) => name);

  const all = await api.get<unknown[]>('/agents');
  t.strictSame(await api.get('/agents?unknown=1'), all, 'unknown parameters are ignored');
  t.strictSame(await api.get('/agents?page=1'), {
    items: all,
    count: 4,
    page: 1,
    page_size: 20,
    has_more: false,
  });
  t.strictSame(await api.get('/agents?page_size=3'), {
    items: all.slice(0, 3),
    count: 4,
    page: 1,
    page_size: 3,
    has_more: true,
  });
  t.strictSame(await api.get('/agents?page=2&page_size=3&query='), {
    items: all.slice(3),
    count: 4,
    page: 2,
    page_size: 3,
    has_more: false,
  });
  t.match(await api.get('/agents?page=0&page_size=1000'), { page: 1, page_size: 100, count: 4 });
  t.match(await api.get('/agents?page=9'), { items: [], count: 4, page: 9, has_more: false });
  t.match(await api.get('/agents?query=MAIL&page_size=1'), {
    items: [{ name: 'E-MAIL' }],
    count: 3,
    has_more: true,
  });
  t.match(await api.get('/agents?query=of%20others'), { items: [], count: 0 });
  for (const [sort, names] of [
    ['-last_run_at', ['post', 'E-MAIL', 'mail 2', 'Mail 1']],
    ['last_run_at', ['Mail 1', 'E-MAIL', 'mail 2', 'post']],
    ['name', ['E-MAIL', 'Mail 1', 'mail 2', 'post']],
    ['-name', ['post', 'mail 2', 'Mail 1', 'E-MAIL']],
    ['-total_runs', ['mail 2', 'E-MAIL', 'Mail 1', 'post']],
    ['total_runs', ['E-MAIL', 'Mail 1', 'post', 'mail 2']],
    ['-total_cost', ['Mail 1', 'E-MAIL', 'mail 2', 'post']],
    ['total_cost', ['mail 2', 'E-MAIL', 'Mail 1', 'post']],
    ['avg_cost_per_run', ['mail 2', 'E-MAIL', 'Mail 1', 'post']],
    ['-created_at', ['E-MAIL']],
  ] as const) {
    const listed = await page(`sort=${sort}`);
    t.strictSame(listed.slice(0, names.length), names, sort);
    t.strictSame(await page(`sort=${sort}&page=2&page_size=3`), listed.slice(3), `${sort}, page 2`);
  }
  for (const [query, field] of [
    ['sort=cost', 'sort'],
    ['page=x', 'page'],
    ['page_size=', 'page_size'],
    ['page=1&page=2', 'page'],
    [`query=${'x'.repeat(1025)}`, 'query'],
  ] as const) {
    const refused = await api.call('GET', `/agents?${query}`);
    t.equal(refused.status, 422, query);
    t.match(refused.body, { code: 'validation_failed', errors: [{ field }] });
  }
});

void t.test('daily statistics cover the whole window, with zeros for idle days', async (t) => {
  const api = await startApi(t);
  // If midnight passes during the test, the day at the end of the response counts as today.
  const now = Date.now();
  const at = (daysAgo: number) => new Date(now - daysAgo * DAY_MS).toISOString();
  const run = (daysAgo: number, trace = {}) =>
    anItem({
      trace: { started_at: at(daysAgo), ended_at: undefined, success: undefined, ...trace },
      spans: 0,
    });
  await api.send([
    run(0, { duration_ms: 100, success: true, total_cost_usd: '0.5', total_tokens: 10 }),
    run(0, { duration_ms: 300, success: false, status: 'failed', total_cost_usd: '0.25' }),
    run(0, { status: 'timed_out' }),
    run(3),
    run(29),
    run(89),
    run(95),
  ]);
  const [agent] = await api.get<{ id: string }[]>('/agents');
  const id = agent?.id ?? '';
  const stats = await api.get<Stats>(`/agents/${id}/stats`);
  t.match(stats, { agent_id: id, agent_name: 'researcher', window: '7d' });
  t.equal(stats.daily.length, 7);
  const today = at(0).slice(0, 10);
  t.strictSame(
    stats.daily.find(({ date }) => date === today),
    {
      date: today,
      total_runs: 3,
      success_count: 1,
      failure_count: 1,
      failed_runs: 2,
      failure_percentage: 66.7,
      success_rate: 0.5,
      total_cost: 0.75,
      total_tokens: 10,
      avg_latency_ms: 200,
      p95_latency_ms: 290,
    },
  );
  const empty = at(1).slice(0, 10);
  t.strictSame(
    stats.daily.find(({ date }) => date === empty),
    {
      date: empty,
      total_runs: 0,
      success_count: 0,
      failure_count: 0,
      failed_runs: 0,
      failure_percentage: null,
      success_rate: null,
      total_cost: 0,
      total_tokens: 0,
      avg_latency_ms: null,
      p95_latency_ms: null,
    },
  );
  for (const [query, window, days, runs] of [
    ['', '7d', 7, 4],
    ['?days=7', '7d', 7, 4],
    ['?days=30', '30d', 30, 5],
    ['?days=90', '90d', 90, 6],
    ['?days=8', '7d', 7, 4],
    ['?days=0', '7d', 7, 4],
    ['?days=-30', '7d', 7, 4],
    ['?days=30.5', '7d', 7, 4],
    ['?days=1e300', '7d', 7, 4],
    ...['x', '', '90d', 'NaN', '%00'].map((text) => [`?days=${text}`, '7d', 7, 4] as const),
  ] as const) {
    const { window: label, daily } = await api.get<Stats>(`/agents/${id}/stats${query}`);
    t.equal(label, window, query);
    t.equal(daily.length, days);
    t.equal(
      daily.reduce((sum, day) => sum + day.total_runs, 0),
      runs,
    );
    const dates = daily.map(({ date }) => Date.parse(date));
    t.ok(
      dates.every((date, index) => index === 0 || date - (dates[index - 1] ?? 0) === DAY_MS),
      'oldest day first',
    );
  }
});

void t.test('?estimate=true adds estimates to agent statistics', async (t) => {
  const api = await startApi(t);
  const now = new Date().toISOString();
  await api.send([
    anItem({ trace: { agent: 'a', started_at: now, ended_at: undefined, success: true }, spans: 0 }),
  ]);
  const [agent] = await api.get<{ id: string }[]>('/agents');
  const path = `/agents/${agent?.id ?? ''}`;
  const estimate = {
    ...{ counted_runs: 1, sampled_runs: 0, total_runs: 1, success_count: 1, failure_count: 0 },
    ...{ failed_runs: 0, failure_percentage: 0, success_rate: 1 },
    ...{ total_cost: 0, total_tokens: 0, avg_latency_ms: null },
  };
  t.strictSame((await api.get<{ estimate: unknown }>(`${path}?estimate=true`)).estimate, estimate);
  t.notOk('estimate' in (await api.get<object>(`${path}?estimate=false`)));
  const { daily } = await api.get<{ daily: { estimate?: unknown }[] }>(`${path}/stats?estimate=true`);
  t.strictSame(daily.at(-1)?.estimate, estimate);
  t.match(daily[0]?.estimate, { counted_runs: 0, total_runs: 0, success_rate: null });
  const counted = await api.get<{ daily: object[] }>(`${path}/stats`);
  t.notOk(counted.daily.some((day) => 'estimate' in day));
  t.equal((await api.call('GET', `${path}/stats?estimate=perhaps`)).status, 422);
  t.match(await api.get('/dashboard/traces'), { items: [{ sample_rate: null }] });
});

void t.test('an unknown agent is 404, an invalid id 422', async (t) => {
  const api = await startApi(t);
  for (const suffix of ['', '/stats', '/runs']) {
    const unknown = await api.call('GET', `/agents/${randomUUID()}${suffix}`);
    t.equal(unknown.status, 404);
    t.match(unknown.body, { code: 'not_found' });
    const invalid = await api.call('GET', `/agents/researcher${suffix}`);
    t.equal(invalid.status, 422);
    t.match(invalid.body, { code: 'validation_failed', errors: [{ field: 'agent_id' }] });
  }
});
