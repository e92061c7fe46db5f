import t from 'tap';
import { ReceivedJson } from '../../../src/http/received-json.js';
import { toJson } from '../../../src/otlp/map/any-value.js';
import { OtlpDecodeError } from '../../../src/otlp/decode/decode-error.js';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { int64ToBigInt, nanosToMicros } from '../../../src/otlp/wire/int64.js';
import { decode, jsonRules } from '../../../src/receivers/otlp/decode.js';
import type { Log, Metric, Span } from '../../../src/otlp/wire/requests.js';

const MAX_BYTES = 2 ** 20;

const span = (fields: object): Span | undefined =>
  decodeJson('traces', { resourceSpans: [{ scopeSpans: [{ spans: [fields] }] }] }).resourceSpans?.[0]
    ?.scopeSpans?.[0]?.spans?.[0];
const log = (fields: object): Log | undefined =>
  decodeJson('logs', { resourceLogs: [{ scopeLogs: [{ logRecords: [fields] }] }] }).resourceLogs?.[0]
    ?.scopeLogs?.[0]?.logRecords?.[0];
const metric = (fields: object): Metric | undefined =>
  decodeJson('metrics', { resourceMetrics: [{ scopeMetrics: [{ metrics: [fields] }] }] }).resourceMetrics?.[0]
    ?.scopeMetrics?.[0]?.metrics?.[0];

/** `/attributes/0/key must be a string`: the position within the item and the problem. */
function errorOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error;
    return `${error.place.replace(/^(\/[^/]+\/0){3}/, '')} ${error.reason}`;
  }
  return 'it was decoded';
}

void t.test('ids are hexadecimal digits in any case', async (t) => {
  const read = span({
    traceId: '5B8EFFF798038103D269B633813FC60C',
    spanId: 'eee19b7ec3c1b174',
    parentSpanId: '',
  });
  t.same(read?.traceId, Buffer.from('5b8efff798038103d269b633813fc60c', 'hex'));
  t.same(read?.spanId, Buffer.from('eee19b7ec3c1b174', 'hex'));
  t.equal(read?.parentSpanId?.length, 0);
  t.equal(span({ traceId: 'abcd' })?.traceId?.length, 2, 'the length is checked later, for this span only');
  for (const spanId of ['xyz', 'abc', '7uGbfsPBsXQ=', 5, {}])
    t.equal(
      errorOf(() => span({ spanId })),
      '/spanId must be hexadecimal digits (not base64)',
    );
  t.match(
    errorOf(() => span({ links: [{}, { traceId: 'no' }] })),
    /^\/links\/1\/traceId must/,
  );
});

