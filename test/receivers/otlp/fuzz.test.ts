import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import t from 'tap';
import { HttpProblem } from '../../../src/component/http.js';
import { ReceivedJson } from '../../../src/http/received-json.js';
import { OtlpDecodeError } from '../../../src/otlp/decode/decode-error.js';
import { logsToRecords } from '../../../src/otlp/map/logs-to-records.js';
import { metricsToPoints } from '../../../src/otlp/map/metrics-to-points.js';
import { spansToTraces } from '../../../src/otlp/map/spans-to-traces.js';
import type { Encoding } from '../../../src/otlp/wire/status.js';
import { decode, jsonRules, received } from '../../../src/receivers/otlp/decode.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../../src/signal/batch.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { jsonOf, protobufOf } from '../../support/otlp-requests.js';
import { projectFolder } from '../../support/project-file.js';
import { holds } from '../../support/property.js';

const MAX_BYTES = 64 * 1024 * 1024;
const ABOUT = { tenant: 'tenant', receivedAt: 1_768_478_400_000_000 };

/** Decodes and maps like the receiver. @returns whether it was accepted; a refusal has a reason and position */
function take(signal: TelemetrySignal, encoding: Encoding, bytes: Uint8Array): 'taken' | 'refused' {
  const body = encoding === 'json' ? ReceivedJson.whole(bytes, jsonRules(MAX_BYTES)) : bytes;
  try {
    if (signal === 'traces')
      spansToTraces(decode(signal, body, MAX_BYTES), { ...ABOUT, idleTimeoutMs: null });
    else if (signal === 'metrics') metricsToPoints(decode(signal, body, MAX_BYTES), ABOUT);
    else logsToRecords(decode(signal, body, MAX_BYTES), ABOUT);
    return 'taken';
  } catch (error) {
    // Any other error would be a bug and a 500.
    if (error instanceof OtlpDecodeError || (error instanceof HttpProblem && error.status < 500))
      return 'refused';
    throw error;
  }
}

const PROTOBUF = new Map(TELEMETRY_SIGNALS.map((signal) => [signal, protobufOf(signal, FULL[signal])]));
const JSON_TEXT = new Map(
  TELEMETRY_SIGNALS.map((signal) => [signal, Buffer.from(base64Bytes(jsonOf(FULL[signal])))]),
);

/** The only bytes in the requests that are not ids. */
function base64Bytes(json: string): string {
  return json.replace('"bytesValue":"00ff"', '"bytesValue":"AP8="');
}

function sample(signal: TelemetrySignal, encoding: Encoding): Buffer {
  return (encoding === 'json' ? JSON_TEXT : PROTOBUF).get(signal) ?? Buffer.alloc(0);
}

const signals = fc.constantFrom(...TELEMETRY_SIGNALS);
const encodings = fc.constantFrom<Encoding>('protobuf', 'json');

void t.test('accepts the samples', async (t) => {
  for (const signal of TELEMETRY_SIGNALS)
    for (const encoding of ['protobuf', 'json'] as const)
      t.equal(take(signal, encoding, sample(signal, encoding)), 'taken', `${signal} ${encoding}`);
});

void t.test('truncation at any byte is handled', async (t) => {
  for (const signal of TELEMETRY_SIGNALS) {
    for (const encoding of ['protobuf', 'json'] as const) {
      const whole = sample(signal, encoding);
      for (let length = 0; length < whole.length; length++) take(signal, encoding, whole.subarray(0, length));
      t.pass(`${signal} ${encoding}: ${whole.length} truncations`);
    }
  }
});

