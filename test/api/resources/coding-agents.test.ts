import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { JsonObject, JsonValue } from '../../../src/signal/attributes.js';
import { startApi } from '../../support/api.js';
import { ApiCaller } from '../../support/api-caller.js';

/** In milliseconds, with room for what happens later. */
const START = Date.now() - 60_000;
const TRACE = '5b8aa5a2d2c872e8321cf37308d69df2';
const SESSION = { 'session.id': 'session-1', 'user.id': 'a'.repeat(64), 'user.email': 'ada@example.org' };
const PROMPT = { ...SESSION, 'prompt.id': 'prompt-1' };

interface Event {
  readonly at: number;
  readonly attributes: JsonObject;
  readonly body?: string;
  /** The span in which it is logged. */
  readonly span?: string;
}

function logs(
  service: string,
  events: readonly Event[],
  { scope = 'events', about = {} }: { readonly scope?: string; readonly about?: JsonObject } = {},
): object {
  const logRecords = events.map(({ at, attributes, body, span }) => ({
    timeUnixNano: `${START + at}000000`,
    ...(body !== undefined && { body: { stringValue: body } }),
    ...(span !== undefined && { traceId: TRACE, spanId: span }),
    attributes: toKeyValues(attributes),
  }));
  return {
    resourceLogs: [{ ...resource(service, about), scopeLogs: [{ scope: { name: scope }, logRecords }] }],
  };
}

interface SentSpan {
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly at: readonly [start: number, end: number];
  readonly attributes: JsonObject;
  readonly error?: string;
}

function spans(service: string, scope: string, sent: readonly SentSpan[]): object {
  const all = sent.map(({ id, parent, name, at: [start, end], attributes, error }) => ({
    traceId: TRACE,
    spanId: id,
    ...(parent !== undefined && { parentSpanId: parent }),
    name,
    kind: 1,
    startTimeUnixNano: `${START + start}000000`,
    endTimeUnixNano: `${START + end}000000`,
    attributes: toKeyValues(attributes),
    status: error === undefined ? {} : { code: 2, message: error },
  }));
  return { resourceSpans: [{ ...resource(service), scopeSpans: [{ scope: { name: scope }, spans: all }] }] };
}

function resource(service: string, about: JsonObject = {}): object {
  return { resource: { attributes: toKeyValues({ 'service.name': service, ...about }) } };
}

const daemon = startApi(t);
let users = 0;

/** A new user of the daemon. */
async function aUser(): Promise<ApiCaller> {
  const api = await daemon;
  const { key } = await api.createUser(`coder-${++users}@example.org`, ['read', 'write']);
  return new ApiCaller(api.url, key);
}

async function send(api: ApiCaller, signal: 'traces' | 'logs', json: object): Promise<void> {
  const { status, body } = await api.call('POST', `/otlp/v1/${signal}`, { json });
  t.equal(status, 200, JSON.stringify(body));
  t.strictSame(body, {}, 'nothing is refused');
}

interface Run {
  readonly trace_id: string;
}

async function runsOf(api: ApiCaller): Promise<readonly JsonObject[]> {
  const { items } = await api.get<{ items: Run[] }>('/dashboard/traces?kind=all');
  return await Promise.all(
    items.map(
      async ({ trace_id: id }) => await api.get<JsonObject>(`/dashboard/traces/${id}?include=metadata`),
    ),
  );
}

/** What a person looks at, run by run. */
async function shown(api: ApiCaller): Promise<readonly JsonObject[]> {
  return (await runsOf(api)).map((run) => ({
    agent: run.agent_name ?? null,
    kind: run.kind ?? null,
    session: run.session_id ?? null,
    user: run.user_id ?? null,
    tokens: run.total_tokens ?? null,
    cost: run.total_cost_usd ?? null,
  }));
}

async function models(api: ApiCaller): Promise<readonly JsonValue[]> {
  const { items } = await api.get<{ items: JsonObject[] }>('/dashboard/models');
  return items.map(({ model, calls, total_tokens: tokens }) => [
    model ?? null,
    calls ?? null,
    tokens ?? null,
  ]);
}

