import { failed, run, type ExpectedRun, type Recording } from './recording.js';

const BERLIN = 'It is sunny in Berlin, 21 degrees.';
const PARIS = 'It is sunny in Paris, 21 degrees.';
const ROME = 'It is sunny in Rome, 21 degrees.';
const TWO_TOOLS = 'What is the weather in Berlin, and add 2 and 3?';
const LIMITED = 'Error code: 429 - Rate limit reached for gpt-4o-mini';

type Tool = ExpectedRun['tools'][number];
const weather = (city: string): Tool => ['get_weather', { city }, `sunny in ${city}`];
const ADD: Tool = ['add', { a: 2, b: 3 }, '5'];
const BROKEN: Tool = ['broken_tool', { city: 'Berlin' }, null];

/** Calls of the model server by a client that reports all parts. */
const tokens = (input: number, output: number, count: number) => ({
  input,
  cachedRead: 64 * count,
  output,
  reasoning: 16 * count,
});
/** In nano-USD. */
const priced = (nanos: number) => [nanos / 1e9, 'priced'] as const;
const reported = (nanos: number) => [nanos / 1e9, 'reported'] as const;

const AG2 = { session: 'ag2-sess', user: 'ag2-user' };
const MCP = { session: 'mcp-sess', user: 'mcp-user' };
const LANGFUSE = { session: 'lf2-sess', user: 'lf2-user', tags: ['prod', 'eu'] };
const LITELLM = { session: 'lp-sess', user: 'lp-user', tags: ['prod', 'eu'] };
/** 56 fresh, 44 read and 20 written for five minutes at 3, 0.30 and 3.75, 30 at 15 USD per million tokens. */
const CLAUDE = {
  tokens: { input: 120, cachedRead: 44, cachedWrite: 20, output: 30 },
  cost: reported(706_200),
};

const CODEX_SESSION = '01a22537-6a89-7792-aa9f-3584316e686f';
const internals = (count: number): ExpectedRun[] =>
  Array.from({ length: count }, () => run('codex_exec', { kind: 'other' }));