void t.test('64-bit integers are strings or numbers and keep their digits', async (t) => {
  const body = (text: string) =>
    decode(
      'logs',
      ReceivedJson.whole(
        Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"intValue":${text}}}]}]}]}`),
        jsonRules(MAX_BYTES),
      ),
      MAX_BYTES,
    ).resourceLogs?.[0]?.scopeLogs?.[0]?.logRecords?.[0]?.body?.intValue ?? 7;
  for (const digits of ['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808']) {
    t.equal(int64ToBigInt(body(digits)).toString(), digits);
    t.equal(int64ToBigInt(body(`"${digits}"`)).toString(), digits);
  }
  t.equal(int64ToBigInt(body('1e3')).toString(), '1000');
  for (const startTimeUnixNano of ['1768478400123456789', 1768478400123456800])
    t.equal(nanosToMicros(span({ startTimeUnixNano })?.startTimeUnixNano ?? 0), 1768478400123456);
  const range = /must be an integer from 0 to 18446744073709551615, as a string or a number/;
  for (const timeUnixNano of [
    '',
    ' 5',
    '0x10',
    '1.5',
    '1e3',
    '18446744073709551616',
    '-1',
    -1,
    1.5,
    1e30,
    true,
    {},
  ])
    t.match(
      errorOf(() => log({ timeUnixNano })),
      range,
      JSON.stringify(timeUnixNano),
    );
  t.match(
    errorOf(() => log({ body: { intValue: '9223372036854775808' } })),
    /^\/body\/intValue must be an integer/,
  );
});

void t.test('enumerations are integers or names', async (t) => {
  t.equal(span({ kind: 3 })?.kind, 3);
  t.equal(span({ kind: 77 })?.kind, 77);
  t.equal(span({ kind: 'SPAN_KIND_CLIENT' })?.kind, 3);
  t.equal(span({ status: { code: 'STATUS_CODE_ERROR' } })?.status?.code, 2);
  t.equal(log({ severityNumber: 'SEVERITY_NUMBER_WARN3' })?.severityNumber, 15);
  t.equal(
    metric({ sum: { aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA' } })?.sum?.aggregationTemporality,
    1,
  );
  for (const kind of ['CLIENT', 'toString', 1.5, null])
    t.equal(
      errorOf(() => span({ kind })),
      kind === null ? 'it was decoded' : '/kind must be an integer from -2147483648 to 2147483647',
    );
});

void t.test('reads values of every type', async (t) => {
  const values = [
    [{ stringValue: '' }, ''],
    [{ stringValue: 'half \ud83d' }, 'half \ufffd'],
    [{ boolValue: false }, false],
    [{ intValue: '5' }, 5],
    [{ doubleValue: 0.5 }, 0.5],
    [{ doubleValue: 'NaN' }, 'NaN'],
    [{ doubleValue: '-Infinity' }, '-Infinity'],
    [{ doubleValue: '1.5' }, 1.5],
    [{ arrayValue: { values: [{ intValue: 1 }, {}] } }, [1, null]],
    [{ arrayValue: {} }, []],
    [
      { kvlistValue: { values: [{ key: 'a', value: { boolValue: true } }, { key: '__proto__' }] } },
      { a: true, ['__proto__']: null },
    ],
    [{ bytesValue: 'AP8=' }, 'AP8='],
    [{ bytesValue: '_-8' }, '/+8='],
    [{}, null],
  ] as const;
  for (const [body, expected] of values)
    t.strictSame(toJson(log({ body })?.body), expected, JSON.stringify(body));
});

void t.test('reads points of every type', async (t) => {
  const read = metric({
    name: 'm',
    exponentialHistogram: {
      aggregationTemporality: 2,
      dataPoints: [
        {
          count: '5',
          sum: 2.5,
          scale: -3,
          zeroCount: 1,
          positive: { offset: -2, bucketCounts: ['1', 2] },
          negative: {},
          flags: 1,
          exemplars: [{ asInt: '7', traceId: 'ab', filteredAttributes: [] }],
        },
      ],
    },
  });
  t.match(read?.exponentialHistogram?.dataPoints?.[0], {
    count: '5',
    scale: -3,
    positive: { offset: -2, bucketCounts: ['1', 2] },
    exemplars: [{ asInt: '7', traceId: Buffer.from([0xab]) }],
  });
  t.strictSame(
    metric({ histogram: { dataPoints: [{ explicitBounds: [0, '2.5'] }] } })?.histogram?.dataPoints,
    [{ explicitBounds: [0, 2.5] }],
  );
});

void t.test('reads lowerCamelCase names and ignores others', async (t) => {
  const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as unknown;
  const read = span({ name: 'x', start_time_unix_nano: 5, trace_id: {}, Name: 1, toString: 7, future: deep });
  t.equal(read?.name, 'x');
  t.equal(read?.startTimeUnixNano, undefined);
  t.equal(read?.traceId, undefined);
  t.equal(span({ name: null, attributes: null, status: null })?.name, null, 'null means absent');
});

void t.test('an error names the position of a wrong type', async (t) => {
  const cases = [
    [() => decodeJson('traces', []), ' must be an object'],
    [() => decodeJson('traces', 'x'), ' must be an object'],
    [() => decodeJson('logs', { resourceLogs: {} }), '/resourceLogs must be a list'],
    [() => decodeJson('logs', { resourceLogs: [null] }), '/resourceLogs/0 must not be null'],
    [() => span({ name: 5 }), '/name must be a string'],
    [() => span({ attributes: { a: 1 } }), '/attributes must be a list'],
    [() => span({ attributes: [{ key: 'a', value: 5 }] }), '/attributes/0/value must be an object'],
    [
      () => span({ attributes: [{ key: 'a', value: { boolValue: 'true' } }] }),
      '/attributes/0/value/boolValue must be true or false',
    ],
    [() => span({ droppedLinksCount: -1 }), '/droppedLinksCount must be an integer from 0 to 4294967295'],
    [() => log({ body: { bytesValue: 'not base64!' } }), '/body/bytesValue must be base64'],
    [() => log({ body: { doubleValue: 'x' } }), '/body/doubleValue must be a number'],
    [
      () => metric({ gauge: { dataPoints: [{ asDouble: '' }] } }),
      '/gauge/dataPoints/0/asDouble must be a number',
    ],
  ] as const;
  for (const [attempt, expected] of cases) t.equal(errorOf(attempt), expected);
});

void t.test('values nest as deep as in protobuf', async (t) => {
  const nested = (levels: number) => {
    let value: object = { stringValue: 'the inmost' };
    for (let level = 0; level < levels; level++) value = { arrayValue: { values: [value] } };
    return value;
  };
  t.match(JSON.stringify(toJson(log({ body: nested(48) })?.body)), 'the inmost');
  for (const levels of [49, 10_000])
    t.match(
      errorOf(() => log({ body: nested(levels) })),
      /nests deeper than 100 messages$/,
    );
});