const request = (id: string, at: number): Event => ({
  at,
  body: 'claude_code.api_request',
  attributes: {
    ...PROMPT,
    'event.name': 'api_request',
    model: 'claude-sonnet-4-5-20250929',
    input_tokens: '10',
    output_tokens: '30',
    cache_read_tokens: '2000',
    cache_creation_tokens: '100',
    cost_usd: '0.5',
    duration_ms: '50',
    request_id: id,
  },
});

const CLAUDE: readonly Event[] = [
  {
    at: 0,
    body: 'claude_code.user_prompt',
    attributes: { ...PROMPT, 'event.name': 'user_prompt', prompt: 'Fix the test' },
  },
  request('req_1', 100),
  {
    at: 200,
    body: 'claude_code.tool_result',
    attributes: {
      ...PROMPT,
      'event.name': 'tool_result',
      tool_name: 'Bash',
      tool_use_id: 'toolu_1',
      success: 'false',
      error: 'exit 1',
      duration_ms: '40',
      tool_input: '{"command":"npm test"}',
    },
  },
  request('req_2', 300),
  {
    at: 300,
    body: 'claude_code.assistant_response',
    attributes: { ...PROMPT, 'event.name': 'assistant_response', request_id: 'req_2', response: 'Done.' },
  },
  {
    at: 400,
    body: 'claude_code.api_error',
    attributes: {
      ...PROMPT,
      'event.name': 'api_error',
      model: 'claude-sonnet-4-5-20250929',
      error: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      status_code: '529',
      attempt: '3',
    },
  },
];

void t.test('events without spans are a run for each prompt, and a repeat adds nothing', async (t) => {
  const api = await aUser();
  const batch = logs('claude-code', CLAUDE);
  await send(api, 'logs', batch);
  await send(api, 'logs', batch);
  const expected = {
    agent: 'claude-code',
    kind: 'agent',
    session: 'session-1',
    user: 'ada@example.org',
    tokens: 4280,
    cost: 1,
  };
  t.strictSame(await shown(api), [expected]);
  t.match(await models(api), [['claude-sonnet-4-5-20250929', 3, 4280]]);
  const [run] = await runsOf(api);
  t.match(run, { status: 'failed', error_message: 'Overloaded' }, 'its last call failed for good');
  t.match(run?.spans, [
    { type: 'agent', input_data: { messages: [{ role: 'user', content: 'Fix the test' }] } },
    { type: 'llm', input_tokens: 2110, output_tokens: 30, usage: { cached_read: 2000, cached_write: 100 } },
    {
      type: 'tool',
      name: 'Bash',
      status: 'failed',
      error_message: 'exit 1',
      input_data: { arguments: { command: 'npm test' } },
    },
    { type: 'llm', output_data: { messages: [{ role: 'assistant', content: 'Done.' }] } },
    { type: 'llm', status: 'failed', error_message: 'Overloaded' },
  ]);
  const { items } = await api.get<{ items: unknown[] }>('/dashboard/logs/search?limit=100');
  t.equal(items.length, 2 * CLAUDE.length, 'the records are stored as well');
});

