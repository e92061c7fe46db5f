import t from 'tap';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { decodeProtobuf } from '../../../src/otlp/decode/protobuf.js';
import { jsonToInt64, microsToNanos } from '../../../src/otlp/encode/int64.js';
import { encodeJson } from '../../../src/otlp/encode/json.js';
import { encodeProtobuf, encodeRequest } from '../../../src/otlp/encode/request.js';
import { toAnyValue } from '../../../src/otlp/encode/value.js';
import { int64ToBigInt, int64ToJson, nanosToMicros } from '../../../src/otlp/wire/int64.js';
import { logsToRecords } from '../../../src/otlp/map/logs-to-records.js';
import { metricsToPoints } from '../../../src/otlp/map/metrics-to-points.js';
import { spansToTraces } from '../../../src/otlp/map/spans-to-traces.js';
import type { OtlpRequests, Span, TracesRequest } from '../../../src/otlp/wire/requests.js';
import type { Batches, TelemetrySignal, TracesBatch } from '../../../src/signal/batch.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { declaredRun, logBatch, metricBatch, TENANT } from '../../support/otlp-records.js';

const FIELDS = 1_000_000;

/** The request as the other side decodes it, in both encodings. */
function bothWays<S extends TelemetrySignal>(signal: S, batch: Batches[S]): readonly OtlpRequests[S][] {
  const request = encodeRequest(signal, batch);
  const line = encodeJson(request);
  return [
    decodeProtobuf(signal, encodeProtobuf(signal, request), FIELDS),
    decodeJson(signal, JSON.parse(line) as unknown),
  ];
}

/** Streams are separate objects on both sides. */
const plain = (batch: unknown): unknown => JSON.parse(JSON.stringify(batch));

const asRuns = (request: TracesRequest): TracesBatch =>
  spansToTraces(request, { tenant: TENANT, idleTimeoutMs: 1000 }).batch;

void t.test('log records round-trip', async (t) => {
  const sent = logBatch();
  for (const request of bothWays('logs', sent)) {
    const { batch } = logsToRecords(request, { tenant: TENANT, receivedAt: 5 });
    t.strictSame(
      batch.items.map((record) => ({ ...record, id: '' })),
      sent.items.map((record) => ({ ...record, id: '' })),
    );
  }
});

void t.test('metric points of every type round-trip', async (t) => {
  const sent = metricBatch();
  for (const request of bothWays('metrics', sent)) {
    t.equal(request.resourceMetrics?.length, 1, 'points of one resource are grouped');
    const { batch, rejected } = metricsToPoints(request, { tenant: TENANT });
    t.strictSame(rejected, []);
    t.strictSame(plain(batch), plain(sent));
  }
});

void t.test('a declared run round-trips field by field', async (t) => {
  const run = declaredRun();
  for (const request of bothWays('traces', { tenant: TENANT, items: [run] }))
    t.strictSame(asRuns(request).items, [run]);
});

void t.test('other readers see a model call with standard attributes', async (t) => {
  const request = encodeRequest('traces', { tenant: TENANT, items: [declaredRun()] });
  const { resource, scopeSpans } = request.resourceSpans?.[0] ?? {};
  t.strictSame(resource?.attributes, [{ key: 'service.name', value: { stringValue: 'support agent' } }]);
  const span = scopeSpans?.[0]?.spans?.[1];
  const known = new Map(span?.attributes?.map(({ key, value }) => [key, value]));
  t.strictSame(known.get('gen_ai.operation.name'), { stringValue: 'chat' });
  t.strictSame(known.get('gen_ai.request.model'), { stringValue: 'gpt-5-mini' });
  t.strictSame(known.get('gen_ai.usage.input_tokens'), { intValue: 12 });
  t.match(span, { kind: 3, status: { code: 2, message: 'refused by the provider' } });
});

void t.test('a header without spans and unusual ids round-trip', async (t) => {
  const { trace, spans } = declaredRun();
  const odd = '00000000-0000-0001-0000-000000000000';
  const items: TraceRecord[] = [
    { trace, spans: [] },
    {
      trace: { ...trace, trace_id: odd },
      spans: spans.slice(0, 1).map((span) => ({ ...span, trace_id: odd, span_id: odd })),
    },
  ];
  for (const request of bothWays('traces', { tenant: TENANT, items }))
    t.strictSame(asRuns(request).items, items);
});

const idOf = (length: number, fill: number) => new Uint8Array(length).fill(fill);
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

