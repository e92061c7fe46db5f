import t from 'tap';
import { startApi } from '../../../support/api.js';
import { EventStreamClient } from '../../../support/event-stream.js';
import { traceIdOf } from '../../../support/header-text.js';
import { logRequest } from '../../../support/log-request.js';
import { anItem, aSpan } from '../../../support/trace-batch.js';
import { until } from '../../../support/until.js';

const EDGE = 'topics=tap&pipeline=traces&from=receiver:trace_batch&to=processor:validation';
const LOGS = 'topics=tap&pipeline=logs&from=receiver:otlp&to=';

interface Daemon {
  readonly edges: readonly {
    readonly pipeline: string;
    readonly from: { readonly id: string };
    readonly to: { readonly kind: string; readonly id: string };
  }[];
}

void t.test('an administrator sees its own items on an edge, truncated, and none of others', async (t) => {
  const api = await startApi(t);
  const other = await api.createUser('other@example.com', ['read', 'write']);
  const tap = await EventStreamClient.open(t, api, EDGE);
  t.equal(tap.status, 200);
  await tap.next('open');
  await api.send([anItem()], other.key);
  const long = anItem({ spans: 0 });
  const id = traceIdOf(long);
  const spans = Array.from({ length: 8 }, (_, i) =>
    aSpan(id, { name: `step ${i}`, input_data: { text: 'x'.repeat(100_000) } }),
  );
  await api.send([{ ...long, spans }]);
  const { data } = await tap.next('tap');
  t.match(data, {
    at: /Z$/,
    signal: 'traces',
    batch_items: 1,
    duration_ms: Number,
    outcome: 'taken',
    reason: null,
    is_truncated: true,
    item: { trace: { trace_id: id, started_at: /Z$/ }, span_count: 8, spans: [{ name: 'step 0' }] },
  });
  t.ok(JSON.stringify(data).length < 16_000);

  const { edges } = await api.get<Daemon>('/daemon');
  const first = edges.find(({ pipeline, from }) => pipeline === 'logs' && from.id === 'otlp');
  const to = first ? `${first.to.kind}:${first.to.id}` : '';
  const logs = await EventStreamClient.open(t, api, LOGS + to);
  await logs.next('open');
  const bodies = Array.from({ length: 50 }, (_, i) => ({
    body: `line ${i}`,
    nanos: 1_780_000_000_000_000_000n,
  }));
  await api.call('POST', '/otlp/v1/logs', { json: logRequest('shop', bodies) });
  t.match(await logs.next('tap'), {
    data: {
      signal: 'logs',
      batch_items: 50,
      is_truncated: false,
      item: { service_name: 'shop', body: 'line 0' },
    },
  });
  t.match(await logs.next('lost'), { data: { topic: 'tap', count: 47 } }, 'the rest of the batch is counted');
});

void t.test('checks scope, edge and number of taps', async (t) => {
  const api = await startApi(t);
  const { key } = await api.createKey(['read', 'write', 'manage']);
  const asReader = await EventStreamClient.open(t, api, EDGE, { key });
  t.equal(asReader.status, 403);
  const wrong: readonly (readonly [string, string])[] = [
    ['topics=tap', 'pipeline is required with topic tap'],
    [EDGE.replace('receiver:trace_batch', 'trace_batch'), 'from must be a component with its kind'],
    [EDGE.replace('receiver:trace_batch', 'extension:query'), 'from must be a component with its kind'],
    [EDGE.replace('validation', 'nothing'), 'has no edge'],
  ];
  for (const [query, words] of wrong) {
    const answer = await api.call('GET', `/dashboard/stream?${query}`);
    t.match(answer, { status: 422, body: { code: 'validation_failed' } }, query);
    t.match(JSON.stringify(answer.body), words);
  }
  const open = await Promise.all([1, 2, 3, 4].map(() => EventStreamClient.open(t, api, EDGE)));
  t.same(
    open.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  t.match(await api.call('GET', `/dashboard/stream?${EDGE}`), {
    status: 429,
    body: { code: 'too_many_taps' },
  });
  const runs = await EventStreamClient.open(t, api, 'topics=runs');
  t.equal(runs.status, 200, 'other streams are unaffected');
  open[0]?.close();
  await until('a place is free', async () => {
    const again = await EventStreamClient.open(t, api, EDGE);
    return again.status === 200;
  });
});