const GEMINI = { 'session.id': 'session-3', prompt_id: 'prompt-3', model: 'gemini-2.5-flash' };
/** A prompt, an answered request, and a failed one of each program. */
const PROGRAMS: readonly {
  readonly name: string;
  readonly prompt: JsonObject;
  readonly answer: JsonObject;
  readonly failure: JsonObject;
  readonly error: string;
}[] = [
  {
    name: 'claude-code',
    prompt: { ...PROMPT, 'event.name': 'user_prompt', prompt: 'Fix the test' },
    answer: request('req_9', 0).attributes,
    failure: {
      ...PROMPT,
      'event.name': 'api_error',
      model: 'claude-sonnet-4-5-20250929',
      error: 'Connection error.',
      attempt: '11',
    },
    error: 'Connection error.',
  },
  {
    name: 'codex_exec',
    prompt: { 'conversation.id': 'c', 'event.name': 'codex.user_prompt', prompt: 'Weather?' },
    answer: {
      'conversation.id': 'c',
      model: 'gpt-5-mini',
      'event.name': 'codex.sse_event',
      'event.kind': 'response.completed',
      input_token_count: 180,
      output_token_count: 30,
    },
    failure: {
      'conversation.id': 'c',
      model: 'gpt-5-mini',
      'event.name': 'codex.api_request',
      'http.response.status_code': 429,
      'error.message': 'quota exceeded',
      duration_ms: 20,
    },
    error: 'quota exceeded',
  },
  {
    name: 'gemini-cli',
    prompt: { ...GEMINI, 'event.name': 'gemini_cli.user_prompt', prompt: 'Weather?' },
    answer: {
      ...GEMINI,
      'event.name': 'gemini_cli.api_response',
      input_token_count: 2,
      output_token_count: 3,
    },
    failure: { ...GEMINI, 'event.name': 'gemini_cli.api_error', error: 'no credit', status_code: 402 },
    error: 'no credit',
  },
];

for (const { name, prompt, answer, failure, error } of PROGRAMS)
  void t.test(`a prompt fails if its last call failed: ${name}`, async (t) => {
    const api = await aUser();
    const write = async (at: number, attributes: JsonObject): Promise<void> => {
      await send(api, 'logs', logs(name, [{ at, attributes }]));
    };
    const run = async (): Promise<JsonObject | undefined> => (await runsOf(api))[0];
    await write(0, prompt);
    t.match(await run(), { agent_name: name, kind: 'other', status: 'completed' }, 'a prompt alone');
    t.match(await api.get('/dashboard/traces'), { items: [] });
    t.same(await api.get('/agents'), []);
    await write(100, failure);
    const failed = { agent_name: name, kind: 'agent', status: 'failed', error_message: error };
    t.match(await run(), failed);
    await write(200, answer);
    t.match(
      await run(),
      { agent_name: name, status: 'completed', error_message: null },
      'another attempt succeeded',
    );
    await write(300, failure);
    t.match(await run(), failed);
    t.match(await api.get('/agents'), [{ name, total_runs: 1 }]);
  });

void t.test('a tool fails with its execution, which may be in an earlier request', async (t) => {
  const api = await aUser();
  const other = await aUser();
  const [root, , , tool, execution] = CLAUDE_SPANS;
  if (root === undefined || tool === undefined || execution === undefined) throw new Error('five spans');
  const scope = 'com.anthropic.claude_code.tracing';
  for (const span of [execution, tool, root]) await send(api, 'traces', spans('claude-code', scope, [span]));
  for (const span of [tool, root]) await send(other, 'traces', spans('claude-code', scope, [span]));
  const toolOf = async (of: ApiCaller): Promise<JsonObject | undefined> =>
    ((await runsOf(of))[0]?.spans as JsonObject[]).find(({ type }) => type === 'tool');
  t.match(await toolOf(api), { name: 'Bash', status: 'failed', error_message: 'exit 1' });
  t.match(await toolOf(other), { status: 'completed' }, "another user's span of the same id");
});

void t.test('a traced prompt fails if its last call failed', async (t) => {
  const api = await aUser();
  const [root, first] = CLAUDE_SPANS;
  if (root === undefined || first === undefined) throw new Error('two spans');
  const scope = 'com.anthropic.claude_code.tracing';
  const failed = { ...first, id: '1212121212121212', at: [300, 310] as const, error: 'Overloaded' };
  await send(api, 'traces', spans('claude-code', scope, [root, first, failed]));
  const [run] = await runsOf(api);
  t.match(run, { agent_name: 'claude-code', kind: 'agent', status: 'failed', error_message: 'Overloaded' });
  const next = { ...first, id: '1313131313131313', at: [320, 330] as const };
  await send(api, 'traces', spans('claude-code', scope, [next]));
  t.match(await runsOf(api), [{ status: 'completed', error_message: null }]);
});