void t.test('handles flipped, inserted, repeated and removed bytes', async (t) => {
  const change = fc.record({
    kind: fc.constantFrom('flip', 'insert', 'repeat', 'remove', 'length'),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    size: fc.integer({ min: 1, max: 40 }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }),
  });
  holds(
    t,
    fc.property(
      signals,
      encodings,
      fc.array(change, { minLength: 1, maxLength: 6 }),
      (signal, encoding, changes) => {
        let bytes = Buffer.from(sample(signal, encoding));
        for (const { kind, at, size, bytes: given } of changes) {
          const place = Math.floor(at * bytes.length);
          const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
          if (kind === 'flip') bytes[place] = (bytes[place] ?? 0) ^ (given[0] ?? 1);
          else if (kind === 'insert') bytes = Buffer.concat([before, given, after]);
          else if (kind === 'repeat') bytes = Buffer.concat([before, after.subarray(0, size), after]);
          else if (kind === 'remove') bytes = Buffer.concat([before, after.subarray(size)]);
          // Lengths of 4 GiB minus one and 32 GiB, with as many bits as possible.
          else
            bytes = Buffer.concat([before, Buffer.from([255, 255, 255, 255, size & 127]), after.subarray(1)]);
        }
        take(signal, encoding, bytes);
        return true;
      },
    ),
    { numRuns: 4000 },
  );
});

void t.test('handles random bytes', async (t) => {
  holds(
    t,
    fc.property(signals, encodings, fc.uint8Array({ maxLength: 300 }), (signal, encoding, bytes) => {
      take(signal, encoding, bytes);
      return true;
    }),
    { numRuns: 2000 },
  );
});

void t.test('handles any JSON at any place of a JSON request', async (t) => {
  const other = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(
      -1,
      1e308,
      '1e999',
      2 ** 64,
      '',
      '-0',
      '9'.repeat(40),
      '\ud800',
      'NaN',
      [],
      {},
      [[]],
      [{}],
    ),
  );
  holds(
    t,
    fc.property(signals, other, fc.nat(), (signal, value, place) => {
      const request = JSON.parse(sample(signal, 'json').toString()) as object;
      const places: (readonly [Record<string, unknown>, string])[] = [];
      const permit = (node: object): void => {
        for (const [key, child] of Object.entries(node)) {
          places.push([node as Record<string, unknown>, key]);
          if (typeof child === 'object' && child !== null) permit(child as object);
        }
      };
      permit(request);
      const [node, key] = places[place % places.length] ?? [{}, ''];
      node[key] = value;
      take(signal, 'json', Buffer.from(JSON.stringify(request)));
      return true;
    }),
    { numRuns: 3000 },
  );
});

/** A protobuf field with content of any length. */
function field(number: number, content: Uint8Array): Buffer {
  const head = [(number << 3) | 2];
  let rest = content.length;
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), content]);
}

