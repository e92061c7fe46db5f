import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { DecidedFiring, NoticeResult } from '../../../../src/storage/contracts/alerts.js';
import { dueBy } from '../../../support/due-notices.js';
import { HOOK_URL, makeAlert, UNWATCHED } from '../../../support/alert-calls.js';
import { startApi, type TestApi } from '../../../support/api.js';

/** 2026-11-20T12:00:00Z */
const START = 1_795_176_000_000_000;
const MINUTE = 60_000_000;

interface Page {
  readonly items: readonly { readonly id: string; readonly notifications: readonly object[] }[];
  readonly count: number;
  readonly page: number;
  readonly page_size: number;
  readonly has_more: boolean;
}

/** Fires an alert every minute without an evaluator. @returns the event ids, newest first */
async function fire(
  api: TestApi,
  alertId: string,
  times: number,
  first: Partial<DecidedFiring> = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < times; index++) {
    const eventId = randomUUID();
    ids.unshift(eventId);
    const firing: DecidedFiring = {
      alertId,
      lastFiredAt: index === 0 ? null : START + (index - 1) * MINUTE,
      firedAt: START + index * MINUTE,
      eventId,
      incident: { id: ids.at(-1) ?? eventId, firings: index + 1 },
      evidence: '',
      threshold: 0.5,
      value: 0.75,
      data: { alert_id: alertId },
      traceIds: [],
      ...first,
    };
    if ((await api.control.alerts.recordFirings([firing]))[0] !== true) throw new Error('it was not written');
  }
  return ids;
}

void t.test('an event shows its notifications and results', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const { id } = await makeAlert(api, { channel: 'both', webhook_url: HOOK_URL });
  const place = `/alerts/${id}/events`;
  const none = { items: [], count: 0, page: 1, page_size: 20, has_more: false };
  t.strictSame(await api.get(place), none);

  const listed = () => api.get<readonly object[]>('/alerts');
  t.match(await listed(), [{ is_firing: false }]);
  const [eventId = ''] = await fire(api, id, 1);
  t.match(await listed(), [{ is_firing: true }]);
  const pending = { status: 'pending', detail: null, attempts: [] };
  const event = {
    id: eventId,
    fired_at: '2026-11-20T12:00:00Z',
    value: 0.75,
    threshold: 0.5,
    resolved_at: null,
    is_test: false,
    notifications: [
      { channel: 'email', ...pending },
      { channel: 'webhook', ...pending },
    ],
  };
  t.strictSame(await api.get(place), { ...none, items: [event], count: 1 });
  t.match(await api.get(`/alerts/${id}`), { last_fired_at: '2026-11-20T12:00:00Z' });

  let { items: due } = await api.control.notices.claim(dueBy(START, 10));
  const result = (channel: string, rest: Omit<NoticeResult, 'number' | 'token'>): NoticeResult => {
    const claimed = due.find((item) => item.channel === channel);
    return { number: claimed?.number ?? -1, token: claimed?.token ?? -1, ...rest };
  };
  const attempt = {
    attempt_number: 1,
    attempted_at: START + 1500,
    status_code: 503,
    duration_ms: 12.5,
    error_message: 'The answer had status 503.',
  };
  const last = { ...attempt, attempt_number: 2, status_code: 204, error_message: null };
  const skipped = { status: 'skipped', detail: 'smtp_not_configured' } as const;
  const isOver = { attempt: null, retryAt: null };
  await api.control.notices.finish([
    result('email', { ...skipped, ...isOver }),
    result('webhook', { status: 'pending', detail: 'status 503', attempt, retryAt: START + MINUTE }),
  ]);
  const { items: again } = await api.control.notices.claim(dueBy(START + MINUTE, 10));
  due = again;
  await api.control.notices.finish([
    result('webhook', { status: 'sent', detail: null, attempt: last, retryAt: null }),
  ]);
  await api.control.alerts.recordResolutions([
    { alertId: id, incidentId: eventId, resolvedAt: START + 10 * MINUTE, data: {} },
  ]);
  t.match(await listed(), [{ is_firing: false }]);
  const attempts = [attempt, last].map((each) => ({
    ...each,
    attempted_at: '2026-11-20T12:00:00.001500Z',
  }));
  t.match(await api.get(place), {
    items: [
      {
        ...event,
        resolved_at: '2026-11-20T12:10:00Z',
        notifications: [
          { channel: 'email', ...skipped, attempts: [] },
          {
            channel: 'webhook',
            status: 'sent',
            detail: null,
            attempts,
          },
        ],
      },
    ],
    count: 1,
  });
});

void t.test('events are listed in pages, newest first, and deleted with their alert', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const [{ id }, other] = [await makeAlert(api), await makeAlert(api)];
  const ids = await fire(api, id, 23);
  const [foreign = ''] = await fire(api, other.id, 1, { value: null, threshold: 0 });
  const read = async (query: string) => {
    const { items, ...rest } = await api.get<Page>(`/alerts/${id}/events${query}`);
    return { ids: items.map((item) => item.id), ...rest };
  };
  const pages: readonly (readonly [string, number, number])[] = [
    ['', 1, 20],
    ['?page=2', 2, 20],
    ['?page=3', 3, 20],
    ['?page=3&page_size=5', 3, 5],
    ['?page=5&page_size=5', 5, 5],
    ['?page=0&page_size=0', 1, 1],
    ['?page=-7&page_size=1000', 1, 100],
    ['?page=99999999999&page_size=100', 1_000_000_000, 100],
  ];
  for (const [query, page, page_size] of pages) {
    const from = (page - 1) * page_size;
    const expected = ids.slice(from, from + page_size);
    const has_more = from + expected.length < ids.length;
    t.strictSame(await read(query), { ids: expected, count: 23, page, page_size, has_more }, query);
  }
  for (const query of ['?page=x', '?page_size=many', '?page='])
    t.match(await api.call('GET', `/alerts/${id}/events${query}`), { status: 422 }, query);
  t.equal((await api.call('GET', '/alerts/x/events')).status, 422);

  await api.call('DELETE', `/alerts/${id}`);
  t.equal((await api.call('GET', `/alerts/${id}/events`)).status, 404);
  t.match(await api.get(`/alerts/${other.id}/events`), {
    items: [{ id: foreign, value: null, threshold: 0 }],
    count: 1,
  });
  const { items } = await api.control.notices.claim(dueBy(START + 60 * MINUTE, 100));
  t.strictSame(
    items.map(({ eventId }) => eventId),
    [foreign],
    'pending notices are deleted, too',
  );
});

void t.test('pausing an alert resolves its incident; changing the threshold keeps it', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const { id } = await makeAlert(api);
  await fire(api, id, 2);
  const change = async (json: object) => {
    t.equal((await api.call('PATCH', `/alerts/${id}`, { json })).status, 200);
    return (await api.get<{ items: readonly object[] }>(`/alerts/${id}/events`)).items;
  };
  const open = { threshold: 0.5, resolved_at: null };
  t.match(await change({ threshold: 0.9, cooldown_minutes: 5 }), [open, open]);
  const paused = await change({ is_active: false });
  t.match(paused[0], { threshold: 0.5, resolved_at: /^20/ });
  t.match(await api.get('/alerts'), [{ is_active: false, is_firing: false }]);
  t.strictSame(await change({ is_active: true }), paused);
  t.match(
    await api.get(`/alerts/${id}`),
    { last_fired_at: '2026-11-20T12:01:00Z' },
    'its cooldown continues',
  );
});