void t.test('a prompt logged before its traced run is no run of an agent', async (t) => {
  const api = await aUser();
  await send(api, 'logs', logs('claude-code', CLAUDE.slice(0, 1)));
  const within = CLAUDE.slice(1, 5).map((event) => ({ ...event, span: 'aaaaaaaaaaaaaaaa' }));
  await send(api, 'logs', logs('claude-code', within));
  await send(api, 'traces', spans('claude-code', 'com.anthropic.claude_code.tracing', CLAUDE_SPANS));
  t.match(await api.get('/dashboard/traces'), { count: 1, items: [{ total_tokens: 4280 }] });
  t.match(await api.get('/agents'), [{ name: 'claude-code', total_runs: 1 }]);
  t.match(await api.get('/dashboard/sessions'), { items: [{ total_runs: 1 }] });
});

/** Claude Code's spans of the same prompt, whose cached tokens are beside the input. */
const CLAUDE_SPANS: readonly SentSpan[] = [
  {
    id: 'aaaaaaaaaaaaaaaa',
    name: 'claude_code.interaction',
    at: [0, 400],
    attributes: { ...SESSION, 'span.type': 'interaction', user_prompt: 'Fix the test' },
  },
  ...['req_1', 'req_2'].map((id, i) => ({
    id: `bbbbbbbbbbbbbbb${i}`,
    parent: 'aaaaaaaaaaaaaaaa',
    name: 'claude_code.llm_request',
    at: [50 + 200 * i, 105 + 200 * i] as const,
    attributes: {
      ...SESSION,
      'span.type': 'llm_request',
      'gen_ai.request.model': 'claude-sonnet-4-5-20250929',
      input_tokens: 10,
      output_tokens: 30,
      cache_read_tokens: 2000,
      cache_creation_tokens: 100,
      request_id: id,
    },
  })),
  {
    id: 'cccccccccccccccc',
    parent: 'aaaaaaaaaaaaaaaa',
    name: 'claude_code.tool',
    at: [150, 200],
    attributes: { ...SESSION, 'span.type': 'tool', tool_name: 'Bash', full_command: 'npm test' },
  },
  {
    id: 'dddddddddddddddd',
    parent: 'cccccccccccccccc',
    name: 'claude_code.tool.execution',
    at: [160, 199],
    attributes: { ...SESSION, 'span.type': 'tool.execution', 'gen_ai.tool.call.id': 'toolu_1' },
    error: 'exit 1',
  },
];

for (const order of [
  ['traces', 'logs'],
  ['logs', 'traces'],
] as const)
  void t.test(`a call that spans tell of counts once: ${order.join(' before ')}`, async (t) => {
    const api = await aUser();
    const within = CLAUDE.slice(0, 5).map((event) => ({ ...event, span: 'aaaaaaaaaaaaaaaa' }));
    const requests = {
      logs: logs('claude-code', within),
      traces: spans('claude-code', 'com.anthropic.claude_code.tracing', CLAUDE_SPANS),
    };
    for (const signal of order) await send(api, signal, requests[signal]);
    t.match(await shown(api), [
      { agent: 'claude-code', kind: 'agent', session: 'session-1', user: 'ada@example.org', tokens: 4280 },
    ]);
    t.match(await models(api), [['claude-sonnet-4-5-20250929', 2, 4280]]);
    const [run] = await runsOf(api);
    const tools = (run?.spans as JsonObject[]).filter(({ type }) => type === 'tool');
    t.match(tools, [
      {
        name: 'Bash',
        status: 'failed',
        error_message: 'exit 1',
        input_data: { arguments: { command: 'npm test' } },
      },
    ]);
  });