void t.test('handles 10,000 levels at every nesting place', async (t) => {
  const wrap = (content: Buffer, ...numbers: readonly number[]): Buffer =>
    numbers.reduceRight((inner, number) => field(number, inner), content);
  let lists: Buffer = Buffer.alloc(0);
  let maps: Buffer = Buffer.alloc(0);
  for (let level = 0; level < 10_000; level++) {
    lists = wrap(lists, 5, 1);
    maps = wrap(maps, 6, 1, 2);
  }
  // Groups of older protobuf: nested start tags.
  const groups = Buffer.alloc(20_000, 0x7b);
  for (const value of [lists, maps, groups]) {
    t.equal(take('logs', 'protobuf', wrap(value, 1, 2, 2, 5)), 'refused', 'as the body of a record');
    t.equal(take('traces', 'protobuf', wrap(value, 1, 1, 1, 2)), 'refused', 'as a resource attribute');
    t.equal(take('traces', 'protobuf', wrap(value, 1, 2, 2, 11, 3, 2)), 'refused', 'as an event attribute');
    t.equal(take('metrics', 'protobuf', wrap(value, 1, 2, 2, 5, 1, 7, 2)), 'refused', 'as a point attribute');
  }
  const open = '{"arrayValue":{"values":[';
  const deep = open.repeat(10_000) + ']}}'.repeat(10_000);
  const pairs = '{"kvlistValue":{"values":[{"value":'.repeat(10_000) + '{}' + '}]}}'.repeat(10_000);
  for (const value of [deep, pairs, open.repeat(10_000), '['.repeat(10_000)]) {
    const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${value}}]}]}]}`;
    t.equal(take('logs', 'json', Buffer.from(body)), 'refused');
    t.equal(take('logs', 'json', Buffer.from(`{"unknown":${value}}`)), 'refused', 'in an ignored field');
  }
});

void t.test('frees memory and rejects a structure bomb before building it', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const hostile = [
    ['protobuf', field(1, field(2, Buffer.alloc(6_000_000, Buffer.from([0x12, 0x00]))))],
    ['json', Buffer.from(`{"resourceSpans":[${'{},'.repeat(2_500_000)}{}]}`)],
    ['json', Buffer.from('['.repeat(1_000_000))],
    ['json', Buffer.from(`{"a":${'{"a":'.repeat(300_000)}`)],
  ] as const;
  for (const [encoding, bytes] of hostile) t.equal(take('traces', encoding, bytes), 'refused');
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let round = 0; round < 300; round++) {
    for (const signal of TELEMETRY_SIGNALS) {
      const whole = sample(signal, 'protobuf');
      const text = sample(signal, 'json');
      take(signal, 'protobuf', whole.subarray(0, whole.length - (round % 50)));
      take(signal, 'json', text.subarray(0, text.length - (round % 50)));
    }
  }
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  t.ok(grown < 8 * 1024 * 1024, `${grown} bytes more than before`);
});

/** Position of a repeated field in the messages of a request. */
interface RepeatedField {
  readonly field: protobuf.Field;
  /** Enclosing fields, outermost first. */
  readonly around: readonly protobuf.Field[];
}

const REQUEST_TYPES: Readonly<Record<TelemetrySignal, string>> = {
  traces: 'trace.v1.ExportTraceServiceRequest',
  metrics: 'metrics.v1.ExportMetricsServiceRequest',
  logs: 'logs.v1.ExportLogsServiceRequest',
};

/** All repeated fields of all request messages. */
function repeatedFields(signal: TelemetrySignal): readonly RepeatedField[] {
  const root = new protobuf.Root();
  root.resolvePath = (_, path) => join(projectFolder(), 'proto', path);
  const [folder = ''] = REQUEST_TYPES[signal].split('.');
  root.loadSync(`opentelemetry/proto/collector/${folder}/v1/${folder}_service.proto`).resolveAll();
  const found: RepeatedField[] = [];
  const seen = new Set<protobuf.Type>();
  const permit = (type: protobuf.Type, around: readonly protobuf.Field[]): void => {
    if (seen.has(type)) return;
    seen.add(type);
    for (const field of type.fieldsArray) {
      if (field.repeated) found.push({ field, around });
      if (field.resolvedType instanceof protobuf.Type) permit(field.resolvedType, [...around, field]);
    }
  };
  permit(root.lookupType(`opentelemetry.proto.collector.${REQUEST_TYPES[signal]}`), []);
  return found;
}

/** Bytes per value; other types have any number. */
const WIDTHS: Readonly<Record<string, number>> = {
  ...{ double: 8, fixed64: 8, sfixed64: 8 },
  ...{ float: 4, fixed32: 4, sfixed32: 4 },
};

/** A request with a repeated field in each protobuf encoding. */
function repeatedInProtobuf({ field: { id, type, resolvedType }, around }: RepeatedField, count: number) {
  const hasLength = resolvedType instanceof protobuf.Type || type === 'string' || type === 'bytes';
  const width = WIDTHS[type] ?? 1;
  const wireType = hasLength ? 2 : width === 8 ? 1 : width === 4 ? 5 : 0;
  const one = Buffer.concat([Buffer.from([(id << 3) | wireType]), Buffer.alloc(width)]);
  const unpacked = Buffer.alloc(one.length * count, one);
  const contents = hasLength ? { unpacked } : { unpacked, packed: field(id, Buffer.alloc(width * count)) };
  return Object.entries(contents).map(
    ([form, content]) =>
      [form, around.reduceRight((inner, outer) => field(outer.id, inner), content)] as const,
  );
}

function repeatedInJson(
  { field: { name, type, resolvedType }, around }: RepeatedField,
  count: number,
): Buffer {
  const one = resolvedType instanceof protobuf.Type ? '{}' : type === 'string' ? '""' : '0';
  const content = `{"${name}":[${`${one},`.repeat(count - 1)}${one}]}`;
  return Buffer.from(
    around.reduceRight(
      (inner, outer) => `{"${outer.name}":${outer.repeated ? `[${inner}]` : inner}}`,
      content,
    ),
  );
}

/** @returns why a request is too large, and the heap growth meanwhile */
function refusal(attempt: () => unknown): { readonly reason: string; readonly grown: number } {
  const before = process.memoryUsage().heapUsed;
  try {
    attempt();
  } catch (error) {
    const grown = process.memoryUsage().heapUsed - before;
    if (error instanceof OtlpDecodeError && error.isTooLarge) return { reason: error.reason, grown };
    if (error instanceof HttpProblem && error.status === 413) return { reason: error.message, grown };
    throw error;
  }
  return { reason: 'taken', grown: 0 };
}

void t.test('every repeated field of every message is limited', async (t) => {
  const maxBytes = 4096;
  const count = 1_000_000;
  const mostGrown = 4 * 1024 * 1024;
  for (const signal of TELEMETRY_SIGNALS) {
    const fields = repeatedFields(signal);
    t.ok(fields.length >= 8, `${signal}: ${fields.length} fields`);
    for (const repeated of fields) {
      const name = [...repeated.around, repeated.field].map((one) => one.name).join('.');
      for (const [form, bytes] of repeatedInProtobuf(repeated, count)) {
        const { reason, grown } = refusal(() => decode(signal, bytes, maxBytes));
        t.match(reason, /more than .*; send smaller batches/, `${name}, ${form}`);
        t.ok(grown < mostGrown, `${name}, ${form}: ${grown} bytes allocated`);
      }
      const json = repeatedInJson(repeated, count);
      const { reason, grown } = refusal(() =>
        decode(signal, ReceivedJson.whole(json, jsonRules(maxBytes)), maxBytes),
      );
      t.match(reason, /more than .*; send smaller batches/, `${name}, JSON`);
      t.ok(grown < mostGrown, `${name}, JSON: ${grown} bytes allocated`);
    }
  }
});

void t.test('a request has at most 50,000 items, including empty ones in any arrangement', async (t) => {
  const items: Readonly<Record<TelemetrySignal, readonly string[]>> = {
    traces: ['resourceSpans', 'resourceSpans.scopeSpans', 'resourceSpans.scopeSpans.spans'],
    metrics: [
      'resourceMetrics',
      'resourceMetrics.scopeMetrics',
      'resourceMetrics.scopeMetrics.metrics',
      ...['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'].map(
        (kind) => `resourceMetrics.scopeMetrics.metrics.${kind}.dataPoints`,
      ),
    ],
    logs: ['resourceLogs', 'resourceLogs.scopeLogs', 'resourceLogs.scopeLogs.logRecords'],
  };
  for (const signal of TELEMETRY_SIGNALS) {
    const levels = repeatedFields(signal).filter(({ field, around }) =>
      items[signal].includes([...around, field].map(({ name }) => name).join('.')),
    );
    t.equal(levels.length, items[signal].length);
    for (const level of levels) {
      const [, most = Buffer.alloc(0)] = repeatedInProtobuf(level, 50_000)[0] ?? [];
      const [, one = Buffer.alloc(0)] = repeatedInProtobuf(level, 1)[0] ?? [];
      const more = Buffer.concat([most, one]);
      const json = (count: number) => ReceivedJson.whole(repeatedInJson(level, count), jsonRules(MAX_BYTES));
      const { name } = level.field;
      t.doesNotThrow(() => decode(signal, most, MAX_BYTES), name);
      t.doesNotThrow(() => decode(signal, json(50_000), MAX_BYTES), `${name}, JSON`);
      // Two requests concatenated, which protobuf reads as one.
      const reasons = [
        refusal(() => decode(signal, more, MAX_BYTES)),
        refusal(() => decode(signal, json(50_001), MAX_BYTES)),
        ...(signal === 'traces' ? [refusal(() => received(signal, more, MAX_BYTES).plain?.())] : []),
      ];
      for (const { reason } of reasons)
        t.match(reason, /^has more than 50000 [a-z ]+; send smaller batches$/, name);
    }
  }
});
