import t from 'tap';
import type { TelemetrySignal } from '../../../src/signal/batch.js';
import { startApi } from '../../support/api.js';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { traceIdOf } from '../../support/header-text.js';
import { startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { aSpan as anOtlpSpan, jsonOf, protobufOf, START } from '../../support/otlp-requests.js';
import { aSpan, anItem, type Changes } from '../../support/trace-batch.js';

interface Rejections {
  readonly since: string;
  readonly items: readonly {
    readonly trace_id: string | null;
    readonly code: string;
    readonly error: string;
  }[];
}

void t.test('rejections are listed for their user, from every receiver and by day', async (t) => {
  const api = await startApi(t);
  const json = { email: 'ann@example.org', name: 'ann', monthly_event_limit: 1 };
  const { id } = (await api.call('POST', '/admin/users', { json })).body as { readonly id: string };
  const { key } = await api.createKey(['read', 'write'], { user_id: id });
  const refused = () => api.get<Rejections>('/dashboard/rejections', key);
  t.same((await refused()).items, []);

  // Rejected by shape, rejected by the pipeline, accepted.
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
    [...errors]
      .map(({ trace_id, error }) => ({ trace_id, error: error.replace(', not "no uuid"', '') }))
      .sort((a, b) => (a.trace_id < b.trace_id ? -1 : 1)),
    'the wording of the response, without the invalid value',
  );
  t.match(noted.items[0], { receiver: 'trace_batch', signal: 'traces', code: 'validation_failed' });
  t.notMatch(JSON.stringify(noted), 'payload');

  // OTLP, with a span rejected by the mapping.
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

  // A batch over the quota is refused completely.
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
  t.same((await api.get<Rejections>('/dashboard/rejections')).items, [], 'no rejections of others');
  t.equal((await api.get<unknown[]>('/usage/daily?days=999', key)).length, 92);
  t.equal((await api.call('GET', '/usage/daily?days=x', { key })).status, 422);
  const writer = await api.createKey(['write'], { user_id: id });
  t.equal((await api.call('GET', '/dashboard/rejections', { key: writer.key })).status, 403);
  t.equal((await api.call('GET', '/usage/daily', { key: writer.key })).status, 403);
});

/** Contained in every text of a payload; must not be in any response. */
const CANARY = 'xq7canary';
/** Attribute names, which may appear as the position. */
const KEY = 'xq7key';
const LONG = CANARY.repeat(10_000);
const DEEP = JSON.parse(`${'{"a":'.repeat(70)}"${CANARY}"${'}'.repeat(70)}`) as Record<string, never>;

/** Batches whose items break every rule, each with private texts. */
function hostileTraces(): unknown[] {
  const wrongSpans: readonly Changes[] = [
    ...['span_id', 'trace_id', 'parent_span_id', 'type', 'status', 'started_at', 'ended_at'].map((field) => ({
      [field]: CANARY,
    })),
    { cost_usd: CANARY },
    { cost_usd: `-1${CANARY}` },
    ...['input_tokens', 'duration_ms', 'input_data', 'metadata'].map((field) => ({ [field]: CANARY })),
    ...['name', 'model', 'error_message'].map((field) => ({ [field]: LONG })),
    { name: `${CANARY}\0` },
    { status: `${CANARY}", not "${CANARY}\\` },
    { model: `${CANARY}\ud800` },
    { input_data: { [KEY]: `${CANARY}\udfff` } },
    { output_data: { [KEY]: DEEP } },
  ];
  const items = wrongSpans.map((wrong) => {
    const item = anItem({ spans: 0 });
    const canary = { name: CANARY, input_data: { [KEY]: CANARY }, metadata: { [KEY]: CANARY }, ...wrong };
    return { ...item, spans: [aSpan(traceIdOf(item), canary)] };
  });
  const headers = [
    { agent: LONG },
    { status: CANARY },
    { outcome: LONG },
    { metadata: CANARY },
    { success: CANARY },
  ];
  return [
    ...items,
    ...headers.map((trace) => anItem({ trace })),
    CANARY,
    [CANARY],
    { trace: CANARY, spans: CANARY },
  ];
}

