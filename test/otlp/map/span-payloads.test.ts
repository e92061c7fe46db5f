import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { SpanEvent } from '../../../src/otlp/wire/requests.js';
import type { JsonObject, JsonValue } from '../../../src/signal/attributes.js';
import { mapSpan } from '../../support/mapped-span.js';

const LLM = { 'openinference.span.kind': 'LLM' };
const TOOL = { 'openinference.span.kind': 'TOOL' };

void t.test('tools: arguments and result', async (t) => {
  const sent: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ['gen_ai.tool.call.arguments', '{"a": 1}', { a: 1 }],
    ['tool_arguments', '{"c": 1}', { c: 1 }],
    ['gcp.vertex.agent.tool_call_args', '{"d": 1}', { d: 1 }],
    ['ai.toolCall.args', '{"e": 1}', { e: 1 }],
    ['input.value', 'plain', 'plain'],
    ['gen_ai.tool.args', '{"g": 1}', { g: 1 }],
    ['gen_ai.tool.input', '{"h": 1}', { h: 1 }],
    ['tool.parameters', '{"b": 1}', { b: 1 }],
    ['langfuse.observation.input', '["f"]', ['f']],
  ];
  sent.forEach(([key, , expected], first) => {
    const attributes = Object.fromEntries(sent.slice(first).map(([name, value]) => [name, value]));
    t.strictSame(mapSpan({ ...attributes, ...TOOL }).input_data, { arguments: expected }, key);
  });
  const got: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ['gen_ai.tool.call.result', { a: 1 }, { a: 1 }],
    ['tool_response', 'sunny', 'sunny'],
    ['gcp.vertex.agent.tool_response', '{"d": 1}', { d: 1 }],
    ['ai.toolCall.result', '"a text"', 'a text'],
    ['gen_ai.tool.output', 'rain', 'rain'],
    ['output.value', '"quoted"', 'quoted'],
    ['langfuse.observation.output', '[]', null],
  ];
  got.forEach(([key, , expected], first) => {
    const attributes = Object.fromEntries(got.slice(first).map(([name, value]) => [name, value]));
    const result = expected === null ? null : { result: expected };
    t.strictSame(mapSpan({ ...attributes, ...TOOL }).output_data, result, key);
  });
  t.equal(mapSpan({ ...TOOL, 'tool.parameters': 'null' }).input_data, null);
  t.match(mapSpan({ ...TOOL, 'gen_ai.tool.name': 'search' }, { name: 'execute_tool search' }), {
    name: 'search',
    metadata: { otel: { name: 'execute_tool search' } },
  });
  t.equal(mapSpan({ 'gen_ai.operation.name': 'chat', 'gen_ai.tool.name': 'search' }).name, 'span 1');
});

void t.test('model calls: messages with system, tools, parameters and finish reasons', async (t) => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const span = mapSpan({
    ...LLM,
    'gen_ai.input.messages': JSON.stringify(messages),
    'gen_ai.system_instructions': '[{"type": "text", "content": "Be brief."}]',
    'gen_ai.tool.definitions': '[{"type": "function", "name": "search"}]',
    'gen_ai.request.temperature': 0.5,
    'gen_ai.request.choice.count': 2,
    'gen_ai.request.model': 'm',
    'gen_ai.output.messages': '[{"role": "assistant", "parts": []}]',
    'gen_ai.response.finish_reasons': ['stop'],
  });
  t.strictSame(span.input_data, {
    messages,
    system: [{ type: 'text', content: 'Be brief.' }],
    tools: [{ type: 'function', name: 'search' }],
    parameters: { temperature: 0.5, choice: { count: 2 } },
  });
  t.strictSame(span.output_data, {
    messages: [{ role: 'assistant' }],
    finish_reasons: ['stop'],
  });
  const settings: readonly (readonly [JsonObject, JsonObject])[] = [
    [{ 'llm.invocation_parameters': '{"top_p": 1}' }, { parameters: { top_p: 1 } }],
    [{ 'ai.settings.maxRetries': 2 }, { parameters: { maxRetries: 2 } }],
    [{ 'langfuse.observation.model.parameters': '{"n": 1}' }, { parameters: { n: 1 } }],
    [{ 'llm.tools.0.tool.json_schema': '{"name": "a"}' }, { tools: [{ name: 'a' }] }],
    [
      { 'llm.request.functions.0.name': 'b', 'llm.request.functions.0.parameters': '{"type": "object"}' },
      { tools: [{ name: 'b', parameters: { type: 'object' } }] },
    ],
    [{ 'ai.prompt.tools': ['{"name": "c"}'] }, { tools: [{ name: 'c' }] }],
  ];
  for (const [attributes, expected] of settings)
    t.strictSame(
      mapSpan({ ...LLM, 'gen_ai.input.messages': messages, ...attributes }).input_data,
      { messages, ...expected },
      Object.keys(attributes).join(),
    );
  t.strictSame(
    mapSpan({ ...LLM, 'input.value': '{"contents": "Hi"}', 'llm.tools.0.tool.json_schema': '{}' }).input_data,
    { messages: [{ role: 'user', content: 'Hi' }] },
    'complete objects are not extended',
  );
  t.equal(mapSpan({ ...LLM, 'gen_ai.request.temperature': 1 }).input_data, null, 'no input');
});

