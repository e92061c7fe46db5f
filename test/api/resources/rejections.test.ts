import t from 'tap';
import { startApi } from '../../support/api.js';
import { anItem } from '../../support/trace-batch.js';

interface Rejections {
  readonly since: string;
  readonly items: readonly {
    readonly trace_id: string | null;
    readonly code: string;
    readonly error: string;
  }[];
}

void t.test('what is refused is told to its user, by every way in; and by day', async (t) => {
  const api = await startApi(t);
  const json = { email: 'ann@example.org', name: 'ann', monthly_event_limit: 1 };
  const { id } = (await api.call('POST', '/admin/users', { json })).body as { readonly id: string };
  const { key } = await api.createKey(['read', 'write'], { user_id: id });
  const refused = () => api.get<Rejections>('/dashboard/rejections', key);
  t.same((await refused()).items, []);

  // By the shape, by a rule of the pipeline, and taken.
  const unreadable = { trace: { trace_id: 'no uuid', secret: 'payload' }, spans: [] };
  const wrong = anItem({ trace: { total_tokens: -1 } });
  const traces = [unreadable, wrong, anItem()];
  const answer = await api.call('POST', '/traces/batch', { key, json: { traces } });
  const errors = (answer.body as { errors: readonly { trace_id: string; error: string }[] }).errors;
  t.equal(errors.length, 2);
  const noted = await refused();
  t.same(
    noted.items
      .map(({ trace_id, error }) => ({ trace_id, error }))
      .sort((a, b) => (String(a.trace_id) < String(b.trace_id) ? -1 : 1)),
    [...errors].sort((a, b) => (a.trace_id < b.trace_id ? -1 : 1)),
    'in the words of the answer',
  );
  t.match(noted.items[0], { receiver: 'trace_batch', signal: 'traces', code: 'validation_failed' });
  t.notMatch(JSON.stringify(noted), 'payload');

  // OTLP, where the mapping refuses a span.
  const span = {
    traceId: '0'.repeat(32),
    spanId: '1'.repeat(16),
    name: 'x',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
  };
  const otlp = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  const sent = await api.call('POST', '/otlp/v1/traces', { key, json: otlp });
  t.equal(sent.status, 200);
  t.match((await refused()).items[0], { receiver: 'otlp', trace_id: null, code: 'validation_failed' });

  // Over the quota nothing of a batch is taken.
  const over = anItem();
  t.equal((await api.call('POST', '/traces/batch', { key, json: { traces: [over] } })).status, 429);
  t.match((await refused()).items[0], { trace_id: over.trace['trace_id'], code: 'quota_exceeded' });

  const days = await api.get<readonly { readonly events: number | null }[]>('/usage/daily?days=2', key);
  t.equal(days.length, 2);
  t.match(days[1], {
    date: new Date().toISOString().slice(0, 10),
    events: (await api.get<{ used: number }>('/usage', key)).used,
    refused: (await refused()).items.length,
  });
  t.same((await api.get<Rejections>('/dashboard/rejections')).items, [], 'nobody else’s');
  t.equal((await api.get<unknown[]>('/usage/daily?days=999', key)).length, 92);
  t.equal((await api.call('GET', '/usage/daily?days=x', { key })).status, 422);
  const writer = await api.createKey(['write'], { user_id: id });
  t.equal((await api.call('GET', '/dashboard/rejections', { key: writer.key })).status, 403);
  t.equal((await api.call('GET', '/usage/daily', { key: writer.key })).status, 403);
});
