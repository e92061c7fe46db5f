import t from 'tap';
import { startApi } from '../../support/api.js';
import { anItem } from '../../support/trace-batch.js';

const PATH = '/dashboard/series';

void t.test('aggregates runs over time', async (t) => {
  const api = await startApi(t);
  const at = (started_at: string, more: object = {}) =>
    anItem({
      trace: { started_at, ended_at: undefined, duration_ms: 1500, total_cost_usd: 0.25, ...more },
      spans: 0,
    });
  await api.send([
    at('2026-01-15T12:00:10Z'),
    at('2026-01-15T12:00:50Z', { status: 'failed' }),
    at('2026-01-15T12:59:00Z', { agent: 'other' }),
    at('2026-01-15T11:59:00Z', { total_cost_usd: undefined }),
  ]);
  const times = 'start_time=2026-01-15T12:00:00Z&end_time=2026-01-15T13:00:00Z';
  t.match(await api.get(`${PATH}?${times}`), {
    interval: '1m',
    start_time: '2026-01-15T12:00:00Z',
    groups: [
      {
        key: null,
        name: null,
        buckets: [
          { start: '2026-01-15T12:00:00Z', runs: 2, failed: 1, cost: 0.5, p50_ms: 1500, p95_ms: 1500 },
          { start: '2026-01-15T12:59:00Z', runs: 1, failed: 0 },
        ],
      },
    ],
    total: { runs: 3, failed: 1, cost: 0.75, priced_runs: 3 },
    previous_total: { runs: 1, cost: null, priced_runs: 0 },
  });
  const agents = await api.get<{ id: string; name: string }[]>('/agents');
  const byAgent = await api.get<{ groups: { key: string; name: string; total: object }[] }>(
    `${PATH}?${times}&group_by=agent`,
  );
  t.strictSame(
    byAgent.groups.map(({ key, name }) => [key, name]),
    ['researcher', 'other'].map((name) => [agents.find((agent) => agent.name === name)?.id, name]),
  );
  t.match(byAgent.groups[0]?.total, { runs: 2, failed: 1, cost: 0.5, priced_runs: 2, p95_ms: 1500 });
  t.match(await api.get(`${PATH}?${times}&group_by=status&interval=1h`), {
    interval: '1h',
    groups: [
      { key: 'completed', name: null, buckets: [{ runs: 2 }] },
      { key: 'failed', buckets: [{ runs: 1 }] },
    ],
  });
  t.match(await api.get(PATH), { interval: '1h', groups: [], total: { runs: 0, cost: null } });
  const wide = 'start_time=2025-01-15T12:00:00Z&end_time=2026-01-15T13:00:00Z';
  t.match(await api.get(`${PATH}?${wide}`), { interval: '1d' });
  for (const query of [
    `${wide}&interval=1m`,
    'start_time=1970-01-01T00:00:00Z',
    'start_time=2026-01-15T12:00:00Z&end_time=2026-01-15T12:00:00Z',
    'group_by=user',
    'interval=2m',
  ])
    t.equal((await api.call('GET', `${PATH}?${query}`)).status, 422, query);
});

void t.test('groups runs, and lists agents, by period', async (t) => {
  const api = await startApi(t);
  const at = (started_at: string, agent: string, total_cost_usd: number, user_id?: string) =>
    anItem({
      trace: {
        started_at,
        ended_at: undefined,
        duration_ms: 1500,
        agent,
        total_cost_usd,
        metadata: { user_id: user_id ?? null },
      },
      spans: 0,
    });
  await api.send([
    at('2026-01-15T12:00:10Z', 'writer', 0.5, 'ada'),
    at('2026-01-15T12:00:50Z', 'writer', 0.25),
    at('2026-01-15T12:59:00Z', 'reader', 0.125, 'eve'),
    at('2026-01-15T11:59:00Z', 'reader', 1, 'eve'),
  ]);
  const times = 'start_time=2026-01-15T12:00:00Z&end_time=2026-01-15T13:00:00Z';
  const groups = (query: string) => api.get(`/dashboard/groups?${times}&${query}`);
  t.match(await groups('group_by=agent&limit=1'), {
    group_by: 'agent',
    start_time: '2026-01-15T12:00:00Z',
    groups: [
      {
        name: 'writer',
        total: { runs: 2, cost: 0.75, cost_per_run: 0.375, p95_ms: 1500 },
        previous_total: { runs: 0, cost: null, cost_per_run: null },
        regressions: [],
      },
    ],
    count: 2,
    others: { total: { runs: 1, cost: 0.125, p95_ms: null }, previous_total: { runs: 1, cost: 1 } },
    total: { runs: 3, cost: 0.875 },
    previous_total: { runs: 1, cost: 1 },
  });
  t.match(await groups('group_by=user'), {
    groups: [{ key: 'ada' }, { key: null, name: null, total: { cost: 0.25 } }, { key: 'eve' }],
    others: null,
  });
  t.match(await groups('group_by=agent&user_id=eve'), { groups: [{ name: 'reader' }], count: 1 });
  t.match(await groups('group_by=model&environment=none'), { groups: [], total: { runs: 0 } });
  for (const query of ['', 'group_by=colour', 'group_by=model&user_id=eve'])
    t.equal((await api.call('GET', `/dashboard/groups?${times}&${query}`)).status, 422, query);

  t.match(await api.get(`/agents?${times}&sort=-total_cost&page_size=1`), {
    items: [{ name: 'writer', total_runs: 2, total_cost: 0.75, periods: { total: { p50_ms: 1500 } } }],
    count: 2,
  });
  t.match(await api.get(`/agents?${times}&query=read`), {
    items: [{ name: 'reader', total_runs: 1, periods: { previous_total: { runs: 1, cost_per_run: 1 } } }],
  });
  t.equal((await api.call('GET', `/agents?${times.replace('13', '12')}`)).status, 422, 'an empty period');
});