void t.test('numbered message attributes: nested lists, wrappers and gaps', async (t) => {
  const { input_data, output_data } = mapSpan({
    ...LLM,
    'gen_ai.prompt.7.content': 'the eighth',
    'gen_ai.prompt.0.role': 'user',
    'gen_ai.prompt.10.content': 'the eleventh',
    'gen_ai.prompt.0.content': 'the first',
    'gen_ai.prompt.name': 'no message at all',
    'gen_ai.completion.0.tool_calls.1.name': 'b',
    'gen_ai.completion.0.tool_calls.0.name': 'a',
    'gen_ai.completion.0.finish_reason': 'tool_calls',
  });
  t.strictSame(input_data, {
    messages: [
      { role: 'user', content: 'the first' },
      { content: 'the eighth' },
      { content: 'the eleventh' },
    ],
  });
  t.strictSame(output_data, {
    messages: [
      { role: 'assistant', tool_calls: [{ name: 'a' }, { name: 'b' }], finish_reason: 'tool_calls' },
    ],
  });
  t.strictSame(
    mapSpan({
      ...LLM,
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.contents.0.message_content.type': 'text',
      'llm.input_messages.0.message.contents.0.message_content.text': 'What is this?',
      'llm.input_messages.0.message.contents.1.message_content.image.image.url': 'https://x/y.png',
      'llm.input_messages.1.message.tool_calls.0.tool_call.function.name': 'search',
    }).input_data,
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { image: { image: { url: 'https://x/y.png' } } },
          ],
        },
        { tool_calls: [{ name: 'search' }] },
      ],
    },
  );
  const odd = mapSpan({
    ...LLM,
    'gen_ai.prompt.0': 'a text',
    'gen_ai.prompt.0.role': 'user',
    'gen_ai.prompt.1.__proto__.polluted': true,
    'gen_ai.prompt.99999999999999999999.content': 'far away',
    [`gen_ai.prompt.2.${'a.'.repeat(10_000)}b`]: 'deep',
  });
  t.match(
    JSON.stringify(odd.input_data),
    /"role":"user","content":"a text".*"__proto__":\{"polluted":true\}.*far away/,
  );
  t.equal(({} as { readonly polluted?: boolean }).polluted, undefined);
});

void t.test('reads messages from span events', async (t) => {
  const event = (name: string, attributes: JsonObject): SpanEvent => ({
    name,
    attributes: toKeyValues(attributes),
  });
  const events = [
    event('gen_ai.system.message', { 'gen_ai.system': 'openai', content: 'Be brief.' }),
    event('gen_ai.user.message', { content: 'Hi', role: 'customer' }),
    event('gen_ai.assistant.message', { tool_calls: '[{"id": "1"}]' }),
    event('gen_ai.tool.message', { id: '1', content: '{"not": "parsed"}' }),
    event('gen_ai.choice', { index: 0, finish_reason: 'stop', message: '{"content": "Hello"}' }),
    event('something else', { content: '-' }),
  ];
  const span = mapSpan({ ...LLM, 'llm.input_messages.0.message.content': 'later' }, { events });
  t.strictSame(span.input_data, {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'customer', content: 'Hi' },
      { role: 'assistant', tool_calls: [{ id: '1' }] },
      { role: 'tool', tool_call_id: '1', content: '{"not": "parsed"}' },
    ],
  });
  t.strictSame(span.output_data, {
    messages: [{ role: 'assistant', content: 'Hello', finish_reason: 'stop' }],
  });
  t.equal(Array.isArray(span.metadata?.events) && span.metadata.events.length, 6, 'all are kept');
  const message = [{ role: 'user', content: 'Hey' }];
  const first = mapSpan({ ...LLM, 'gen_ai.input.messages': message }, { events });
  t.strictSame(first.input_data, { messages: message }, 'attributes take precedence');

  const details = event('gen_ai.client.inference.operation.details', {
    'gen_ai.input.messages': '[{"role": "user", "parts": []}]',
    'gen_ai.output.messages': '[{"role": "assistant", "parts": []}]',
    'gen_ai.system_instructions': 'Be brief.',
  });
  t.match(mapSpan(LLM, { events: [details] }), {
    input_data: { messages: [{ role: 'user' }], system: 'Be brief.' },
    output_data: { messages: [{ role: 'assistant' }] },
  });
  const old = [
    event('gen_ai.content.prompt', { 'gen_ai.prompt': '[{"role": "user", "content": "Hi"}]' }),
    event('gen_ai.content.completion', { 'gen_ai.completion': 'Hello' }),
  ];
  t.match(mapSpan(LLM, { events: old }), {
    input_data: { messages: [{ role: 'user', content: 'Hi' }] },
    output_data: { value: 'Hello' },
  });
  const azure = event('gen_ai.user.message', { 'gen_ai.event.content': '{"role": "user", "content": "Hi"}' });
  t.strictSame(mapSpan(LLM, { events: [azure] }).input_data, { messages: [{ role: 'user', content: 'Hi' }] });
});

