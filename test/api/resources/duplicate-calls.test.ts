import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { Span } from '../../../src/otlp/wire/requests.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { startApi, type TestApi } from '../../support/api.js';
import { aSpan, protobufOf, START } from '../../support/otlp-requests.js';

const TRACE = '01010101-0101-0101-0101-010101010101';
const LANGCHAIN = 'openinference.instrumentation.langchain';
const OPENAI = 'opentelemetry.instrumentation.openai.v1';

interface CallReport {
  readonly scope: string;
  readonly span: Span;
}

function reportCalls(
  scope: string,
  number: number,
  parent: number | null,
  [from, to]: readonly [number, number],
  fields: JsonObject,
): CallReport {
  const at = (ms: number): string => `${BigInt(START) + BigInt(ms) * 1_000_000n}`;
  const span = aSpan(number, {
    parentSpanId: parent === null ? null : Buffer.alloc(8, parent),
    startTimeUnixNano: at(from),
    endTimeUnixNano: at(to),
    attributes: toKeyValues(fields),
  });
  return { scope, span };
}

const byLangchain = (more: JsonObject): JsonObject => ({
  'openinference.span.kind': 'LLM',
  'llm.model_name': 'gpt-5-mini',
  'llm.provider': 'openai',
  'llm.token_count.prompt': 100,
  'llm.token_count.completion': 20,
  ...more,
});
const byOpenAi = (more: JsonObject): JsonObject => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.system': 'openai',
  'gen_ai.request.model': 'gpt-5-mini',
  'gen_ai.response.model': 'gpt-5-mini-2025-08-07',
  'gen_ai.usage.input_tokens': 100,
  'gen_ai.usage.output_tokens': 20,
  ...more,
});

/** An agent with two model calls: one is reported again next to the other's span, one below it. */
const RUN: readonly CallReport[] = [
  reportCalls(LANGCHAIN, 1, null, [0, 1000], { 'openinference.span.kind': 'AGENT', 'agent.name': 'weather' }),
  reportCalls(
    LANGCHAIN,
    2,
    1,
    [10, 400],
    byLangchain({ 'output.value': '{"llm_output": {"id": "chatcmpl-1"}}' }),
  ),
  reportCalls(OPENAI, 3, 1, [12, 398], byOpenAi({ 'gen_ai.response.id': 'chatcmpl-1' })),
  reportCalls(LANGCHAIN, 4, 1, [500, 900], byLangchain({})),
  reportCalls(OPENAI, 5, 4, [502, 898], byOpenAi({})),
];
const id = (number: number): string =>
  `01010101-0101-0101-${Buffer.alloc(8, number).toString('hex').slice(0, 4)}-${Buffer.alloc(8, number).toString('hex').slice(4)}`;

async function send(api: TestApi, spans: readonly CallReport[]): Promise<void> {
  const scopeSpans = spans.map(({ scope, span }) => ({ scope: { name: scope }, spans: [span] }));
  const { status } = await api.call('POST', '/otlp/v1/traces', {
    body: Uint8Array.from(protobufOf('traces', { resourceSpans: [{ scopeSpans }] })),
    headers: { 'content-type': 'application/x-protobuf' },
  });
  if (status !== 200) throw new Error(`the request was answered with ${status}`);
}

for (const [name, requests] of [
  ['in one request', [RUN]],
  ['one after the other', RUN.map((one) => [one])],
  ['the last one first', RUN.toReversed().map((one) => [one])],
  ['twice', [RUN.slice(0, 3), RUN.slice(3), RUN]],
] as const) {
  void t.test(`a call reported by two instrumentations counts once: ${name}`, async (t) => {
    const api = await startApi(t);
    for (const request of requests) await send(api, request);
    const trace = await api.get<{ total_tokens: number; spans: Record<string, unknown>[] }>(
      `/dashboard/traces/${TRACE}`,
    );
    t.equal(trace.total_tokens, 240);
    t.same(
      trace.spans.map(({ span_id, counted, same_as }) => [span_id, counted, same_as]),
      [
        [id(1), undefined, undefined],
        [id(2), false, id(3)],
        [id(3), undefined, undefined],
        [id(4), false, id(5)],
        [id(5), undefined, undefined],
      ],
    );
    const span = await api.get<object>(`/dashboard/traces/${TRACE}/spans/${id(2)}`);
    t.match(span, { counted: false, same_as: id(3), total_tokens: 120, scope: { name: LANGCHAIN } });
    const { items } = await api.get<{ items: object[] }>('/dashboard/models');
    t.match(items, [{ model: 'gpt-5-mini-2025-08-07', calls: 2, total_tokens: 240 }]);
    t.equal(items.length, 1);
  });
}