const CODEX = { 'conversation.id': 'conversation-1', model: 'gpt-5-mini' };
const TURN = 'eeeeeeeeeeeeeeee';
const CODEX_EVENTS: readonly Event[] = [
  { at: 0, attributes: { ...CODEX, 'event.name': 'codex.user_prompt', prompt: 'Weather?' }, span: TURN },
  {
    at: 10,
    attributes: { ...CODEX, 'event.name': 'codex.api_request', 'http.response.status_code': 200 },
    span: TURN,
  },
  // Logged outside of all spans.
  { at: 20, attributes: { ...CODEX, 'event.name': 'codex.sse_event', 'event.kind': 'response.created' } },
  {
    at: 21,
    attributes: {
      ...CODEX,
      'event.name': 'codex.sse_event',
      'event.kind': 'response.completed',
      input_token_count: 180,
      output_token_count: 30,
      cached_token_count: 64,
      reasoning_token_count: 16,
    },
  },
  {
    at: 30,
    attributes: {
      ...CODEX,
      'event.name': 'codex.tool_result',
      tool_name: 'exec_command',
      call_id: 'call_1',
      success: 'true',
      arguments: '{"cmd":"ls"}',
      output: 'a.txt',
    },
    span: TURN,
  },
];
const CODEX_SPANS: readonly SentSpan[] = [
  {
    id: 'cccccccccccccccc',
    parent: TURN,
    name: 'exec_command',
    at: [25, 30],
    attributes: { tool_name: 'exec_command', call_id: 'call_1', 'codex.tool.phase': 'dispatch' },
  },
  {
    id: TURN,
    name: 'session_task.turn',
    at: [0, 40],
    attributes: {
      model: 'gpt-5-mini',
      'codex.turn.token_usage.input_tokens': 180,
      'codex.turn.token_usage.cached_input_tokens': 64,
      'codex.turn.token_usage.output_tokens': 30,
      'codex.turn.token_usage.total_tokens': 210,
    },
  },
  { id: 'ffffffffffffffff', parent: TURN, name: 'fs.read_file', at: [1, 2], attributes: {} },
  // One of the requests of the turn, without the model.
  {
    id: '9999999999999999',
    parent: TURN,
    name: 'handle_responses',
    at: [10, 20],
    attributes: {
      'gen_ai.usage.input_tokens': 180,
      'gen_ai.usage.output_tokens': 30,
      'codex.usage.total_tokens': 210,
    },
  },
];

void t.test('a session is a run if its prompts have no ids', async (t) => {
  const api = await aUser();
  const alone = CODEX_EVENTS.map(({ at, attributes }) => ({ at, attributes }));
  // In batches, as a slow answer gives them.
  await send(api, 'logs', logs('codex_exec', alone.slice(0, 2)));
  await send(api, 'logs', logs('codex_exec', alone.slice(2)));
  t.match(await shown(api), [{ agent: 'codex_exec', kind: 'agent', session: 'conversation-1', tokens: 210 }]);
  const [run] = await runsOf(api);
  t.match(run?.spans, [
    { type: 'agent', input_data: { messages: [{ content: 'Weather?' }] } },
    { type: 'llm', model: 'gpt-5-mini', usage: { cached_read: 64, reasoning: 16 } },
    {
      type: 'tool',
      name: 'exec_command',
      input_data: { arguments: { cmd: 'ls' } },
      output_data: { result: 'a.txt' },
    },
  ]);
});

for (const order of [
  ['traces', 'logs'],
  ['logs', 'traces'],
] as const)
  void t.test(`the events of a traced session belong to its trace: ${order.join(' before ')}`, async (t) => {
    const api = await aUser();
    const requests = {
      logs: logs('codex_exec', CODEX_EVENTS),
      traces: spans('codex_exec', 'codex_exec', CODEX_SPANS),
    };
    await send(api, order[0], requests[order[0]]);
    t.match(await shown(api), [{ agent: 'codex_exec', kind: 'agent', tokens: 210 }], 'the first alone');
    await send(api, order[1], requests[order[1]]);
    t.match(await shown(api), [
      { agent: 'codex_exec', kind: 'agent', session: 'conversation-1', tokens: 210 },
    ]);
    t.match(await models(api), [['gpt-5-mini', 1, 210]]);
    const [run] = await runsOf(api);
    t.match(
      (run?.spans as JsonObject[]).filter(({ type }) => type === 'tool'),
      [
        {
          name: 'exec_command',
          input_data: { arguments: { cmd: 'ls' } },
          output_data: { result: 'a.txt' },
        },
      ],
      'a tool once, with what its event says',
    );
  });

