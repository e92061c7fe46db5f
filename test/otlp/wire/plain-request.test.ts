import fc from 'fast-check';
import t from 'tap';
import { decodeTraces } from '../../../src/otlp/decode/traces.js';
import { plainRequest } from '../../../src/otlp/wire/plain-request.js';
import { spansToTraces } from '../../../src/otlp/map/spans-to-traces.js';
import type { Span, TracesRequest } from '../../../src/otlp/wire/requests.js';
import { validationConfig } from '../../../src/processors/validation/config.js';
import { checkTrace, isMappedWithin } from '../../../src/processors/validation/rules.js';
import { limitsOf } from '../../../src/processors/validation/validation.js';
import { hostileAttributes, hostileSpan } from '../../support/hostile-spans.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { aSpan, protobufOf, START, tracesOf } from '../../support/otlp-requests.js';
import { holds } from '../../support/property.js';
import { sectionConfig } from '../../support/section-config.js';

const MANY = 1_000_000;
const LIMITS = limitsOf(sectionConfig(validationConfig, '{}'));
const bytesOf = (request: TracesRequest): Buffer => Buffer.from(protobufOf('traces', request));
const plain = (request: TracesRequest) => plainRequest(bytesOf(request), MANY);
const inTrace = (trace: number, span: number): Span =>
  aSpan(span, { traceId: Buffer.alloc(16, trace), parentSpanId: Buffer.alloc(8, 99) });

void t.test('valid requests are plain, and spans are counted by trace', async (t) => {
  t.strictSame(plain(FULL.traces), { spans: [1] });
  t.strictSame(plain(tracesOf(inTrace(2, 1), inTrace(1, 1), inTrace(2, 2), inTrace(2, 3))), {
    spans: [3, 1],
  });
  const [one, other] = [tracesOf(inTrace(1, 1)), tracesOf(inTrace(2, 1), inTrace(1, 2))].map(bytesOf);
  t.strictSame(plainRequest(Buffer.concat([one ?? [], other ?? []] as Buffer[]), MANY), { spans: [2, 1] });
  const running = aSpan(1, { endTimeUnixNano: null });
  const skewed = aSpan(2, { endTimeUnixNano: '1768478300000000000' });
  const root = aSpan(3, { parentSpanId: Buffer.alloc(8) });
  t.strictSame(plain(tracesOf(running, skewed, root)), { spans: [3] });
  t.strictSame(plain(tracesOf(aSpan(1, { name: 'grüße 🎉'.repeat(50) }))), { spans: [1] });
});

void t.test('requests that need decoding are not plain', async (t) => {
  const own = { key: 'jackdaw.cost_usd', value: { stringValue: '1' } };
  const spans: Readonly<Record<string, Partial<Span>>> = {
    'no trace id': { traceId: null },
    'a short trace id': { traceId: Buffer.alloc(15, 1) },
    'a trace id of zeros': { traceId: Buffer.alloc(16) },
    'no span id': { spanId: null },
    'a span id of zeros': { spanId: Buffer.alloc(8) },
    'a long span id': { spanId: Buffer.alloc(16, 1) },
    'a short parent': { parentSpanId: Buffer.alloc(7, 1) },
    'its own parent': { parentSpanId: Buffer.alloc(8, 1) },
    'no start': { startTimeUnixNano: null },
    'a start of zero': { startTimeUnixNano: 0 },
    'a late start': { startTimeUnixNano: '9007199254740992000' },
    'a late end': { endTimeUnixNano: '18446744073709551615' },
    'an attribute of Jackdaw’s own': { attributes: [own] },
  };
  for (const [name, changes] of Object.entries(spans))
    t.equal(plain(tracesOf(aSpan(7), aSpan(1, changes))), undefined, name);
  t.equal(plain(tracesOf(inTrace(1, 1), inTrace(2, 1), inTrace(1, 1))), undefined, 'a duplicate span');
  for (const nothing of [{}, { resourceSpans: [{ resource: {} }] }, tracesOf()])
    t.equal(plain(nothing), undefined, 'no span');
  const good = bytesOf(tracesOf(aSpan(1, { name: 'grüße' })));
  const cut = Buffer.from(good);
  cut[good.indexOf('grüße') + 2] = 0x20;
  t.equal(plainRequest(cut, MANY), undefined, 'invalid UTF-8');
  t.equal(plainRequest(Buffer.concat([good, Buffer.from([0x7a, 0])]), MANY), undefined, 'an unknown field');
  for (let end = 1; end < good.length; end++)
    t.equal(plainRequest(good.subarray(0, end), MANY), undefined, `truncated after ${end} bytes`);
});

void t.test('counts fields like the decoder', async (t) => {
  const bytes = bytesOf(FULL.traces);
  const enough = Array.from({ length: 400 }, (_, most) => most).find((most) => plainRequest(bytes, most));
  if (enough === undefined) throw new Error('no number of fields is enough');
  t.doesNotThrow(() => decodeTraces(bytes, enough));
  t.throws(() => decodeTraces(bytes, enough - 1), /has more than/);
});

void t.test('plain requests decode, and pass mapping and validation', async (t) => {
  t.ok(isMappedWithin(LIMITS));
  let found = 0;
  const changes = fc.oneof(fc.constant([]), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }));
  const traceId = fc.constantFrom(Buffer.alloc(16, 1), Buffer.alloc(16, 2));
  const good = fc.tuple(hostileSpan(), traceId).map(([span, traceId]) => ({
    ...wellFormed(span),
    traceId,
    parentSpanId: null,
    startTimeUnixNano: START,
    endTimeUnixNano: null,
  }));
  const spans = fc.array(fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: hostileSpan() }), {
    minLength: 1,
    maxLength: 3,
  });
  holds(
    t,
    fc.property(
      spans,
      hostileAttributes().map((pairs) => wellFormed(pairs)),
      changes,
      (spans, attributes, changes) => {
        const scope = { name: 'library', attributes };
        const bytes = bytesOf({
          resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope, spans }] }],
        });
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        const request = plainRequest(bytes, MANY);
        if (request === undefined) return true;
        found++;
        const about = { tenant: '', idleTimeoutMs: null };
        const { batch, rejected } = spansToTraces(decodeTraces(bytes, MANY), about);
        const sizes = batch.items.map(({ spans }) => spans.length);
        const problems = batch.items.map((item) => checkTrace(item, LIMITS));
        return (
          rejected.length === 0 &&
          JSON.stringify(sizes) === JSON.stringify(request.spans) &&
          problems.every((problem) => problem === undefined)
        );
      },
    ),
    { numRuns: 400 },
  );
  t.ok(found > 50, `${found} were plain`);
});

/** Only texts that UTF-8 can encode. */
function wellFormed<T>(value: T): T {
  return inUtf8(value) as T;
}

function inUtf8(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(inUtf8);
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, inUtf8(child)]));
}
