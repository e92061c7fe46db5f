import { randomUUID } from 'node:crypto';
import t from 'tap';
import { makeAgent, makeAlert, UNWATCHED } from '../../../support/alert-calls.js';
import { startApi } from '../../../support/api.js';
import { aDecision } from '../../../support/kept-rules.js';

/** 2026-11-20T12:00:00Z */
const START = 1_795_176_000_000_000;

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly count: number;
}

void t.test('lists fired alert events with the runs that explain them', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const { key: foreign } = await api.createUser('other@example.com', ['read']);
  const agent_id = await makeAgent(api, 'support');
  const ofAgent = await makeAlert(api, { agent_id });
  const ofService = await makeAlert(api);
  const traces = [randomUUID(), randomUUID()];
  const condition = {
    type: 'failure_rate',
    source: 'ai',
    threshold: 0.5,
    observed: 0.75,
    met: true,
  };
  const data = {
    window: { from: '2026-11-20T11:00:00Z', to: '2026-11-20T12:00:00Z' },
    sample_count: 4,
    conditions: [condition],
  };
  const user = (await api.get<{ readonly user: { readonly id: string } }>('/me')).user.id;
  const fire = async (alertId: string, firedAt: number, changes: object): Promise<string> => {
    const rule = await api.control.alerts.read(user, alertId);
    if (!rule) throw new Error('the rule is gone');
    const firing = aDecision(rule, { firedAt, ...changes });
    await api.control.alerts.recordFirings([firing]);
    return firing.eventId;
  };
  const first = await fire(ofAgent.id, START, { data, traceIds: traces });
  const second = await fire(ofService.id, START + 60_000_000, { value: null });

  t.strictSame(await api.get('/dashboard/alert-events'), {
    items: [
      {
        id: second,
        fired_at: '2026-11-20T12:01:00Z',
        value: null,
        threshold: 0.5,
        resolved_at: null,
        is_test: false,
        notifications: [{ channel: 'email', status: 'pending', detail: null, attempts: [] }],
        alert_id: ofService.id,
        name: null,
        type: 'failure_rate',
        target: { kind: 'service', id: 'payments', name: 'payments' },
        window: null,
        sample_count: null,
        conditions: [],
        trace_ids: [],
      },
      {
        id: first,
        fired_at: '2026-11-20T12:00:00Z',
        value: 0.5,
        threshold: 0.5,
        resolved_at: null,
        is_test: false,
        notifications: [{ channel: 'email', status: 'pending', detail: null, attempts: [] }],
        alert_id: ofAgent.id,
        name: null,
        type: 'failure_rate',
        target: { kind: 'agent', id: agent_id, name: 'support' },
        window: data.window,
        sample_count: 4,
        conditions: [condition],
        trace_ids: traces,
      },
    ],
    count: 2,
    page: 1,
    page_size: 20,
    has_more: false,
  });
  const ids = async (query: string, key?: string) =>
    (await api.get<Page>(`/dashboard/alert-events${query}`, key)).items.map(({ id }) => id);
  t.same(await ids(`?trace_id=${traces[1] ?? ''}`), [first]);
  t.same(await ids(`?alert_id=${ofService.id}`), [second]);
  t.same(await ids(`?agent_id=${agent_id}`), [first]);
  t.same(await ids('?start_time=2026-11-20T12:00:30Z'), [second]);
  t.same(await ids('?end_time=2026-11-20T12:00:30Z'), [first]);
  t.same(await ids('?page=2&page_size=1'), [first]);
  t.same(await ids('', foreign), [], 'other users see nothing');
  for (const query of [
    '?trace_id=x',
    '?alert_id=1',
    '?agent_id=1',
    '?start_time=yesterday',
    '?start_time=2026-11-20T12:00:00Z&end_time=2026-11-20T12:00:00Z',
  ])
    t.equal((await api.call('GET', `/dashboard/alert-events${query}`)).status, 422, query);
});