void t.test('an interrupted turn of Codex is a run without tokens, a refused one fails', async (t) => {
  const turn = CODEX_SPANS.find(({ id }) => id === TURN);
  if (turn === undefined) throw new Error('a turn');
  const attributes = { model: 'gpt-5-mini', 'codex.turn.reasoning_effort': 'default' };
  const api = await aUser();
  await send(api, 'traces', spans('codex_exec', 'codex_exec', [{ ...turn, attributes }]));
  t.match(await shown(api), [{ kind: 'agent', tokens: null }]);
  const refused = {
    at: 10,
    attributes: {
      ...CODEX,
      'event.name': 'codex.api_request',
      'http.response.status_code': 429,
      'error.message': 'http 429',
      attempt: 1,
    },
    span: 'dddddddddddddddd',
  };
  const root = {
    id: 'dddddddddddddddd',
    name: 'turn/start',
    at: [0, 41] as const,
    attributes: { 'rpc.system': 'jsonrpc', 'rpc.method': 'turn/start' },
  };
  const other = await aUser();
  await send(other, 'logs', logs('codex_exec', [refused]));
  await send(
    other,
    'traces',
    spans('codex_exec', 'codex_exec', [root, { ...turn, parent: root.id, attributes }]),
  );
  t.match(await runsOf(other), [{ kind: 'agent', status: 'failed', error_message: 'http 429' }]);
});

void t.test('the inside of Codex is not a run of an agent', async (t) => {
  const api = await aUser();
  await send(
    api,
    'traces',
    spans(
      'codex_exec',
      'codex_exec',
      CODEX_SPANS.filter(({ name }) => name === 'fs.read_file'),
    ),
  );
  t.match(await shown(api), [{ kind: 'other' }]);
});

void t.test('Gemini: thoughts are output, the call is in the trace of its request', async (t) => {
  const api = await aUser();
  const about = { 'session.id': 'session-2', prompt_id: 'prompt-2', model: 'gemini-2.5-flash' };
  const events = [
    { at: 0, attributes: { ...about, 'event.name': 'gemini_cli.user_prompt', prompt: 'Weather?' } },
    { at: 1, attributes: { ...about, 'event.name': 'gemini_cli.api_request' } },
    {
      at: 100,
      attributes: {
        ...about,
        'event.name': 'gemini_cli.api_response',
        input_token_count: 200,
        output_token_count: 20,
        cached_content_token_count: 50,
        thoughts_token_count: 7,
        total_token_count: 227,
        duration_ms: 99,
      },
    },
  ];
  await send(api, 'logs', logs('gemini-cli', events));
  t.match(await shown(api), [{ agent: 'gemini-cli', session: 'session-2', tokens: 227 }]);
  const other = await aUser();
  const [prompt, asked, answered] = events;
  if (!prompt || !asked || !answered) throw new Error('three events');
  await send(other, 'logs', logs('gemini-cli', [prompt, { ...asked, span: '1111111111111111' }, answered]));
  const call = {
    'gen_ai.operation.name': 'llm_call',
    'gen_ai.request.model': 'gemini-2.5-flash',
    'gen_ai.usage.input_tokens': 200,
    'gen_ai.usage.output_tokens': 20,
    'gen_ai.output.messages': JSON.stringify(
      ['It is ', 'sunny.'].map((part) => ({ role: 'model', parts: [{ text: part }] })),
    ),
  };
  await send(
    other,
    'traces',
    spans('gemini-cli', 'gemini-cli', [
      { id: '1111111111111111', name: 'llm_call', at: [0, 101], attributes: call },
    ]),
  );
  t.match(await models(other), [['gemini-2.5-flash', 1]]);
  const [run, ...none] = await runsOf(other);
  t.strictSame(none, [], 'the spans of the prompt are its only run');
  t.match(
    (run?.spans as JsonObject[]).find(({ name }) => name === 'llm_call')?.output_data,
    { messages: [{ role: 'assistant', content: 'It is sunny.' }] },
    'a streamed answer is one message',
  );
});

