import fc from 'fast-check';
import t from 'tap';
import {
  HEADER_ONLY,
  SPAN_ATTRIBUTES,
  TRACE_ATTRIBUTES,
  VERBATIM,
} from '../../../src/otlp/map/conventions/jackdaw.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { AnyValue, KeyValue, Span, TracesRequest } from '../../../src/otlp/wire/requests.js';
import { validationConfig } from '../../../src/processors/validation/config.js';
import { checkTrace } from '../../../src/processors/validation/rules.js';
import { limitsOf } from '../../../src/processors/validation/validation.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { anyCharacter } from '../../support/any-character.js';
import { hostileAttributes, hostileSpan } from '../../support/hostile-spans.js';
import { mapSpan, mapSpans, ROOT } from '../../support/mapped-span.js';
import { aSpan, tracesOf } from '../../support/otlp-requests.js';
import { holds } from '../../support/property.js';
import { sectionConfig } from '../../support/section-config.js';

/** The defaults of the `validation` processor, which mapped spans must pass. */
const LIMITS = limitsOf(sectionConfig(validationConfig, '{}'));

void t.test('names are truncated to 1024 characters, with the whole name kept', async (t) => {
  const long = '🎉'.repeat(1500);
  const root = mapSpan(
    { 'gen_ai.agent.name': long, 'gen_ai.request.model': long },
    { ...ROOT, name: ` ${long}` },
  );
  t.equal(root.name, '🎉'.repeat(1024));
  t.equal(root.agent_hint?.name, '🎉'.repeat(1024));
  t.equal(root.model, '🎉'.repeat(1024));
  t.match(root.metadata, {
    otel: { name: ` ${long}` },
    'gen_ai.agent.name': long,
    'gen_ai.request.model': long,
  });
  t.match(mapSpan({}, { name: 'a\0b\ud800 ' }), {
    name: 'a\uFFFDb\uFFFD',
    metadata: { otel: { name: 'a\0b\uFFFD ' } },
  });
  for (const name of ['', '   ', null]) t.equal(mapSpan({}, { name }).name, 'unnamed');
  const message = 'e'.repeat(100_000);
  t.match(mapSpan({}, { status: { code: 2, message } }), {
    error_message: 'e'.repeat(65_536),
    metadata: { otel: { status_message: message } },
  });
});

void t.test('accepts token and cost values as text or fractions and drops invalid ones', async (t) => {
  const llm = { 'gen_ai.operation.name': 'chat' };
  const tokens: readonly (readonly [AnyValue, number | null])[] = [
    [{ intValue: 12 }, 12],
    [{ intValue: { low: 12, high: 0, unsigned: false } }, 12],
    [{ stringValue: '12' }, 12],
    [{ stringValue: ' 12.0 ' }, 12],
    [{ doubleValue: 12.6 }, 13],
    [{ intValue: 0 }, 0],
    [{ intValue: -5 }, null],
    [{ intValue: { low: -5, high: -1, unsigned: false } }, null],
    [{ doubleValue: NaN }, null],
    [{ doubleValue: Infinity }, null],
    [{ doubleValue: 1e300 }, null],
    [{ intValue: '9223372036854775807' }, null],
    [{ stringValue: '0x10' }, null],
    [{ stringValue: 'many' }, null],
    [{ stringValue: '' }, null],
    [{ boolValue: true }, null],
    [{ arrayValue: { values: [{ intValue: 1 }] } }, null],
    [{}, null],
  ];
  for (const [value, expected] of tokens) {
    const attributes: KeyValue[] = [{ key: 'gen_ai.usage.input_tokens', value }, ...toKeyValues(llm)];
    const span = mapSpan({}, { attributes });
    t.equal(span.input_tokens, expected, JSON.stringify(value));
    t.ok(Object.hasOwn(span.metadata ?? {}, 'gen_ai.usage.input_tokens'), 'kept as sent');
  }
  const costs: readonly (readonly [unknown, number | null])[] = [
    [0.001_25, 1_250_000],
    ['0.001250', 1_250_000],
    [1e-9, 1],
    [1e-10, 0],
    [0, 0],
    [-1, null],
    ['-0.5', null],
    ['free', null],
    [1e12, null],
    [true, null],
  ];
  for (const [value, expected] of costs) {
    const span = mapSpan({ ...llm, 'gen_ai.usage.cost': value as number });
    t.equal(span.cost_usd, expected, JSON.stringify(value));
  }
  const { input_tokens, output_tokens, total_tokens, call } = mapSpan({
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.cache_read.input_tokens': 80,
    'gen_ai.usage.cache_creation.input_tokens': 5,
    'gen_ai.usage.output_tokens': 50,
    'gen_ai.usage.reasoning.output_tokens': 30,
  });
  t.strictSame(
    [input_tokens, output_tokens, total_tokens],
    [100, 50, null],
    'parts are not added to the total',
  );
  t.strictSame(call?.usage, { cached_read: 80, cached_write: 5, reasoning: 30 });
  t.strictSame(
    mapSpan({ ...llm, 'langfuse.observation.cost_details': '{"input": 0.001, "output": 0.002}' }).cost_usd,
    3_000_000,
  );
});

