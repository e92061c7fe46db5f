import { failed, run, type ExpectedRun, type Recording } from './recording.js';

const BERLIN = 'It is sunny in Berlin, 21 degrees.';
const PARIS = 'It is sunny in Paris, 21 degrees.';
const ROME = 'It is sunny in Rome, 21 degrees.';
const TWO_TOOLS = 'What is the weather in Berlin, and add 2 and 3?';
const LIMITED = 'Error code: 429 - Rate limit reached for gpt-4o-mini';

const weather = (city: string) => ['get_weather', { city }, `sunny in ${city}`] as const;
const WEATHER = weather('Berlin');
const ADD = ['add', { a: 2, b: 3 }, '5'] as const;
const broken = (result: ExpectedRun['tools'][number][2] = null) =>
  ['broken_tool', { city: 'Berlin' }, result] as const;

/** Calls of the model server by a client that reports all parts. */
const tokens = (input: number, output: number, count: number) => ({
  input,
  cachedRead: 64 * count,
  output,
  reasoning: 16 * count,
});
/** In nano-USD. */
const priced = (nanos: number) => [nanos / 1e9, 'priced'] as const;

const BRAINTRUST = { session: 'bt-sess', user: 'bt-user', tags: ['prod', 'eu'] };
const LAMINAR = { session: 'lmj-sess', user: 'lmj-user', tags: ['prod', 'eu'] };
const MASTRA = { session: 'ms-sess', user: 'ms-user', tags: ['prod', 'eu'] };

