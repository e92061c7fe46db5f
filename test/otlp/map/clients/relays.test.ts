import t from 'tap';
import { mapRun, type MappedRun, type Sending, type SentSpan } from '../../../support/mapped-run.js';
import { mapSpan } from '../../../support/mapped-span.js';

const BERLIN = { city: 'Berlin' };
const [SERVER, CLIENT] = [2, 3];

interface Case extends Sending {
  readonly root: SentSpan;
  readonly expected: Partial<MappedRun>;
}

/** Programs that relay or repeat calls, in the shape of what they send. */
const RUNS: Readonly<Record<string, Case>> = {
  'AG2 records usage beside its calls': {
    scope: 'opentelemetry.instrumentation.ag2',
    root: {
      name: 'invoke_agent boss',
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'boss' },
      children: [
        {
          name: 'chat m',
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.response.model': 'm',
            'gen_ai.usage.input_tokens': 10,
            'gen_ai.usage.output_tokens': 5,
            'gen_ai.usage.thinking_tokens': 2,
          },
        },
        ...['model_call', 'subtask', 'compaction'].map((kind) => ({
          name: `record_usage ${kind}`,
          attributes: {
            'ag2.span.type': 'usage',
            'ag2.usage.kind': kind,
            'gen_ai.response.model': 'm',
            'gen_ai.usage.input_tokens': 10,
            'gen_ai.usage.output_tokens': 5,
            'gen_ai.usage.cost': 0.5,
          },
        })),
      ],
    },
    expected: {
      agent: 'boss',
      // Nothing else reports the compaction.
      calls: [
        ['m', null, 10, 5, { reasoning: 2 }],
        ['m', null, 10, 5, null],
      ],
    },
  },

  'client, SDK and server report one call of an MCP tool': {
    scope: 'fastmcp',
    root: {
      name: 'invoke_agent weather',
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'weather' },
      children: [
        {
          name: 'tools/call add',
          kind: CLIENT,
          attributes: {
            'mcp.method.name': 'tools/call',
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'add',
          },
          children: [
            {
              name: 'MCP send tools/call add',
              kind: CLIENT,
              attributes: { 'mcp.method.name': 'tools/call', 'jsonrpc.request.id': '1' },
              children: [
                {
                  name: 'tools/call add',
                  kind: SERVER,
                  attributes: {
                    'mcp.method.name': 'tools/call',
                    'gen_ai.operation.name': 'execute_tool',
                    'gen_ai.tool.name': 'add',
                    'fastmcp.server.name': 'calculator',
                  },
                },
              ],
            },
          ],
        },
      ],
    },
    expected: { tools: [['add', null, null]], edges: ['weather > calculator'] },
  },

  'a gateway names the session and the model of its caller': {
    scope: 'litellm',
    service: 'gateway',
    root: {
      name: 'POST /v1/chat/completions',
      kind: SERVER,
      attributes: { 'http.request.method': 'POST', 'http.response.status_code': 429 },
      children: [
        {
          name: 'Received Proxy Server Request',
          kind: SERVER,
          code: 2,
          events: [
            {
              name: 'exception',
              attributes: { 'exception.type': 'RateLimitError', 'exception.message': 'slow' },
            },
          ],
          children: [
            {
              name: 'litellm_request',
              attributes: {
                'gen_ai.request.model': 'claude-sonnet-4-5',
                'gen_ai.response.model': 'clever',
                'litellm.model_group': 'clever',
                'metadata.requester_metadata':
                  "{'session_id': 's-1', 'tags': ['eu'], 'trace_user_id': 'u-1', 'headers': {'host': None}}",
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'gateway',
      status: 'failed',
      error: 'RateLimitError: slow',
      session: 's-1',
      user: 'u-1',
      tags: ['eu'],
      calls: [['claude-sonnet-4-5', null, null, null, null]],
    },
  },

  'the root of a trace of the OpenAI Agents SDK only wraps its agents': {
    scope: 'opentelemetry.instrumentation.openai_agents',
    root: {
      name: 'Customer support',
      code: 1,
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
      children: [
        {
          name: 'invoke_agent Weather agent',
          code: 2,
          message: 'no answer',
          attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'Weather agent' },
        },
      ],
    },
    expected: { agent: 'Customer support', status: 'failed', error: 'no answer' },
  },

  "the calls of mem0 are the program's": {
    service: 'memory-app',
    root: {
      name: 'memory add_to_vector_store',
      attributes: { 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.provider.name': 'mem0' },
    },
    expected: { agent: 'memory-app' },
  },

  'definitions of tools among the messages of Langfuse': {
    root: {
      name: 'ChatOpenAI',
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.input': JSON.stringify([
          { role: 'user', content: 'weather?' },
          {
            role: 'tool',
            content: { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } },
          },
        ]),
      },
    },
    expected: {
      question: {
        messages: [{ role: 'user', content: 'weather?' }],
        tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }],
      },
    },
  },

  'messages without content are filled from another source': {
    root: {
      name: 'ChatOpenAI',
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.input_messages.0.message.role': 'system',
        'llm.input_messages.1.message.role': 'user',
        'llm.input_messages.1.message.content': 'weather?',
        'input.value': JSON.stringify({
          messages: [
            [
              {
                lc: 1,
                type: 'constructor',
                id: ['langchain_core', 'messages', 'SystemMessage'],
                kwargs: { content: [{ type: 'text', text: 'Be brief.' }] },
              },
              {
                lc: 1,
                type: 'constructor',
                id: ['langchain_core', 'messages', 'HumanMessage'],
                kwargs: { content: 'weather?' },
              },
            ],
          ],
        }),
      },
    },
    expected: {
      question: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'weather?' },
        ],
      },
    },
  },

  "the options of BeeAI's tools are no arguments": {
    root: {
      name: 'tool.weather.start',
      attributes: {
        'openinference.span.kind': 'TOOL',
        'tool.name': 'weather',
        'input.value': JSON.stringify({ input: BERLIN, options: null }),
      },
    },
    expected: { tools: [['weather', BERLIN, null]] },
  },

  'an agent that is only made is not called': {
    root: {
      name: 'invoke_agent triage',
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'triage' },
      children: [
        {
          name: 'create_agent Math',
          attributes: { 'gen_ai.operation.name': 'create_agent', 'gen_ai.agent.name': 'Math' },
        },
        {
          name: 'search_memory',
          kind: CLIENT,
          attributes: { 'gen_ai.operation.name': 'search_memory', 'gen_ai.memory.store.id': 'notes' },
        },
      ],
    },
    expected: { agent: 'triage', edges: ['triage > notes'] },
  },
};

