import { randomUUID } from 'node:crypto';
import t from 'tap';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { startApi, type TestApi } from '../../support/api.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { without } from '../../storage/duckdb/shown-spans.js';
import { traceIdOf } from '../../support/header-text.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { aSpan as otlpSpan, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { anItem, aSpan } from '../../support/trace-batch.js';

type Fields = Record<string, unknown>;

async function send(api: TestApi, request: object): Promise<void> {
  const headers = { 'content-type': 'application/x-protobuf' };
  const { status } = await api.call('POST', '/otlp/v1/traces', {
    body: Uint8Array.from(protobufOf('traces', request)),
    headers,
  });
  if (status !== 200) throw new Error(`the request was answered with ${status}`);
}

void t.test('a span has every field that its client sent', async (t) => {
  const api = await startApi(t);
  await send(api, FULL.traces);
  const [trace, span] = ['5b8efff7-9803-8103-d269-b633813fc60c', 'd269b633-813f-c60c-eee1-9b7ec3c1b174'];
  const { scores, ...shown } = await api.get<Fields>(`/dashboard/traces/${trace}/spans/${span}`);
  t.strictSame(scores, []);
  const attributes = [
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '120' } },
    { key: 'gen_ai.input.messages', value: { stringValue: '[{"role":"user","parts":[{"type":"text"}]}]' } },
    { key: 'flag', value: { boolValue: true } },
    { key: 'ratio', value: { doubleValue: 0.25 } },
    {
      key: 'list',
      value: { arrayValue: { values: [{ stringValue: 'grüße 🎉' }, { intValue: '9007199254740993' }] } },
    },
    { key: 'map', value: { kvlistValue: { values: [{ key: 'inner', value: { boolValue: false } }] } } },
    { key: 'none', value: {} },
  ];
  t.strictSame(shown['attributes'], attributes);
  t.match(shown, {
    ...{ span_id: span, trace_id: trace, type: 'llm', input_tokens: 120 },
    ...{ kind: 'client', trace_state: 'a=b', flags: 257, sent_name: 'chat gpt-4o', metadata: null },
    ...{ sent_start: '2026-01-15T12:00:00Z', sent_end: '2026-01-15T12:00:01.500Z' },
    ...{ dropped_attributes_count: 1, dropped_events_count: 1 },
    scope: { name: 'library', version: '1.2.3', attributes },
    resource: { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] },
    events: [
      { name: 'exception', timestamp: '2026-01-15T12:00:00Z', attributes, dropped_attributes_count: 3 },
    ],
  });
  t.match(shown['links'], [{ trace_id: /^[0-9a-f]{32}$/, span_id: /^[0-9a-f]{16}$/, attributes }]);
  const trace_ = await api.get<{ spans: Fields[] }>(`/dashboard/traces/${trace}?include=metadata`);
  t.strictSame(trace_.spans, [shown]);
  t.notOk(
    'attributes' in ((await api.get<{ spans: Fields[] }>(`/dashboard/traces/${trace}`)).spans[0] ?? {}),
  );
});

void t.test('attributes keep types and order in protobuf and JSON', async (t) => {
  const attributes = [
    { key: 'z', value: { doubleValue: 2 } },
    { key: 'a', value: { intValue: '2' } },
    { key: 'text', value: { stringValue: '2' } },
    { key: 'yes', value: { boolValue: true } },
    { key: 'bytes', value: { bytesValue: 'AP8=' } },
    { key: 'none', value: {} },
    { key: 'not', value: { doubleValue: 'NaN' } },
    { key: 'list', value: { arrayValue: { values: [{ doubleValue: 1 }, { intValue: '1' }] } } },
    { key: 'map', value: { kvlistValue: { values: [{ key: 'k', value: { bytesValue: '' } }] } } },
    { key: 'a', value: { intValue: '-3' } },
    { key: 'resource', value: { stringValue: 'not the resource' } },
  ];
  const api = await startApi(t);
  const span = { name: 's', startTimeUnixNano: '1768478400000000001', attributes };
  const scope = { name: 'library', attributes };
  const json = (spanId: string) => ({
    resourceSpans: [
      {
        resource: { attributes },
        scopeSpans: [{ scope, spans: [{ ...span, traceId: '01'.repeat(16), spanId }] }],
      },
    ],
  });
  t.equal((await api.call('POST', '/otlp/v1/traces', { json: json('02'.repeat(8)) })).status, 200);
  await send(api, decodeJson('traces', JSON.parse(JSON.stringify(json('03'.repeat(8)))) as unknown));
  for (const id of ['0202-020202020202', '0303-030303030303']) {
    const path = `/dashboard/traces/01010101-0101-0101-0101-010101010101/spans/01010101-0101-0101-${id}`;
    const shown = await api.get<Fields>(path);
    t.strictSame(shown['attributes'], attributes);
    t.strictSame(shown['scope'], { name: 'library', version: null, attributes });
    t.strictSame(shown['resource'], { attributes });
    t.equal(shown['sent_start'], '2026-01-15T12:00:00.000000001Z');
  }
});