void t.test('accepts any key, duplicates and reserved metadata keys', async (t) => {
  const attributes = [
    ...toKeyValues({ a: 'first', b: 1 }),
    { key: '__proto__', value: { kvlistValue: { values: toKeyValues({ polluted: true }) } } },
    { key: 'constructor', value: { stringValue: 'c' } },
    { key: '', value: { stringValue: 'no name' } },
    { key: 'half\ud800', value: { stringValue: 'half\udc00' } },
    { key: null, value: null },
    ...toKeyValues({ a: 'second', 'gen_ai.request.model': 'm1' }),
    ...toKeyValues({ 'gen_ai.request.model': 'm2', 0: 'zero' }),
  ];
  const span = mapSpan({}, { attributes });
  const { resource, otel, ...kept } = span.metadata ?? {};
  t.strictSame(
    Object.entries(kept).sort(),
    Object.entries({
      a: 'second',
      b: 1,
      ['__proto__']: { polluted: true },
      constructor: 'c',
      '': null,
      'half\uFFFD': 'half\uFFFD',
      'gen_ai.request.model': 'm2',
      0: 'zero',
    }).sort(),
  );
  t.strictSame(resource, {});
  t.match(otel, { span_id: '01'.repeat(8) });
  t.equal(span.model, 'm2', 'the last one wins, as in metadata');
  t.equal(Object.getPrototypeOf(span.metadata), Object.prototype);
  t.equal(({} as { readonly polluted?: unknown }).polluted, undefined);

  const own = { events: 'mine', resource: 'mine', otel: 'mine', user_id: 'mine', tags: ['mine'] };
  const displaced = mapSpan({ ...own, 'user.id': 'u1' });
  t.match(displaced.metadata, { events: 'mine', tags: ['mine'], user_id: 'u1', resource: {} });
  t.match(displaced.metadata, { otel: { attributes: own, trace_id: '01'.repeat(16) } });
});

void t.test('invalid JSON stays text, and unstorable characters are replaced', async (t) => {
  const input = (value: string) => mapSpan({ 'input.value': value }).input_data;
  t.strictSame(input('{"a": '), { value: '{"a": ' });
  t.strictSame(input('plain'), { value: 'plain' });
  t.strictSame(input('17'), { value: '17' });
  t.strictSame(input(' {"a": 1e999, "b": "\\ud800", "\\udc00": 0}'), {
    a: 'Infinity',
    b: '\uFFFD',
    '\uFFFD': 0,
  });
  const { ['__proto__']: proto } = input('{"__proto__": {"x": 1e999}}') ?? {};
  t.strictSame(proto, { x: 'Infinity' });
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  t.strictSame(input(deep), { value: deep });
  const nul = mapSpan({ 'input.value': 'a\0b', 'gen_ai.request.model': 'm' });
  t.strictSame(nul.input_data, { value: 'a\0b' });
});

void t.test('maps ten megabytes in an attribute and ten thousand spans in a request', async (t) => {
  const text = `{"big": "${'x'.repeat(10_000_000)}"}`;
  const big = mapSpan({ 'input.value': text });
  t.equal((big.input_data?.['big'] as string).length, 10_000_000);
  t.equal((big.metadata?.['input.value'] as string).length, text.length);

  const spans = Array.from({ length: 10_000 }, (_, i) => {
    const spanId = Buffer.alloc(8);
    spanId.writeUInt32BE(i + 1);
    const parentSpanId = Buffer.alloc(8);
    parentSpanId.writeUInt32BE(i);
    return aSpan(1, {
      spanId,
      parentSpanId,
      attributes: toKeyValues({ [`key ${i}`]: i, agent_name: `a ${i}x` }),
    });
  });
  const { batch, rejected } = mapSpans(tracesOf(...spans.toReversed()));
  t.strictSame(rejected, []);
  t.equal(batch.items.length, 1);
  const [run] = batch.items;
  t.equal(run?.spans.length, 10_000);
  t.equal(run?.trace.agent, 'a 0x', 'the root of a chain of ten thousand');
  t.ok(
    run?.spans.every(({ metadata, agent_hint }, i) => {
      const number = 9999 - i;
      return metadata?.[`key ${number}`] === number && agent_hint?.name === `a ${number}x`;
    }),
    'each with its own attribute',
  );
  t.equal(run && checkTrace(run, LIMITS), undefined);
  const wide = mapSpan(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])));
  t.equal(Object.keys(wide.metadata ?? {}).length, 5002);
});

void t.test('never throws, accounts for every span and maps only storable ones', async (t) => {
  holds(
    t,
    fc.property(fc.array(hostileSpan(), { maxLength: 8 }), hostileAttributes(), (spans, resource) => {
      const { batch, rejected } = mapSpans(requestOf(spans, resource));
      const taken = batch.items.flatMap((run) => run.spans).length;
      const problems = batch.items
        .map((run) => checkTrace(structuredClone(run), LIMITS))
        .filter((problem) => problem !== undefined);
      return problems.length === 0 && taken + rejected.length === spans.length;
    }),
    { numRuns: 800 },
  );
});

void t.test('also for any Jackdaw attributes', async (t) => {
  const own = fc.dictionary(
    fc.constantFrom(
      VERBATIM,
      HEADER_ONLY,
      ...Object.values(SPAN_ATTRIBUTES).map(({ key }) => key),
      ...Object.values(TRACE_ATTRIBUTES).map(({ key }) => key),
    ),
    fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.json(), fc.string({ unit: anyCharacter }), fc.constant(true)),
  );
  holds(
    t,
    fc.property(fc.array(fc.tuple(hostileSpan(), own), { maxLength: 4 }), (pairs) => {
      const spans = pairs.map(([span, attributes]) => ({
        ...span,
        attributes: [...(span.attributes ?? []), ...toKeyValues(attributes as JsonObject)],
      }));
      const { batch, rejected } = mapSpans(requestOf(spans, []));
      for (const run of batch.items) checkTrace(structuredClone(run), LIMITS);
      const taken = batch.items.flatMap((run) => run.spans).length;
      return taken + rejected.length <= spans.length;
    }),
    { numRuns: 800 },
  );
});

function requestOf(spans: readonly Span[], resource: readonly KeyValue[]): TracesRequest {
  return { resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ spans }] }] };
}