const text = (stringValue: string) => ({ stringValue });
const attributes = (value: object = text(CANARY)) => [{ key: KEY, value }];
/** The same over OTLP. */
const HOSTILE: Readonly<Record<TelemetrySignal, object>> = {
  traces: {
    resourceSpans: [
      {
        resource: { attributes: attributes() },
        scopeSpans: [
          {
            scope: { name: CANARY },
            spans: [
              { traceId: Buffer.alloc(16) },
              { spanId: Buffer.alloc(8) },
              { startTimeUnixNano: '0' },
              { endTimeUnixNano: '18446744073709551615' },
            ].map((wrong) => anOtlpSpan(1, { name: CANARY, attributes: attributes(), ...wrong })),
          },
        ],
      },
    ],
  },
  metrics: {
    resourceMetrics: [
      {
        resource: { attributes: attributes() },
        scopeMetrics: [
          {
            metrics: [
              { name: '', description: CANARY, gauge: { dataPoints: [{ timeUnixNano: START, asInt: 1 }] } },
              { name: LONG, gauge: { dataPoints: [{ timeUnixNano: START, asInt: 1 }] } },
              { name: CANARY, unit: LONG, gauge: { dataPoints: [{ timeUnixNano: START, asInt: 1 }] } },
              {
                name: CANARY,
                gauge: {
                  dataPoints: [
                    { asInt: 1, attributes: attributes() },
                    { timeUnixNano: START, attributes: attributes() },
                    { timeUnixNano: START, asInt: 1, attributes: attributes(text(LONG)) },
                    { timeUnixNano: START, asInt: 1, attributes: [{ key: LONG, value: text(CANARY) }] },
                  ],
                },
              },
              {
                name: CANARY,
                histogram: {
                  dataPoints: [
                    {
                      timeUnixNano: START,
                      count: '1',
                      bucketCounts: ['1'],
                      explicitBounds: [1],
                      attributes: attributes(),
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  },
  logs: {
    resourceLogs: [
      {
        resource: { attributes: [...attributes(), { key: 'service.name', value: text(LONG) }] },
        scopeLogs: [{ logRecords: [{ timeUnixNano: START, body: text(CANARY) }] }],
      },
      {
        scopeLogs: [
          {
            logRecords: [
              { severityText: LONG, body: text(CANARY) },
              { eventName: LONG, body: text(CANARY) },
              { body: text(CANARY.repeat(150_000)) },
            ].map((record) => ({ timeUnixNano: START, ...record })),
          },
        ],
      },
    ],
  },
};

void t.test('rejections never repeat sent values, from any receiver', async (t) => {
  const { url, otlpUrl, grpcAddress, key } = await startTestDaemon(t);
  const api = new ApiCaller(url, key);
  let known = 0;
  /** Checks the rejections recorded since. @returns the number of items */
  const noted = async (way: string): Promise<number> => {
    const { items } = await api.get<Rejections>('/dashboard/rejections');
    const text = JSON.stringify(items);
    t.notMatch(text, CANARY, way);
    for (const [, error] of text.matchAll(/"error":"((?:[^"\\]|\\.)*)"/g))
      t.notMatch((error ?? '').replaceAll(new RegExp(`/labels/${KEY}\\b`, 'g'), ''), KEY, way);
    const came = items.length - known;
    known = items.length;
    return came;
  };
  const traces = hostileTraces();
  const sent = await api.call('POST', '/traces/batch', { json: { traces } });
  t.match(sent, { status: 200, body: { accepted: 0, rejected: traces.length } });
  t.match(JSON.stringify(sent.body), CANARY, 'the sender receives the invalid value');
  t.equal(await noted('trace_batch'), traces.length);

  const call = startOtlpGrpcClient(t, grpcAddress);
  const post = async (signal: TelemetrySignal, contentType: string, body: string | Buffer) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': contentType };
    const { status } = await fetch(`${otlpUrl}/v1/${signal}`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
    t.equal(status, 200, `${signal} ${contentType}`);
  };
  for (const signal of ['traces', 'metrics', 'logs'] as const) {
    const request = HOSTILE[signal];
    await post(signal, 'application/x-protobuf', protobufOf(signal, request));
    const came = await noted(`${signal}, protobuf`);
    t.ok(came > 0, signal);
    await post(signal, 'application/json', jsonOf(request));
    t.equal(await noted(`${signal}, JSON`), came);
    await call(signal, protobufOf(signal, request), { key });
    t.equal(await noted(`${signal}, gRPC`), came);
  }
});
