import t from 'tap';
import { startApi, type TestApi } from '../support/api.js';

const TRACE = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01';
const SPAN = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a02';
const STARTED = '"started_at":"2026-11-20T12:00:00Z"';
/** JSON texts, because doubles lose the digits under test. */
const PAYLOAD =
  '{"id":9007199254740993,"list":[-12345678901234567890,1.5,{"日本":100000000000000000001}],"text":"12345678901234567890"}';
const MAX = '9223372036854775807';
const MIN = '-9223372036854775808';

async function exchange(api: TestApi, method: string, path: string, body?: string) {
  const response = await fetch(`${api.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${api.adminKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text() };
}

function batch(trace: string, span: string): string {
  return `{"traces":[{"trace":{"trace_id":"${TRACE}","agent":"a",${STARTED}${trace}},"spans":[{"span_id":"${SPAN}","trace_id":"${TRACE}","type":"llm","name":"n",${STARTED}${span}}]}]}`;
}

void t.test('payload integers keep their digits', async (t) => {
  const api = await startApi(t);
  const sent = batch(
    `,"metadata":${PAYLOAD}`,
    `,"input_data":${PAYLOAD},"output_data":${PAYLOAD},"metadata":${PAYLOAD}`,
  );
  t.match(await exchange(api, 'POST', '/traces/batch', sent), {
    status: 200,
    text: '{"accepted":1,"rejected":0,"errors":[]}',
  });
  const { text } = await exchange(api, 'GET', `/dashboard/traces/${TRACE}`);
  for (const field of ['metadata', 'input_data', 'output_data'])
    t.ok(text.includes(`"${field}":${PAYLOAD}`), field);
});

void t.test('other fields reject long integers', async (t) => {
  const api = await startApi(t);
  const cases = [
    [
      ',"total_tokens":12345678901234567890',
      '',
      '/trace/total_tokens: must not be greater than 9007199254740991',
    ],
    [',"duration_ms":-12345678901234567890', '', '/trace/duration_ms: must not be negative'],
    ['', ',"cost_usd":12345678901234567890', '/spans/0/cost_usd: is too large an amount'],
    [',"success":12345678901234567890', '', '/trace/success: must be a boolean, not a whole number'],
    ['', ',"input_data":12345678901234567890', '/spans/0/input_data: must be an object, not a whole number'],
    [
      `,"metadata":{"a":${'9'.repeat(310)}}`,
      '',
      '/trace/metadata: must not contain a number too large for a double',
    ],
  ] as const;
  for (const [trace, span, error] of cases) {
    const { text } = await exchange(api, 'POST', '/traces/batch', batch(trace, span));
    t.strictSame((JSON.parse(text) as { readonly errors: unknown }).errors, [{ trace_id: TRACE, error }]);
  }
});

void t.test('64-bit OTLP integers are returned as numbers', async (t) => {
  const api = await startApi(t);
  const integers = [
    { key: 'max', value: { intValue: MAX } },
    { key: 'min', value: { intValue: MIN } },
  ];
  const shown = `"max":${MAX},"min":${MIN}`;
  const resource = { attributes: integers };
  const spans = [
    {
      traceId: TRACE.replaceAll('-', ''),
      spanId: '0102030405060708',
      name: 'chat',
      startTimeUnixNano: '1780000000000000000',
      endTimeUnixNano: '1780000001000000000',
      attributes: [
        ...integers,
        { key: 'input.value', value: { stringValue: PAYLOAD } },
        { key: 'input.mime_type', value: { stringValue: 'application/json' } },
      ],
    },
  ];
  const logRecords = [
    {
      timeUnixNano: '1780000000000000000',
      body: { kvlistValue: { values: integers } },
      attributes: integers,
    },
  ];
  for (const [path, request] of [
    ['/otlp/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }],
    ['/otlp/v1/logs', { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }],
  ] as const)
    t.match(await exchange(api, 'POST', path, JSON.stringify(request)), { status: 200, text: /^\{/ });
  const trace = await exchange(api, 'GET', `/dashboard/traces/${TRACE}`);
  t.ok(trace.text.includes(`"resource":{${shown}}`), 'the resource');
  t.ok(trace.text.includes(PAYLOAD.slice(1, -1)), 'JSON sent as text');
  const logs = await exchange(api, 'GET', '/dashboard/logs/search?details=true');
  t.ok(logs.text.includes(`"attributes":{${shown}}`), 'attributes');
  t.ok(logs.text.includes(`"resource":{${shown}}`), 'the resource');
  t.ok(logs.text.includes(JSON.stringify(`{${shown}}`)), 'a structured body');
});