/** The newest versions of clients with conventions of their own. */
export const CLIENTS: Readonly<Record<string, Recording>> = {
  braintrust_prog: {
    nodes: ['weather_bt'],
    runs: [
      run('weather_bt', {
        ...BRAINTRUST,
        tokens: { input: 120, cachedRead: 64, output: 30 },
        cost: priced(31_200),
        tools: [WEATHER],
        question: { question: 'weather in Berlin?' },
        answer: BERLIN,
      }),
      failed('weather_bt', `openai.RateLimitError: ${LIMITED}`, {
        ...BRAINTRUST,
        question: { question: 'FAIL429' },
      }),
    ],
  },

  genkit_js: {
    nodes: ['stream_genkit', 'svc-genkit', 'weather_genkit'],
    runs: [
      run('weather_genkit', {
        tokens: tokens(540, 120, 3),
        cost: priced(410_160),
        tools: [WEATHER, ADD],
        question: { value: TWO_TOOLS },
        answer: BERLIN,
      }),
      failed('weather_genkit', 'Error: tool exploded', {
        tokens: tokens(140, 45, 1),
        cost: priced(137_220),
        tools: [broken()],
        question: { value: 'use BROKEN' },
      }),
      failed(
        'weather_genkit',
        '400: INVALID_ARGUMENT: Error fetching from http://127.0.0.1:21400/v1beta/models/gemini-2.5-flash:generateContent: [400 Bad Request] An internal error has occurred',
        { question: { value: 'FAIL400' } },
      ),
      run('stream_genkit', {
        tokens: tokens(120, 30, 1),
        cost: priced(93_720),
        question: { value: 'weather in Rome?' },
        answer: ROME,
      }),
      // An embedding, without usage.
      run('svc-genkit', { question: { input: [{ content: [{ text: 'hi' }] }] } }),
    ],
  },

  haystack_prog: {
    nodes: ['svc-haystack_prog'],
    runs: [
      run('svc-haystack_prog', {
        tokens: tokens(540, 120, 3),
        cost: priced(138_600),
        tools: [WEATHER, ADD],
        question: TWO_TOOLS,
        answer: BERLIN,
      }),
      // A stream, without usage. Its callback makes the input printed Python.
      run('svc-haystack_prog', {
        tools: [weather('Paris')],
        question: 'weather in Paris?',
        answer: PARIS,
      }),
      run('svc-haystack_prog', {
        tokens: tokens(320, 75, 2),
        cost: priced(83_400),
        tools: [
          broken({
            error:
              "Failed to invoke Tool `broken_tool` with parameters {'city': 'Berlin'}. Error: tool exploded",
          }),
        ],
        question: 'use BROKEN',
        answer: BERLIN,
      }),
      failed('svc-haystack_prog', `openai.RateLimitError: ${LIMITED}`, { question: 'FAIL429' }),
      // An embedding and a chat.
      run('svc-haystack_prog', {
        tokens: { ...tokens(120, 30, 1), input: 128 },
        cost: priced(31_360),
        tools: [['retriever', { top_k: null }, { documents: [{ content: /Berlin is sunny/ }] }]],
        question: { embedder: { text: 'How is Berlin?' } },
        answer: BERLIN,
      }),
      run('svc-haystack_prog', {
        tokens: tokens(280, 75, 2),
        cost: priced(77_400),
        tools: [weather('Rome')],
        question: { assistant: { messages: [{ content: [{ text: 'weather in Rome?' }] }] } },
        answer: ROME,
      }),
    ],
  },

  livekit_prog: {
    nodes: ['weather'],
    runs: [
      // One session of four turns, the last of which failed.
      run('weather', {
        session: 'lk-sess',
        user: 'lk-user',
        tokens: tokens(1820, 270, 7),
        cost: priced(401_400),
        tools: [WEATHER, ADD, weather('Paris'), broken('An internal error occurred')],
        question: { value: TWO_TOOLS },
        answer: BERLIN,
      }),
    ],
  },

  lmnr_js: {
    nodes: ['stream_lmnrjs', 'weather_lmnrjs'],
    runs: [
      run('weather_lmnrjs', {
        ...LAMINAR,
        tokens: { input: 480, output: 120 },
        cost: priced(144_000),
        tools: [WEATHER, ADD],
        question: { value: [TWO_TOOLS] },
        answer: BERLIN,
      }),
      run('weather_lmnrjs', {
        ...LAMINAR,
        tokens: { input: 280, output: 75 },
        cost: priced(87_000),
        tools: [broken()],
        question: { value: ['use BROKEN'] },
        answer: BERLIN,
      }),
      failed('weather_lmnrjs', 'rate_limit_exceeded: 429 Rate limit reached for gpt-4o-mini', {
        ...LAMINAR,
        question: { value: ['FAIL429'] },
      }),
      run('stream_lmnrjs', { question: 'weather in Paris?', answer: PARIS }),
    ],
  },

  mastra_js: {
    nodes: ['Weather Mastra', 'weather-flow'],
    runs: [
      run('Weather Mastra', {
        ...MASTRA,
        tokens: tokens(540, 120, 3),
        cost: priced(138_600),
        tools: [WEATHER, ['add', { a: 2, b: 3 }, { sum: 5 }]],
        question: { value: TWO_TOOLS },
        answer: BERLIN,
      }),
      run('Weather Mastra', {
        ...MASTRA,
        tokens: tokens(320, 75, 2),
        cost: priced(83_400),
        tools: [broken()],
        question: { value: 'use BROKEN' },
        answer: BERLIN,
      }),
      failed('Weather Mastra', 'Error: The server had an error', {
        ...MASTRA,
        question: { value: 'FAIL400' },
      }),
      run('Weather Mastra', {
        ...MASTRA,
        tokens: tokens(320, 75, 2),
        cost: priced(83_400),
        tools: [weather('Rome')],
        question: { value: 'weather in Rome?' },
        answer: ROME,
      }),
      run('weather-flow', {
        tokens: tokens(320, 75, 2),
        cost: priced(83_400),
        tools: [weather('Oslo')],
        question: { q: 'weather in Oslo?' },
        answer: 'It is sunny in Oslo, 21 degrees.',
      }),
    ],
  },

  // It does not report reasoning tokens.
  mlflow_prog2: {
    nodes: ['svc-mlflow', 'weather_mlf'],
    runs: [
      run('weather_mlf', {
        tokens: { input: 480, cachedRead: 192, output: 120 },
        cost: priced(129_600),
        tools: [WEATHER, ADD],
        question: { q: TWO_TOOLS },
        answer: BERLIN,
      }),
      run('weather_mlf', {
        tokens: { input: 120, cachedRead: 64, output: 30 },
        cost: priced(31_200),
        tools: [
          [
            'search_docs',
            { query: 'see docs' },
            [{ page_content: 'Berlin is sunny', metadata: { doc_uri: 'a' } }],
          ],
        ],
        question: { q: 'see docs' },
        answer: BERLIN,
      }),
      run('weather_mlf', {
        tokens: { input: 280, cachedRead: 128, output: 75 },
        cost: priced(77_400),
        tools: [broken()],
        question: { q: 'use BROKEN' },
        answer: BERLIN,
      }),
      failed('weather_mlf', `RateLimitError: ${LIMITED}`, { question: { q: 'FAIL429' } }),
      run('svc-mlflow', {
        tokens: { input: 120, cachedRead: 64, output: 30 },
        cost: priced(31_200),
        question: 'weather in Paris?',
        answer: PARIS,
      }),
      run('svc-mlflow', {
        tokens: { input: 120, cachedRead: 44, cachedWrite: 20, output: 30 },
        cost: priced(706_200),
        question: 'weather in Rome?',
        answer: ROME,
      }),
      run('svc-mlflow', {
        tokens: { input: 120, cachedRead: 64, output: 30 },
        cost: priced(75_600),
        question: 'weather in Bern?',
        answer: 'It is sunny in Bern, 21 degrees.',
      }),
      run('svc-mlflow', {
        tokens: { input: 8, output: 0 },
        cost: priced(160),
        question: { model: 'text-embedding-3-small', input: ['hi'] },
      }),
    ],
  },

  // Its usage adds up the rounds of a conversation, streams have none, and it sends no messages.
  springai: {
    nodes: ['127.0.0.1', 'simple', 'svc-springai', 'weather_springai'],
    runs: [
      run('svc-springai', { tokens: { input: 8, output: 0 }, cost: priced(160) }),
      run('svc-springai', { tokens: { input: 16, output: 0 }, cost: priced(320) }),
      run('svc-springai', {
        session: 'sp-sess',
        tokens: { input: 1000, output: 255 },
        cost: priced(303_000),
        tools: [WEATHER, ADD],
      }),
      run('svc-springai', {
        session: 'sp-sess',
        tokens: { input: 580, output: 120 },
        cost: priced(159_000),
        tools: [broken('tool exploded')],
      }),
      failed(
        'svc-springai',
        'org.springframework.ai.retry.NonTransientAiException: HTTP 400 - {"error":{"message":"The server had an error","type":"server_error","code":null}}',
        { session: 'sp-sess' },
      ),
      run('svc-springai', { tokens: { input: 148, output: 30 }, cost: priced(39_160) }),
      run('svc-springai', { tokens: { input: 0, output: 0 }, cost: priced(0) }),
      run('svc-springai', { tools: [weather('Rome')] }),
      run('weather_springai', {
        session: 'sp-sess',
        tokens: { input: 760, output: 120 },
        cost: priced(186_000),
        tools: [weather('Paris')],
      }),
    ],
  },
};