void t.test('HTTP, RPC and databases, by new and old attribute names', async (t) => {
  const cases: readonly (readonly [JsonObject, JsonObject | null, JsonObject | null])[] = [
    [
      { 'http.request.method': 'GET', 'url.full': 'https://a/b', 'http.response.status_code': 200 },
      { method: 'GET', url: 'https://a/b' },
      { status_code: 200 },
    ],
    [
      { 'http.method': 'GET', 'http.url': 'https://a/b', 'http.status_code': '404' },
      { method: 'GET', url: 'https://a/b' },
      { status_code: 404 },
    ],
    [{ 'http.method': 'GET', 'http.target': '/b' }, { method: 'GET', url: '/b' }, null],
    [
      { 'rpc.system': 'grpc', 'rpc.service': 'S', 'rpc.method': 'M', 'rpc.grpc.status_code': 5 },
      { system: 'grpc', service: 'S', method: 'M' },
      { status_code: '5' },
    ],
    [
      {
        'db.system.name': 'postgresql',
        'db.namespace': 'shop',
        'db.operation.name': 'SELECT',
        'db.query.text': 'SELECT 1',
        'db.response.returned_rows': 3,
      },
      { system: 'postgresql', namespace: 'shop', operation: 'SELECT', query: 'SELECT 1' },
      { returned_rows: 3 },
    ],
    [
      { 'db.system': 'mysql', 'db.name': 'shop', 'db.operation': 'SELECT', 'db.statement': 'SELECT 1' },
      { system: 'mysql', namespace: 'shop', operation: 'SELECT', query: 'SELECT 1' },
      null,
    ],
    [
      {
        'db.system': 'pinecone',
        'openinference.span.kind': 'RETRIEVER',
        'input.value': 'whales',
        'retrieval.documents.0.document.id': 'd1',
      },
      { system: 'pinecone', query: 'whales' },
      { documents: [{ id: 'd1' }] },
    ],
  ];
  for (const [attributes, input, output] of cases) {
    const span = mapSpan(attributes, { kind: 3 });
    t.strictSame([span.input_data, span.output_data], [input, output], Object.keys(attributes).join());
  }
});

void t.test("uses the token usage of the provider's response without token attributes", async (t) => {
  const of = (usage: JsonObject, more: JsonObject = {}) => {
    const span = mapSpan({ ...LLM, ...more, 'output.value': JSON.stringify({ id: '1', usage }) });
    return [span.input_tokens, span.output_tokens, span.total_tokens, span.call?.usage ?? undefined];
  };
  t.strictSame(
    of({
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }),
    [10, 5, 15, { cached_read: 4, reasoning: 2 }],
  );
  t.strictSame(
    of({ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 7 }),
    [117, 5, null, { cached_read: 100, cached_write: 7 }],
    'Anthropic counts the cache next to the input',
  );
  t.strictSame(
    of({ prompt_tokens: 120, completion_tokens: 5, cache_read_input_tokens: 44 }),
    [120, 5, null, { cached_read: 44 }],
    'under the name of another API the input is the whole',
  );
  t.strictSame(of({ prompt_tokens: 10 }, { 'gen_ai.usage.output_tokens': 1 }), [null, 1, null, undefined]);
  t.strictSame(of({ prompt_tokens: -1, completion_tokens: 'many' }), [null, null, null, undefined]);
});

void t.test('a LangGraph step uses the whole conversation instead of the first message', async (t) => {
  const human = (content: string) => ({ type: 'human', data: { content, type: 'human' } });
  const ai = { type: 'ai', data: { content: 'Sunny.', type: 'ai' } };
  const first = {
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.content': 'Weather?',
  };
  const state = (...messages: JsonValue[]) => ({ 'input.value': JSON.stringify({ messages }) });
  const conversation = [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: 'Sunny.' },
    { role: 'user', content: 'Thanks' },
  ];
  const chain = { 'openinference.span.kind': 'CHAIN' };
  const whole = state(human('Weather?'), ai, human('Thanks'));
  t.strictSame(mapSpan({ ...chain, ...first, ...whole }).input_data, { messages: conversation });
  t.strictSame(
    mapSpan({ ...chain, ...first, ...state(human('Other'), ai) }).input_data,
    { messages: conversation.slice(0, 1) },
    'another conversation',
  );
  t.strictSame(
    mapSpan({ ...LLM, ...first, ...whole }).input_data,
    { messages: conversation.slice(0, 1) },
    'a model call uses its own input',
  );
});