const FULL_SPAN: Span = {
  traceId: idOf(16, 1),
  spanId: idOf(8, 2),
  parentSpanId: idOf(8, 3),
  traceState: 'vendor=1',
  flags: 257,
  name: 'chat gpt',
  kind: 3,
  startTimeUnixNano: '1790000000123456789',
  endTimeUnixNano: '1790000001123456780',
  attributes: [
    text('big', '9223372036854775807'),
    text('gen_ai.input.messages', '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]'),
    text('gen_ai.operation.name', 'chat'),
    text('gen_ai.request.model', 'gpt-5-mini'),
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '7' } },
    { key: 'list', value: { arrayValue: { values: [{ boolValue: true }, {}, { stringValue: '' }] } } },
    { key: 'ratio', value: { doubleValue: 0.25 } },
    text('resource', 'an attribute of a reserved name'),
  ],
  droppedAttributesCount: 2,
  events: [
    {
      timeUnixNano: '1790000000123456001',
      name: 'exception',
      attributes: [text('exception.message', 'boom')],
      droppedAttributesCount: 1,
    },
    { timeUnixNano: '1790000000000000000', name: 'plain', attributes: [] },
  ],
  droppedEventsCount: 3,
  links: [
    {
      traceId: idOf(16, 7),
      spanId: idOf(8, 8),
      traceState: 'x=y',
      flags: 1,
      attributes: [text('k', 'v')],
    },
  ],
  droppedLinksCount: 4,
  status: { code: 2, message: 'it failed' },
};
const SKEWED_SPAN: Span = {
  traceId: idOf(16, 1),
  spanId: idOf(8, 3),
  name: 'x'.repeat(2000),
  startTimeUnixNano: '1790000000123456789',
  endTimeUnixNano: '1790000000123450007',
  attributes: [],
  events: [],
  links: [],
  status: { code: 1 },
};
const OPEN_SPAN: Span = {
  traceId: idOf(16, 9),
  spanId: idOf(8, 9),
  name: 'open',
  startTimeUnixNano: '1790000000000000000',
};
const REQUEST: TracesRequest = {
  resourceSpans: [
    {
      resource: { attributes: [text('service.name', 'planner')] },
      scopeSpans: [
        {
          scope: { name: 'lib', version: '3', attributes: [text('a', 'b')] },
          spans: [FULL_SPAN, SKEWED_SPAN],
        },
      ],
    },
    { scopeSpans: [{ spans: [OPEN_SPAN] }] },
  ],
};

void t.test('OTLP spans are forwarded unchanged, to the nanosecond', async (t) => {
  const first = asRuns(REQUEST);
  t.equal(first.items.flatMap(({ spans }) => spans).length, 3);
  for (const again of bothWays('traces', first)) t.strictSame(asRuns(again), first);

  const rebuilt = encodeRequest('traces', first);
  const spans = JSON.parse(encodeJson(rebuilt)) as TracesRequest;
  const sent = JSON.parse(encodeJson(REQUEST)) as TracesRequest;
  t.same(inOrder(spans), inOrder(sent));
});

/** Attributes are unordered. */
function inOrder(request: TracesRequest): unknown {
  return request.resourceSpans?.[0]?.scopeSpans?.map(({ scope, spans }) => ({
    scope,
    spans: spans?.map((span) => ({
      ...span,
      attributes: [...(span.attributes ?? [])].sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)),
    })),
  }));
}

void t.test('a computed cost is forwarded with its parts and rule', async (t) => {
  const batch = asRuns(REQUEST);
  for (const span of batch.items.flatMap(({ spans }) => spans)) {
    span.cost_usd = 123;
    span.call = {
      ...span.call,
      provider: span.call?.provider ?? null,
      usage: span.call?.usage ?? null,
      cost: { source: 'priced', rule: 'prices.yaml:1 m', input: 100, output: 23 },
    };
  }
  const keys = batch.items.flatMap(({ spans }) => spans.flatMap(({ call }) => call?.key ?? []));
  t.ok(keys.length > 0);
  for (const again of bothWays('traces', batch)) {
    t.strictSame(
      asRuns(again).items.map(({ spans }) => spans),
      batch.items.map(({ spans }) => spans),
    );
    const sent = JSON.stringify(again);
    t.notOk(
      keys.some((key) => sent.includes(key)),
      'the call key is not',
    );
  }
});

void t.test('64-bit integers are exact in both directions', async (t) => {
  for (const micros of [0, 1, 1_790_000_000_123_456, 2 ** 32, 2 ** 52 + 1])
    for (const nanos of [0, 1, 999]) {
      const int64 = microsToNanos(micros, nanos);
      t.equal(int64ToBigInt(int64), BigInt(micros) * 1000n + BigInt(nanos));
      t.equal(nanosToMicros(int64), micros);
    }
  for (const value of [0, 7, -7, '9007199254740993', '-9223372036854775808', '18446744073709551615'])
    t.equal(int64ToJson(jsonToInt64(value)), value);
  for (const wrong of [1.5, 'x', null, {}, '1e3']) t.equal(jsonToInt64(wrong), 0);
});

void t.test('values deeper than the message limit become text', async (t) => {
  let deep: unknown[] = ['x'];
  for (let level = 0; level < 200; level++) deep = [deep];
  const sent = logBatch();
  for (const record of sent.items) record.body = deep as never;
  const encoded = encodeProtobuf('logs', encodeRequest('logs', sent));
  t.ok(decodeProtobuf('logs', encoded, FIELDS).resourceLogs?.length);
  t.match(JSON.stringify(toAnyValue(deep as never)), /\\"x\\"/);
});