/** Programs whose spans repeat or relay calls: records of usage, a gateway, an MCP server, two clients in one program. */
export const PROGRAMS: Readonly<Record<string, Recording>> = {
  // One prompt. The other traces are the program's own functions.
  codex_cli: {
    nodes: ['codex_exec'],
    ran: ['prod', '0.171.0'],
    runs: [
      ...internals(8),
      run('codex_exec', { kind: 'other', session: CODEX_SESSION }),
      ...internals(1),
      run('codex_exec', { kind: 'other', session: CODEX_SESSION }),
      run('codex_exec', {
        session: CODEX_SESSION,
        tokens: { input: 180, cachedRead: 64, output: 30, reasoning: 16 },
        cost: priced(90_600),
        question: 'What is the weather in Berlin?',
      }),
      ...internals(6),
    ],
  },
  ag2_prog: {
    nodes: ['boss_ag2', 'stream_ag2', 'weather_ag2'],
    runs: [
      run('weather_ag2', {
        ...AG2,
        tokens: tokens(540, 120, 3),
        cost: priced(138_600),
        tools: [weather('Berlin'), ADD],
        question: TWO_TOOLS,
        answer: BERLIN,
      }),
      run('weather_ag2', {
        ...AG2,
        tokens: tokens(560, 75, 2),
        cost: priced(119_400),
        tools: [weather('Paris')],
        question: 'And the weather in Paris?',
        answer: PARIS,
      }),
      run('weather_ag2', {
        ...AG2,
        tokens: tokens(320, 75, 2),
        cost: priced(83_400),
        tools: [BROKEN],
        question: 'use BROKEN',
        answer: BERLIN,
      }),
      failed('weather_ag2', `openai.RateLimitError: ${LIMITED}`, { ...AG2, question: 'FAIL429' }),
      run('stream_ag2', {
        session: 'ag2-sess',
        tokens: tokens(140, 30, 1),
        cost: priced(34_200),
        question: 'weather in Rome?',
        answer: ROME,
      }),
      // An agent as a tool, whose usage its caller records again.
      run('boss_ag2', {
        ...AG2,
        tokens: tokens(460, 105, 3),
        cost: priced(117_600),
        tools: [['ask_weather', { objective: 'x', context: 'x' }, BERLIN]],
        question: 'weather in Oslo?',
        answer: 'It is sunny in Oslo, 21 degrees.',
      }),
    ],
  },

  fastmcp_prog: {
    nodes: ['svc-fastmcp_prog', 'weather-server', 'weather_mcp'],
    runs: [
      run('weather_mcp', {
        ...MCP,
        tokens: { input: 480, cachedRead: 192, output: 120 },
        cost: priced(129_600),
        // FastMCP does not report arguments.
        tools: [
          ['get_weather', null, null],
          ['add', null, null],
        ],
        question: TWO_TOOLS,
        answer: BERLIN,
      }),
      run('weather_mcp', {
        ...MCP,
        tokens: { input: 280, cachedRead: 128, output: 75 },
        cost: priced(77_400),
        tools: [['broken_tool', null, null]],
        question: 'use BROKEN',
        answer: BERLIN,
      }),
      failed('weather_mcp', `openai.RateLimitError: ${LIMITED}`, { ...MCP, question: 'FAIL429' }),
      run('svc-fastmcp_prog', { kind: 'other' }),
      run('svc-fastmcp_prog', { kind: 'other', question: { uri: 'docs://rain' } }),
      run('svc-fastmcp_prog', { kind: 'other', question: { prompt: 'ask' } }),
      run('svc-fastmcp_prog', { tools: [['add', null, null]] }),
    ],
  },

  langfuse_lc2: {
    nodes: ['OpenAI-embedding', 'rag_agent', 'weather_lc'],
    ran: ['prod', 'v7'],
    runs: [
      run('weather_lc', {
        ...LANGFUSE,
        tokens: tokens(540, 120, 3),
        cost: priced(138_600),
        tools: [weather('Berlin'), ADD],
        question: TWO_TOOLS,
        answer: BERLIN,
      }),
      run('weather_lc', {
        ...LANGFUSE,
        tokens: tokens(560, 75, 2),
        cost: priced(119_400),
        tools: [weather('Paris')],
        question: 'And the weather in Paris?',
        answer: PARIS,
      }),
      failed('weather_lc', 'tool exploded', {
        ...LANGFUSE,
        tokens: tokens(140, 45, 1),
        cost: priced(43_200),
        tools: [BROKEN],
        question: 'use BROKEN',
      }),
      failed('weather_lc', LIMITED, { ...LANGFUSE, cost: reported(0), question: 'FAIL429' }),
      // A stream without usage.
      run('weather_lc', { tools: [weather('Rome')], question: 'weather in Rome?', answer: ROME }),
      run('OpenAI-embedding', {
        tokens: { input: 16, output: 0 },
        cost: priced(320),
        question: { value: ['Berlin is sunny', 'Paris is wet'] },
      }),
      run('rag_agent', {
        ...LANGFUSE,
        session: 'lf2-sess-b',
        tags: ['rag'],
        tokens: { input: 156, cachedRead: 64, output: 30, reasoning: 16 },
        cost: priced(34_520),
        tools: [['search_docs', ['How is Berlin?'], ['Berlin is sunny']]],
        question: { args: ['How is Berlin?'], kwargs: {} },
        answer: BERLIN,
      }),
    ],
  },

  litellm_proxy: {
    nodes: ['litellm-gateway'],
    ran: ['production', null],
    runs: [
      // The answer is a tool call.
      run('litellm-gateway', {
        ...LITELLM,
        tokens: tokens(120, 45, 1),
        cost: reported(40_200),
        question: 'weather in Berlin?',
      }),
      run('litellm-gateway', {
        ...LITELLM,
        tokens: tokens(120, 30, 1),
        cost: reported(31_200),
        question: 'weather in Paris?',
        answer: PARIS,
      }),
      run('litellm-gateway', { ...LITELLM, ...CLAUDE, question: 'weather in Rome?', answer: ROME }),
      failed(
        'litellm-gateway',
        "litellm.exceptions.RateLimitError: litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-4o-mini\n\nLiteLLM: model group 'gpt-4o-mini' failed with the error above. No fallback was attempted.",
        { ...LITELLM, question: 'FAIL429' },
      ),
      run('litellm-gateway', {
        user: 'lp-user',
        tokens: { input: 8, output: 0 },
        cost: reported(160),
        question: 'hi',
      }),
      run('litellm-gateway', {
        user: 'lp-user',
        ...CLAUDE,
        question: 'weather in Oslo?',
        answer: 'It is sunny in Oslo, 21 degrees.',
      }),
      run('litellm-gateway', {
        user: 'default_user_id',
        tokens: tokens(120, 30, 1),
        cost: reported(31_200),
        question: 'weather in Bern?',
        answer: 'It is sunny in Bern, 21 degrees.',
      }),
    ],
  },
};