void t.test('omits status, message and events that were not sent', async (t) => {
  const api = await startApi(t);
  await send(
    api,
    tracesOf(
      otlpSpan(1, { status: { code: 2 }, attributes: [{ key: 'error.type', value: { stringValue: 'E' } }] }),
      otlpSpan(2, { status: { code: 2, message: 'no\nway' }, kind: 9 }),
    ),
  );
  const path = '/dashboard/traces/01010101-0101-0101-0101-010101010101/spans/01010101-0101-0101';
  const bare = await api.get<Fields>(`${path}-0101-010101010101`);
  t.match(bare, { status: 'failed', error_message: 'E', status_code: 2, status_message: null, events: [] });
  const detail = await api.get<Fields>(`${path}-0202-020202020202`);
  t.match(detail, { status_message: 'no\nway', kind: 9, trace_state: null, links: [], scope: null });
});

void t.test('a span of the batch route has its metadata', async (t) => {
  const api = await startApi(t);
  const item = anItem({ spans: 0 });
  const id = traceIdOf(item);
  const span = aSpan(id, { metadata: { otel: { trace_id: 'x' }, list: [1, 2.5] } });
  item.spans.push(span);
  await api.send([item]);
  const { scores, ...shown } = await api.get<Fields>(
    `/dashboard/traces/${id}/spans/${span['span_id'] as string}`,
  );
  t.strictSame(scores, []);
  t.strictSame(shown['metadata'], span['metadata']);
  t.match(shown['cost'], { total: Number(span['cost_usd']), source: 'reported', rule: null, input: null });
  for (const field of ['attributes', 'events', 'links', 'scope', 'resource', 'kind', 'flags'])
    t.equal(shown[field], null, field);
  const whole = await api.get<{ spans: Fields[] }>(`/dashboard/traces/${id}?include=metadata`);
  t.strictSame(whole.spans, [shown]);
});

void t.test('a span has the parts of its usage and cost', async (t) => {
  const api = await startApi(t);
  const call = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.model': 'gpt-4o-mini',
    'gen_ai.usage.input_tokens': 120,
    'gen_ai.usage.output_tokens': 45,
    'gen_ai.usage.cache_read.input_tokens': 64,
    'gen_ai.usage.reasoning_tokens': 16,
  };
  const attributes = { 'gen_ai.usage.cost': 0, 'langfuse.observation.type': 'generation' };
  const reported = { 'llm.cost.total': 2e-8, 'llm.cost.prompt': 2e-8, 'gen_ai.operation.name': 'chat' };
  await send(
    api,
    tracesOf(
      otlpSpan(1, { attributes: toKeyValues({ ...call, ...attributes }) }),
      otlpSpan(2, { attributes: toKeyValues(reported) }),
      otlpSpan(3, { attributes: toKeyValues({ ...call, 'gen_ai.response.model': 'of nobody' }) }),
      otlpSpan(4),
    ),
  );
  const path = '/dashboard/traces/01010101-0101-0101-0101-010101010101/spans/01010101-0101-0101';
  const none = {
    ...{ cached_read: null, cached_write: null, cached_write_5m: null, cached_write_1h: null },
    ...{ audio_input: null, audio_output: null },
  };
  const usage = { ...none, input: 120, output: 45, cached_read: 64, reasoning: 16, total: 165 };
  const priced = await api.get<Fields>(`${path}-0101-010101010101`);
  t.same(priced['usage'], usage);
  t.match(priced['cost'], { rule: /^prices\.yaml:\d+ gpt-4o-mini.* \(20\d\d-\d\d-\d\d\)$/ });
  t.same(without(priced['cost'] as Fields, 'rule'), {
    ...none,
    input: 0.000_008_4,
    cached_read: 0.000_004_8,
    output: 0.000_027,
    total: 0.000_040_2,
    source: 'priced',
    tier: null,
  });
  const small = await api.get<Fields>(`${path}-0202-020202020202`);
  t.equal(small['usage'], null);
  const cost = {
    ...none,
    input: 2e-8,
    output: null,
    total: 2e-8,
    source: 'reported',
    rule: null,
    tier: null,
  };
  t.same(small['cost'], cost, 'all digits');
  const unknown = await api.get<Fields>(`${path}-0303-030303030303`);
  t.same([unknown['usage'], unknown['cost']], [usage, null]);
  t.match(await api.get(`${path}-0404-040404040404`), { usage: null, cost: null });
});

void t.test('an unknown span is 404, an invalid id 422', async (t) => {
  const api = await startApi(t);
  const item = anItem({ spans: 1 });
  await api.send([item]);
  const id = traceIdOf(item);
  for (const path of [`${id}/spans/${randomUUID()}`, `${randomUUID()}/spans/${randomUUID()}`])
    t.equal((await api.call('GET', `/dashboard/traces/${path}`)).status, 404);
  for (const path of [`${id}/spans/1`, `1/spans/${randomUUID()}`, `${id}?include=all`])
    t.equal((await api.call('GET', `/dashboard/traces/${path}`)).status, 422);
});
