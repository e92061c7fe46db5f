import fc from 'fast-check';
import t from 'tap';
import { toJson } from '../../../src/otlp/map/any-value.js';
import { readSent, readSentOrigin } from '../../../src/otlp/map/span-metadata.js';
import { OtlpDecodeError } from '../../../src/otlp/decode/decode-error.js';
import { decodeProtobuf } from '../../../src/otlp/decode/protobuf.js';
import { decodeTraces } from '../../../src/otlp/decode/traces.js';
import type { ReadTraces } from '../../../src/otlp/wire/read-span.js';
import type { Span, TracesRequest } from '../../../src/otlp/wire/requests.js';
import { hostileAttributes, hostileSpan } from '../../support/hostile-spans.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { protobufOf } from '../../support/otlp-requests.js';
import { holds, same } from '../../support/property.js';

const MANY = 1_000_000;

/** The content on which both decoders must agree: all of a span, its scope and its resource. */
interface Expected {
  readonly spans: unknown[];
  readonly problem: string | undefined;
}

function generated(bytes: Uint8Array, most = MANY): Expected {
  return attempt(() => {
    const { resourceSpans } = decodeProtobuf('traces', bytes, most);
    return (resourceSpans ?? []).flatMap(({ resource, scopeSpans }) =>
      (scopeSpans ?? []).flatMap(({ scope, spans }) =>
        (spans ?? []).map((span) => ({ span: mapped(span), resource: plain(resource), scope: plain(scope) })),
      ),
    );
  });
}

function own(bytes: Uint8Array, most = MANY): Expected {
  return attempt(() => {
    const { resources } = decodeTraces(bytes, most);
    return resources.flatMap(({ scopes }) =>
      scopes.flatMap(({ origin, spans }) =>
        spans.map((span) => {
          const whole = readSent(span.buffer.subarray(span.start, span.end));
          const { resource, scopeSpans } = readSentOrigin(origin.bytes);
          return {
            span: {
              ...mapped(whole),
              // The eagerly decoded fields instead of those in the raw bytes.
              ...plain({
                name: span.name || undefined,
                kind: span.kind || undefined,
                status: span.status,
                events: span.events,
              }),
              times: [span.startTimeUnixNano, span.endTimeUnixNano].map(nanos),
              ids: [span.traceId, span.spanId, span.parentSpanId].map(({ start, end }) =>
                span.buffer.toString('hex', start, end),
              ),
              attributes: span.attributes
                .keyBytes()
                .map((key, i) => [
                  Buffer.from(key).toString('utf8'),
                  plain(span.attributes.value(i, toJson)),
                ]),
            },
            resource: plain(resource),
            scope: plain(scopeSpans?.[0]?.scope),
          };
        }),
      ),
    );
  });
}

function attempt(read: () => unknown[]): Expected {
  try {
    return { spans: read(), problem: undefined };
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error;
    return { spans: [], problem: error.isTooLarge ? 'too large' : 'wrong' };
  }
}

function mapped(span: Span): Record<string, unknown> {
  const { startTimeUnixNano, endTimeUnixNano, traceId, spanId, parentSpanId, attributes, ...rest } = span;
  return {
    ...plain(rest),
    times: [startTimeUnixNano, endTimeUnixNano].map(nanos),
    ids: [traceId, spanId, parentSpanId].map((id) => Buffer.from(id ?? []).toString('hex')),
    attributes: (attributes ?? []).map(({ key, value }) => [key ?? '', plain(toJson(value))]),
  };
}

function nanos(value: Span['startTimeUnixNano']): string {
  if (typeof value !== 'object' || value === null) return BigInt(value ?? 0).toString();
  return ((BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0)).toString();
}

/** Compared as JSON, so that classes and undefined fields do not matter. */
function plain(value: unknown): Record<string, unknown> {
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' || (typeof each === 'number' && !Number.isFinite(each)) ? String(each) : each,
  ) as string | undefined;
  return (text === undefined ? {} : (JSON.parse(text) ?? {})) as Record<string, unknown>;
}

