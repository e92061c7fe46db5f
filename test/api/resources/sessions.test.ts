import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi } from '../../support/api.js';
import { anItem } from '../../support/trace-batch.js';
import { traceIdOf } from '../../support/header-text.js';

interface ShownPage {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
}

const SESSION = 'tickets/47 ünd 11?';

void t.test('lists conversations, reads their runs in order and finds runs by session', async (t) => {
  const api = await startApi(t);
  const sent = ['2026-11-03T08:00:00Z', '2026-11-03T09:00:00Z', '2026-11-03T10:00:00Z'].map(
    (started_at, i) => {
      const item = anItem({ spans: 0 });
      Object.assign(item.trace as object, {
        trace_id: randomUUID(),
        started_at,
        ended_at: null,
        status: i === 1 ? 'failed' : 'completed',
        total_tokens: 10,
        total_cost_usd: '0.5',
        metadata: {
          session_id: i === 2 ? 'another' : SESSION,
          user_id: 17,
          tags: ['prod', `turn ${i}`, 'prod'],
        },
      });
      return item;
    },
  );
  await api.send(sent);

  const sessions = await api.get<ShownPage>('/dashboard/sessions?page_size=1');
  t.match(sessions, { count: 2, items: [{ session_id: 'another' }], has_more: true });
  const path = `/dashboard/sessions/${encodeURIComponent(SESSION)}`;
  const session = await api.get<ShownPage>(path);
  t.match(session, {
    session_id: SESSION,
    user_ids: ['17'],
    agents: [{ name: 'researcher' }],
    total_runs: 2,
    failed_runs: 1,
    first_at: '2026-11-03T08:00:00Z',
    last_at: '2026-11-03T09:00:00Z',
    total_tokens: 20,
    total_cost: 1,
    count: 2,
    page: 1,
  });
  t.same(
    session.items.map(({ trace_id }) => trace_id),
    sent.slice(0, 2).map((item) => traceIdOf(item)),
    'oldest first',
  );
  t.match(session.items[0], {
    session_id: SESSION,
    user_id: '17',
    tags: ['prod', 'turn 0'],
    kind: 'agent',
  });
  t.match(await api.get<ShownPage>(`${path}?page=2&page_size=1`), {
    count: 2,
    items: [{ trace_id: traceIdOf(sent[1] ?? anItem()) }],
    has_more: false,
  });
  t.equal((await api.call('GET', '/dashboard/sessions/nobody')).status, 404);
  const counts = await Promise.all(
    [
      `session_id=${encodeURIComponent(SESSION)}`,
      'user_id=17',
      'user_id=18',
      'tag=turn%201',
      'tag=turn',
      'tag=prod&session_id=another',
      'kind=other',
    ].map(async (query) => (await api.get<ShownPage>(`/dashboard/traces?${query}`)).count),
  );
  t.same(counts, [2, 3, 0, 1, 0, 1, 0]);
  t.match(await api.get<ShownPage>('/dashboard/sessions?user_id=17&end_time=2026-11-03T08:30:00Z'), {
    count: 1,
  });
});
