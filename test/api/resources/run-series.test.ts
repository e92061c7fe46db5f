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