for (const [what, { root, expected, ...sending }] of Object.entries(RUNS))
  void t.test(what, async (t) => {
    t.match(mapRun(root, sending), expected);
    const { calls, tools, edges } = mapRun(root, sending);
    if (expected.calls !== undefined) t.equal(calls.length, expected.calls.length);
    if (expected.tools !== undefined) t.equal(tools.length, expected.tools.length);
    if (expected.edges !== undefined) t.strictSame(edges, expected.edges);
  });

void t.test('memory: query in, records out', async (t) => {
  t.match(
    mapSpan({
      'gen_ai.operation.name': 'search_memory',
      'gen_ai.memory.query.text': 'Berlin',
      'gen_ai.memory.records': '[{"id": "1", "content": "sunny"}]',
      'gen_ai.memory.record.count': 1,
    }),
    {
      type: 'db',
      input_data: { operation: 'search_memory', query: 'Berlin' },
      output_data: { returned_rows: 1, result: [{ id: '1', content: 'sunny' }] },
    },
  );
});

void t.test('requests of MCP other than calls', async (t) => {
  t.match(mapSpan({ 'mcp.method.name': 'resources/read', 'mcp.resource.uri': 'docs://rain' }), {
    type: 'custom',
    input_data: { uri: 'docs://rain' },
  });
  t.match(
    mapSpan({
      'mcp.method.name': 'prompts/get',
      'gen_ai.prompt.name': 'ask',
      'gen_ai.prompt.variable.city': 'Berlin',
    }),
    { input_data: { prompt: 'ask', variables: BERLIN } },
  );
});

void t.test('an error without a status is a failure of models and tools only', async (t) => {
  const timedOut = { 'gen_ai.operation.name': 'chat', 'error.type': 'timeout' };
  for (const [attributes, code, status] of [
    [{ 'gen_ai.operation.name': 'execute_tool', 'error.type': 'tool_error' }, 0, 'failed'],
    [{ 'mcp.method.name': 'tools/list', 'error.type': '-32602' }, 0, 'failed'],
    [{ 'gen_ai.operation.name': 'chat', 'error.type': 'RateLimitError' }, 1, 'completed'],
    [{ 'http.request.method': 'GET', 'error.type': '404' }, 0, 'completed'],
    [timedOut, 0, 'timed_out'],
  ] as const)
    t.equal(mapSpan(attributes, { status: { code } }).status, status, JSON.stringify(attributes));
});