const request = fc
  .array(
    fc.record({
      resource: fc.record({ attributes: hostileAttributes() }),
      schemaUrl: fc.constantFrom('', 'https://opentelemetry.io/schemas/1.30.0'),
      scopeSpans: fc.array(
        fc.record({
          scope: fc.record({ name: fc.string(), attributes: hostileAttributes() }),
          spans: fc.array(hostileSpan(), { maxLength: 3 }),
        }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 2 },
  )
  .map((resourceSpans) => ({ resourceSpans }))
  .filter((made) => canBeWritten(made));

function canBeWritten(made: TracesRequest): boolean {
  try {
    protobufOf('traces', made);
    return true;
  } catch {
    return false;
  }
}

void t.test('decodes requests like the generated code', async (t) => {
  t.strictSame(own(protobufOf('traces', FULL.traces)), generated(protobufOf('traces', FULL.traces)));
  holds(
    t,
    fc.property(request, (made) => {
      const bytes = protobufOf('traces', made);
      same(own(bytes), generated(bytes));
      return true;
    }),
    { numRuns: 400 },
  );
});

void t.test('rejects invalid requests and other layouts', async (t) => {
  const seed = protobufOf('traces', FULL.traces);
  const change = fc.oneof(
    fc.record({ at: fc.nat(seed.length - 1), byte: fc.integer({ min: 0, max: 255 }) }),
    fc.record({ at: fc.nat(seed.length - 1), cut: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ at: fc.nat(seed.length - 1), insert: fc.uint8Array({ minLength: 1, maxLength: 12 }) }),
  );
  holds(
    t,
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.boolean(), (changes, isTwice) => {
      let bytes = isTwice ? Buffer.concat([seed, seed]) : Buffer.from(seed);
      for (const each of changes) {
        if ('byte' in each) bytes[each.at] = each.byte;
        else if ('cut' in each)
          bytes = Buffer.concat([bytes.subarray(0, each.at), bytes.subarray(each.at + each.cut)]);
        else bytes = Buffer.concat([bytes.subarray(0, each.at), each.insert, bytes.subarray(each.at)]);
      }
      same(own(bytes), generated(bytes));
      return true;
    }),
    { numRuns: 6000 },
  );
  for (let length = 0; length < seed.length; length++)
    if (!isSame(seed.subarray(0, length))) t.fail(`truncated at ${length}`);
  holds(
    t,
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => isSame(bytes)),
    { numRuns: 3000 },
  );
});

void t.test('reads split messages, groups, unknown fields, wrong wire types and deep values', async (t) => {
  const key = field(1, Buffer.from('k'));
  const text = (value: string) => field(2, field(1, Buffer.from(value)));
  const inSpan = (...fields: Uint8Array[]) => inRequest(field(2, Buffer.concat(fields)));
  const attribute = (...fields: Uint8Array[]) => inSpan(field(9, Buffer.concat(fields)));
  let deep: Uint8Array = field(1, Buffer.from('inmost'));
  const cases: Record<string, Uint8Array> = {
    'value before key': attribute(text('v'), key),
    'two values': attribute(key, text('a'), text('b')),
    'two keys': attribute(key, field(1, Buffer.from('other')), text('a')),
    'no value': attribute(key),
    'no key': attribute(text('v')),
    'no attribute': attribute(),
    'text and number in one value': attribute(
      key,
      field(2, Buffer.concat([field(1, Buffer.from('v')), Buffer.of(0x18, 5)])),
    ),
    'lists in parts': attribute(
      key,
      field(
        2,
        Buffer.concat([field(5, text('a').subarray(0, 0)), field(5, field(1, field(1, Buffer.of(65))))]),
      ),
    ),
    'status in parts': inSpan(field(15, Buffer.of(0x18, 2)), field(15, field(2, Buffer.from('message')))),
    'name twice': inSpan(field(5, Buffer.from('first')), field(5, Buffer.from('second'))),
    'id twice, then empty': inSpan(field(1, Buffer.alloc(16, 1)), field(1, Buffer.alloc(0))),
    'time as a varint': inSpan(Buffer.of((7 << 3) | 0, 5)),
    'name as a number': inSpan(Buffer.of((5 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8)),
    'unknown fields': inSpan(Buffer.of(0xfa, 0x07, 2, 1, 2), Buffer.of(0xf8, 0x07, 9)),
    group: inSpan(Buffer.of(0xfb, 0x07, 0x08, 1, 0xfc, 0x07)),
    'group without end': inSpan(Buffer.of(0xfb, 0x07, 0x08, 1)),
    'end of no group': inSpan(Buffer.of(0xfc, 0x07)),
    'long varints': attribute(key, field(2, Buffer.of(0x18, ...Array<number>(9).fill(0xff), 1))),
    'too long varints': attribute(key, field(2, Buffer.of(0x18, ...Array<number>(11).fill(0xff), 1))),
    'long boolean': attribute(key, field(2, Buffer.of(0x10, 0x80, 0x80, 1))),
    'length of five bytes': attribute(key, Buffer.of(0x12, 0x83, 0x80, 0x80, 0x80, 0, 0x0a, 1, 65)),
    'length that lies': attribute(key, Buffer.of(0x12, 100, 0x0a, 1, 65)),
    'huge length': attribute(key, Buffer.of(0x12, 0xff, 0xff, 0xff, 0xff, 0x0f)),
    'no UTF-8': attribute(field(1, Buffer.of(0xff, 0x41)), field(2, field(1, Buffer.of(0xc3)))),
    'resource in parts': Buffer.concat([
      field(
        1,
        Buffer.concat([
          field(1, field(1, key)),
          field(2, field(2, field(5, Buffer.of(65)))),
          field(1, field(1, text('x'))),
        ]),
      ),
    ]),
  };
  for (let depth = 1; depth < 120; depth++) {
    deep = field(5, field(1, deep));
    cases[`depth ${depth}`] = attribute(key, field(2, deep));
  }
  for (const [name, bytes] of Object.entries(cases)) t.strictSame(own(bytes), generated(bytes), name);
});

void t.test('counts fields like the generated code', async (t) => {
  const bytes = protobufOf('traces', FULL.traces);
  for (let most = 0; most < 200; most++)
    if (own(bytes, most).problem !== generated(bytes, most).problem) t.fail(`${most} fields`);
  t.equal(own(bytes, 5).problem, 'too large');
});

void t.test('creates no objects for unused values', async (t) => {
  const { resources }: ReadTraces = decodeTraces(protobufOf('traces', FULL.traces), MANY);
  const span = resources[0]?.scopes[0]?.spans[0];
  t.equal(
    span?.attributes.length,
    FULL.traces.resourceSpans?.[0]?.scopeSpans?.[0]?.spans?.[0]?.attributes?.length,
  );
  t.notOk(span?.attributes.areOdd, 'lists and maps are kept lazily, too');
});

function isSame(bytes: Uint8Array): boolean {
  same(own(bytes), generated(bytes));
  return true;
}

function inRequest(spans: Uint8Array): Buffer {
  return field(1, field(2, spans));
}

/** A field with arbitrary bytes. */
function field(number: number, content: Uint8Array): Buffer {
  const head = [...varint((number << 3) | 2), ...varint(content.length)];
  return Buffer.concat([Buffer.from(head), content]);
}

function varint(value: number): number[] {
  return value > 127 ? [(value & 127) | 128, ...varint(value >>> 7)] : [value];
}
