import fc from 'fast-check';
import type { AnyValue, KeyValue, Span } from '../../src/otlp/wire/requests.js';
import { anyCharacter } from './any-character.js';
import { START } from './otlp-requests.js';

/** Meaningful and invalid keys. */
const known = fc.constantFrom(
  'gen_ai.operation.name',
  'gen_ai.input.messages',
  'gen_ai.prompt.0.content',
  'gen_ai.prompt.x',
  'gen_ai.usage.cost',
  'llm.input_messages.1.message.contents.0.message_content.text',
  'openinference.span.kind',
  'input.value',
  'output.value',
  'events',
  'all_messages_events',
  'resource',
  'otel',
  '__proto__',
  'langfuse.observation.usage_details',
  'tag.tags',
  'gen_ai.agent.name',
  'db.system',
);
const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string().map((s) => `${s}\ud800`),
  fc.json(),
  fc.constantFrom(
    'LLM',
    'TOOL',
    'chat',
    '{"a":1e999}',
    '[{"role":"user"}]',
    'llm',
    '2026-01-01T00:00:00Z',
    `${'['.repeat(99)}${']'.repeat(99)}`,
  ),
);
const { value } = fc.letrec<{ value: AnyValue; pair: KeyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text.map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.oneof(fc.integer(), fc.bigInt().map(String)).map((intValue) => ({ intValue })),
    fc.double().map((doubleValue) => ({ doubleValue })),
    fc.uint8Array().map((bytesValue) => ({ bytesValue })),
    fc.constant({}),
    fc.array(tie('value')).map((values) => ({ arrayValue: { values } })),
    fc.array(tie('pair')).map((values) => ({ kvlistValue: { values } })),
  ),
  pair: fc.record({ key: fc.oneof(known, text), value: fc.option(tie('value')) }),
}));
const attributes = fc.array(fc.record({ key: fc.oneof(known, text), value: fc.option(value) }), {
  maxLength: 12,
});
const time = fc.oneof(
  fc.constant(START),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  fc.record({ low: fc.integer(), high: fc.integer(), unsigned: fc.boolean() }),
  fc.constant(null),
);
const id = (length: number) =>
  fc.oneof(
    fc.constantFrom(Buffer.alloc(length, 1), Buffer.alloc(length, 2), Buffer.alloc(length)),
    fc.uint8Array({ maxLength: 20 }),
  );

/** Attributes with meaningful and other keys and values of every kind, most of them wrong. */
export function hostileAttributes(): fc.Arbitrary<KeyValue[]> {
  return attributes;
}

/** Spans with missing or wrong parts; most are still accepted. */
export function hostileSpan(): fc.Arbitrary<Span> {
  return fc.record<Span>(
    {
      traceId: fc.oneof({ weight: 5, arbitrary: fc.constant(Buffer.alloc(16, 1)) }, id(16)),
      spanId: fc.oneof({ weight: 5, arbitrary: fc.uint8Array({ minLength: 8, maxLength: 8 }) }, id(8)),
      parentSpanId: fc.option(id(8)),
      name: fc.option(text),
      kind: fc.integer(),
      startTimeUnixNano: fc.oneof({ weight: 5, arbitrary: fc.constant(START) }, time),
      endTimeUnixNano: time,
      attributes: fc.option(attributes),
      events: fc.array(
        fc.record({
          name: fc.oneof(fc.constantFrom('exception', 'gen_ai.choice', 'gen_ai.user.message'), text),
          timeUnixNano: time,
          attributes,
        }),
        { maxLength: 2 },
      ),
      links: fc.array(fc.record({ traceId: id(16), attributes }), { maxLength: 1 }),
      status: fc.option(fc.record({ code: fc.integer({ min: -1, max: 3 }), message: fc.option(text) })),
    },
    { requiredKeys: ['traceId', 'spanId', 'startTimeUnixNano'] },
  );
}
