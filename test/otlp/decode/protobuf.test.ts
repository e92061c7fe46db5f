import t from 'tap';
import { toJson } from '../../../src/otlp/map/any-value.js';
import { OtlpDecodeError } from '../../../src/otlp/decode/decode-error.js';
import { decodeProtobuf } from '../../../src/otlp/decode/protobuf.js';
import { int64ToBigInt, nanosToMicros } from '../../../src/otlp/wire/int64.js';
import type { AnyValue } from '../../../src/otlp/wire/requests.js';
import { protobufOf, START } from '../../support/otlp-requests.js';

const MANY = 1_000_000;

function logWith(body: AnyValue): Buffer {
  return protobufOf('logs', { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body }] }] }] });
}

function bodyOf(bytes: Uint8Array): AnyValue | null | undefined {
  const request = decodeProtobuf('logs', bytes, MANY);
  return request.resourceLogs?.[0]?.scopeLogs?.[0]?.logRecords?.[0]?.body;
}

/** @returns the error of an undecodable request */
function errorOf(attempt: () => unknown): OtlpDecodeError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof OtlpDecodeError) return error;
    throw error;
  }
  throw new Error('it was decoded');
}

function nested(levels: number): AnyValue {
  let value: AnyValue = { stringValue: 'the inmost' };
  for (let level = 0; level < levels; level++) value = { arrayValue: { values: [value] } };
  return value;
}

/** A field with arbitrary bytes. */
function field(number: number, content: Uint8Array): Buffer {
  const head = [(number << 3) | 2];
  for (let rest = content.length; ; rest >>>= 7) {
    head.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([Buffer.from(head), content]);
}

void t.test('64-bit values keep every bit', async (t) => {
  for (const digits of ['0', '1', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'])
    t.equal(int64ToBigInt(bodyOf(logWith({ intValue: digits }))?.intValue ?? 7).toString(), digits);
  const span = decodeProtobuf(
    'traces',
    protobufOf('traces', {
      resourceSpans: [
        { scopeSpans: [{ spans: [{ startTimeUnixNano: START, endTimeUnixNano: '18446744073709551615' }] }] },
      ],
    }),
    MANY,
  ).resourceSpans?.[0]?.scopeSpans?.[0]?.spans?.[0];
  t.equal(int64ToBigInt(span?.startTimeUnixNano ?? 0).toString(), START);
  t.equal(int64ToBigInt(span?.endTimeUnixNano ?? 0).toString(), '18446744073709551615');
  t.equal(nanosToMicros(span?.startTimeUnixNano ?? 0), Number(START) / 1000);
});

void t.test('reads values of every type, and distinguishes empty from absent ones', async (t) => {
  const values: readonly AnyValue[] = [
    { stringValue: '' },
    { stringValue: 'grüße 🎉' },
    { boolValue: false },
    { doubleValue: 0 },
    { doubleValue: -0.5 },
    { arrayValue: {} },
    { kvlistValue: { values: [{ key: 'a', value: { intValue: 5 } }, { key: 'b' }] } },
    { bytesValue: Buffer.from([0, 255]) },
  ];
  t.strictSame(
    values.map((value) => toJson(bodyOf(logWith(value)))),
    ['', 'grüße 🎉', false, 0, -0.5, [], { a: 5, b: null }, 'AP8='],
  );
  t.equal(toJson(bodyOf(logWith({}))), null);
});

void t.test('skips unknown fields', async (t) => {
  const known = logWith({ stringValue: 'x' });
  const unknown = Buffer.concat([
    Buffer.from([0xf8, 0x07, 0x05]),
    field(15, Buffer.from('whatever')),
    known,
    Buffer.from([0xfd, 0x07, 1, 2, 3, 4]),
  ]);
  t.equal(bodyOf(unknown)?.stringValue, 'x');
});

void t.test('replaces only the invalid characters of non-UTF-8 text', async (t) => {
  const cut = Buffer.concat([Buffer.from('caf'), Buffer.from('é').subarray(0, 1)]);
  const value = field(5, field(1, cut));
  const bytes = field(1, field(2, field(2, Buffer.concat([value, field(3, Buffer.from('INFO'))]))));
  t.equal(bodyOf(bytes)?.stringValue, 'caf\uFFFD');
  t.equal(
    decodeProtobuf('logs', bytes, MANY).resourceLogs?.[0]?.scopeLogs?.[0]?.logRecords?.[0]?.severityText,
    'INFO',
  );
});

void t.test('messages nest up to 100 levels', async (t) => {
  // Request, resource, scope, record and body are five levels; each list adds two.
  const deepest = logWith(nested(47));
  t.match(JSON.stringify(toJson(bodyOf(deepest))), 'the inmost');
  let inner: Buffer = field(1, Buffer.from('the inmost'));
  for (let level = 0; level < 10_000; level++) inner = field(5, field(1, inner));
  const bytes = field(1, field(2, field(2, field(5, inner))));
  const error = errorOf(() => bodyOf(bytes));
  t.match(error.reason, /max depth exceeded/);
  t.match(error.place, /^byte \d+$/);
});

void t.test('lengths must fit the remaining bytes', async (t) => {
  for (const bytes of [
    [0x0a, 0x7f],
    [0x0a, 0xff, 0xff, 0xff, 0xff, 0x07],
    [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    [0x0a],
    [0xff],
    [0x0b],
  ])
    t.match(
      errorOf(() => decodeProtobuf('traces', Buffer.from(bytes), MANY)).reason,
      /is not a protobuf message of traces/,
    );
  // Packed numbers with a false length allocate nothing.
  const point = field(1, field(2, field(2, field(9, field(1, Buffer.from([0x32, 0xff, 0xff, 0xff, 0x7f]))))));
  t.match(
    errorOf(() => decodeProtobuf('metrics', point, MANY)).reason,
    /is not a protobuf message of metrics/,
  );
});

void t.test('limits the number of fields', async (t) => {
  const spans = field(1, field(2, Buffer.alloc(2000, Buffer.from([0x12, 0x00]))));
  t.equal(decodeProtobuf('traces', spans, 1002).resourceSpans?.[0]?.scopeSpans?.[0]?.spans?.length, 1000);
  const error = errorOf(() => decodeProtobuf('traces', spans, 1001));
  t.ok(error.isTooLarge);
  t.match(error.reason, /1001 fields/);
});
