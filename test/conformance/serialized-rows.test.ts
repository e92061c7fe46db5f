import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { serializeLog } from '../../src/api/resources/logs.js';
import { serializePoint } from '../../src/api/resources/metrics.js';
import { serializeEdge, serializeNode } from '../../src/api/resources/service-map.js';
import { serializeSpan } from '../../src/api/resources/trace-body.js';
import { deriveBatch } from '../../src/signal/derive-map.js';
import { serializeJson } from '../../src/signal/json.js';
import type { StoredLog } from '../../src/storage/contracts/logs.js';
import type { StoredPoint } from '../../src/storage/contracts/metrics.js';
import { ALL_TIME } from '../../src/storage/contracts/service-map.js';
import { aLog } from '../support/log-records.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { textOf } from '../support/read-pieces.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

/** Pages may be text instead of rows; then the text equals the API's JSON of these rows exactly. */
function checkSerialized(t: Test, open: OpenTelemetry): void {
  void t.test('spans', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const trace = aHeader();
    const spans = [
      aSpanRecord(trace.trace_id, {
        ...{ parent_span_id: randomUUID(), type: 'http', name: 'é "\n', status: 'failed', model: 'm' },
        ...{ ended_at: NOON + 1500, duration_ms: 1.5, input_tokens: 1, output_tokens: 2, total_tokens: 3 },
        ...{ cost_usd: 1_234_567_891, error_message: '\u2028', input_data: { a: [1, null, { b: 'c' }] } },
        output_data: { big: 12345678901234567890n, small: 1e-7 },
      }),
      aSpanRecord(trace.trace_id, { started_at: NOON + 1 }),
    ];
    await store.writer.traces({ tenant, items: [{ trace, spans: structuredClone(spans) }] }, RECEIVED);
    const found = await store.runs.read(tenant, trace.trace_id);
    const expected = spans.map((span) => serializeJson(serializeSpan(span)));
    t.equal(await textOf(found?.spans, serializeSpan), expected.join(','));
    // A log record for one span leaves the other spans unchanged in either page form.
    const [, second] = spans;
    const ids = { trace_id: trace.trace_id, span_id: second?.span_id ?? null };
    const log = aLog({ ...ids, event_name: 'gen_ai.choice', body: { message: { content: 'yes' } } });
    await store.writer.logs({ tenant, items: [log] }, RECEIVED);
    const again = await store.runs.read(tenant, trace.trace_id);
    const message = { messages: [{ role: 'assistant', content: 'yes' }] };
    const printed = spans.map((span) =>
      serializeJson({ ...serializeSpan(span), ...(span === second && { output_data: message }) }),
    );
    t.equal(await textOf(again?.spans, serializeSpan), printed.join(','));
  });

  void t.test('points', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const stream = aMetric({ name: 'm', type: 'histogram', temporality: 'delta' });
    const point = aPoint({
      ...{ stream, labels: { a: 'é "', b: '' }, value: 2.5, start_time: NOON - 1, flags: 1 },
      distribution: { count: 4, sum: 10, min: 1, max: null, bucket_counts: [1, 3], explicit_bounds: [2] },
      exemplars: [
        { timestamp: NOON, value: 2, trace_id: randomUUID(), span_id: null, filtered_attributes: { x: 1 } },
      ],
    });
    await store.writer.metrics({ tenant, items: [point] }, RECEIVED);
    const { timestamp, value, labels, distribution, start_time, flags, exemplars } = point;
    const row: StoredPoint = { timestamp, value, labels, distribution };
    const details = { start_time, flags, temporality: 'delta', is_monotonic: null, exemplars } as const;
    for (const [asked, expected] of [
      [false, row],
      [true, { ...row, details }],
    ] as const) {
      const found = await store.metrics.query(tenant, 'm', { limit: 9, details: asked });
      t.equal(await textOf(found?.points, serializePoint), serializeJson(serializePoint(expected)));
    }
  });

  void t.test('log records', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const log = aLog({
      ...{ body: { nested: ['é'] }, trace_id: randomUUID(), span_id: randomUUID(), flags: 1 },
      ...{ observed_at: NOON + 1, event_name: 'e', attributes: { a: [1], '"': null } },
      origin: { resource: { host: 'a' }, scope: { name: 'lib' }, serviceName: '' },
    });
    await store.writer.logs({ tenant, items: [log] }, RECEIVED);
    const { observed_at, severity_number, severity_text, flags, origin, ...shown } = log;
    const row: StoredLog = { ...shown, service_name: origin.serviceName };
    const { resource, scope } = origin;
    const details = { observed_at, severity_number, severity_text, flags, resource, scope };
    for (const [asked, expected] of [
      [false, row],
      [true, { ...row, details }],
    ] as const) {
      const { items } = await store.logs.search(tenant, {}, { offset: 0, limit: 9, details: asked });
      t.equal(await textOf(items, serializeLog), serializeJson(serializeLog(expected)));
    }
  });

  void t.test('nodes and edges', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const trace = aHeader({ agent: 'planner "é"' });
    const root = aSpanRecord(trace.trace_id, { type: 'agent' });
    const called = { parent_span_id: root.span_id };
    const ended = { status: 'failed', started_at: NOON, ended_at: NOON + 7_500_000 } as const;
    const stats = { error_count: 1, p95_ms: 7_545.694 };
    const peer = (type: 'http' | 'db' | 'custom', name: string) =>
      aSpanRecord(trace.trace_id, { ...called, ...ended, type, name, metadata: { 'peer.service': name } });
    const items = [{ trace, spans: [root, peer('http', 'a'), peer('db', 'b'), peer('custom', 'c')] }];
    await opened.store.writer.traces({ tenant, items, service_map: deriveBatch(items) }, RECEIVED);
    await opened.caughtUp();
    const { nodes, edges } = await opened.store.map.read(tenant, ALL_TIME);
    const expected = [
      ...(['http', 'db', 'custom'] as const).map((span_type, i) => ({ id: 'abc'[i] ?? '', span_type })),
      { id: trace.agent, span_type: 'agent' as const },
    ];
    t.equal(
      await textOf(nodes, serializeNode),
      expected
        .map((node) =>
          serializeJson(
            serializeNode({
              ...node,
              ...(node.span_type === 'agent' ? { error_count: 0, p95_ms: null } : stats),
              span_count: 1,
            }),
          ),
        )
        .join(','),
    );
    t.equal(
      await textOf(edges, serializeEdge),
      ['a', 'b', 'c']
        .map((target) => serializeJson(serializeEdge({ source: trace.agent, target, weight: 1, ...stats })))
        .join(','),
    );
  });
}

await onEveryTelemetry(t, checkSerialized);