void t.test('a team sees cost by repository, and which tools it allowed', async (t) => {
  const api = await aUser();
  const decided = (name: string, id: string, attributes: JsonObject): Event => ({
    at: 5,
    attributes: { ...PROMPT, 'event.name': name, tool_use_id: id, ...attributes },
  });
  const bash = { tool_name: 'Bash' };
  const shop = { 'vcs.repository.url.full': 'git@example.org:acme/shop.git' };
  await send(
    api,
    'logs',
    logs(
      'claude-code',
      [
        { at: 0, attributes: { ...PROMPT, 'event.name': 'user_prompt', prompt: 'Fix it' } },
        request('request-1', 10),
        decided('tool_decision', 'a', { ...bash, decision: 'accept', source: 'config' }),
        decided('tool_decision', 'b', { ...bash, decision: 'accept', source: 'user_temporary' }),
        decided('tool_decision', 'c', { ...bash, decision: 'reject', source: 'user_reject' }),
      ],
      { about: shop },
    ),
  );
  const bob = { 'user.email': 'bob@example.org' };
  await send(
    api,
    'logs',
    logs('codex_exec', [
      decided('codex.tool_decision', 'd', {
        ...bob,
        'user.id': null,
        tool_name: 'shell',
        decision: 'denied',
        source: 'User',
      }),
      decided('codex.tool_decision', 'e', {
        ...bob,
        'user.id': null,
        tool_name: 'shell',
        decision: 'approved_for_session',
        source: 'User',
      }),
    ]),
  );
  await send(
    api,
    'logs',
    logs('gemini-cli', [
      {
        at: 9,
        attributes: {
          'event.name': 'gemini_cli.tool_call',
          function_name: 'ls',
          decision: 'auto_accept',
          success: true,
        },
      },
      { at: 9, attributes: { 'event.name': 'gemini_cli.tool_call', function_name: 'ls', success: true } },
    ]),
  );
  const [run] = (await runsOf(api)).filter(({ repository }) => repository !== null);
  t.match(run, { repository: 'acme/shop', tags: [] });
  t.match(await api.get('/dashboard/repositories'), {
    count: 1,
    items: [
      {
        repository: 'acme/shop',
        total_runs: 1,
        total_users: 1,
        total_tokens: run?.total_tokens,
        total_cost: run?.total_cost_usd,
      },
    ],
  });
  t.match(await api.get('/dashboard/users?repository=acme/shop'), {
    items: [{ user_id: 'ada@example.org' }],
  });
  t.strictSame(await api.get('/dashboard/users/tool-decisions'), {
    accepted: 4,
    rejected: 2,
    automatic: 2,
    users: [
      { user_id: 'ada@example.org', accepted: 2, rejected: 1, automatic: 1 },
      { user_id: 'bob@example.org', accepted: 1, rejected: 1, automatic: 0 },
      { user_id: null, accepted: 1, rejected: 0, automatic: 1 },
    ],
    tools: [
      { tool_name: 'Bash', accepted: 2, rejected: 1, automatic: 1 },
      { tool_name: 'shell', accepted: 1, rejected: 1, automatic: 0 },
      { tool_name: 'ls', accepted: 1, rejected: 0, automatic: 1 },
    ],
    counted_after: null,
  });
  const later = new Date(START + 3_600_000).toISOString();
  t.match(await api.get(`/dashboard/users/tool-decisions?start_time=${later}`), { accepted: 0, users: [] });
});
