import {
  calls,
  failed,
  GET_WEATHER,
  plainCalls,
  priced,
  pricedPlain,
  run,
  SUNNY,
  type Recording,
} from './recording.js';

const LANGFUSE = { session: 'lf-sess', user: 'lf-user', tags: ['a', 'b'] };
const LITELLM_CALL = { tokens: calls(1), cost: [40_200e-9, 'reported'] } as const;
const SERVER_ERROR =
  "Error code: 500 - {'error': {'message': 'The server had an error', 'type': 'server_error', 'code': 'server_error'}}";
const LANGCHAIN = { session: 'lc-sess', user: 'lc-user' };
const LANGCHAIN_ERROR = 'langchain_openai.chat_models.base.OpenAIAPIError';
const VERCEL = { session: 'v-sess', user: 'v-user', tags: ['x'] };
/** OpenLIT does not report reasoning tokens of chat completions. */
const openlitCalls = (count: number) => ({ input: 120 * count, cachedRead: 64 * count, output: 45 * count });

/** Libraries that call models, and libraries that report the calls. */
export const LIBRARIES: Readonly<Record<string, Recording>> = {
  langfuse_prog: {
    nodes: ['svc-langfuse_prog', 'weather-agent'],
    ran: ['staging', 'r1'],
    runs: [
      run('weather-agent', {
        ...LANGFUSE,
        tokens: calls(2),
        cost: priced(2),
        tools: [['search', ['weather in Berlin?'], ['doc1']], GET_WEATHER],
        question: { args: ['weather in Berlin?'] },
        answer: SUNNY,
      }),
      run('svc-langfuse_prog', {
        ...LANGFUSE,
        tokens: { input: 10, cachedRead: 4, output: 5 },
        cost: [0.03, 'reported'],
        question: 'x',
        answer: 'y',
      }),
      failed('svc-langfuse_prog', 'boom', { ...LANGFUSE, question: { args: [], kwargs: {} } }),
      failed('svc-langfuse_prog', 'Error code: 500 - The server had an error', {
        ...LANGFUSE,
        cost: [0, 'reported'],
        question: 'FAIL500',
      }),
      // A guardrail that warns.
      run('svc-langfuse_prog', LANGFUSE),
    ],
  },

  litellm_prog: {
    nodes: ['svc-litellm_prog'],
    ran: ['production', null],
    runs: [
      // The answer is a tool call.
      run('svc-litellm_prog', { ...LITELLM_CALL, user: 'end-user-1', question: 'weather?' }),
      run('svc-litellm_prog', { ...LITELLM_CALL, question: 'hi', answer: SUNNY }),
      failed(
        'svc-litellm_prog',
        "litellm.exceptions.BadRequestError: litellm.BadRequestError: OpenAIException - Invalid 'messages'",
        { question: 'FAIL400' },
      ),
    ],
  },

  // Messages arrive in log records.
  oaiv2: {
    nodes: ['svc-oaiv2'],
    runs: [
      // The answer is a tool call.
      run('svc-oaiv2', { tokens: plainCalls(1), cost: pricedPlain(1), question: 'weather?' }),
      run('svc-oaiv2', { tokens: plainCalls(1), cost: pricedPlain(1), question: 'hi', answer: SUNNY }),
      failed('svc-oaiv2', SERVER_ERROR, { question: 'FAIL500' }),
    ],
  },

  oi_langchain: {
    nodes: ['svc-oi_langchain', 'translate', 'weather_bot'],
    runs: [
      run('weather_bot', {
        ...LANGCHAIN,
        tokens: calls(2),
        cost: priced(2),
        tools: [['get_weather', 'Berlin', 'sunny in Berlin']],
        question: 'weather in Berlin?',
        answer: SUNNY,
      }),
      run('weather_bot', {
        ...LANGCHAIN,
        tokens: calls(1),
        cost: priced(1),
        question: 'hello again',
        answer: SUNNY,
      }),
      failed('weather_bot', 'ValueError: tool exploded', {
        ...LANGCHAIN,
        tokens: calls(1),
        cost: priced(1),
        tools: [['broken', 'Berlin', null]],
        question: 'usetool:broken',
      }),
      failed('weather_bot', `${LANGCHAIN_ERROR}: Error code: 500 - The server had an error`, {
        session: 't-2',
        question: 'FAIL500',
      }),
      run('translate', {
        session: 'thread-9',
        tokens: calls(1),
        cost: priced(1),
        question: { lang: 'German', q: 'hi' },
        answer: SUNNY,
      }),
      // A fictitious model without tokens, called by the program itself.
      run('svc-oi_langchain', { session: 'thread-9', question: 'hi', answer: 'fake' }),
    ],
  },

  openlit_prog: {
    nodes: ['127.0.0.1', 'openlit-app', 'translate', 'weather_bot'],
    ran: ['test', null],
    runs: [
      run('openlit-app', {
        tokens: openlitCalls(2),
        cost: priced(2),
        question: 'weather?',
        answer: 'done',
      }),
      // The input is sent only with a response.
      failed('openlit-app', `openai.InternalServerError: ${SERVER_ERROR}`),
      // Responses: 56 at 0.25, 64 at 0.025 and 45 at 2 USD per million.
      run('openlit-app', {
        tokens: calls(1),
        cost: [105_600e-9, 'priced'],
        question: 'hello',
        answer: SUNNY,
      }),
      // Anthropic: 56 at 3, 44 read at 0.30, 20 written at 3.75 and 45 at 15 USD per million.
      run('openlit-app', {
        tokens: { input: 120, cachedRead: 44, cachedWrite: 20, output: 45 },
        cost: [931_200e-9, 'priced'],
        question: 'x',
        answer: SUNNY,
      }),
      run('weather_bot', { kind: 'other' }),
      run('weather_bot', {
        session: 't-1',
        tokens: openlitCalls(2),
        cost: priced(2),
        tools: [GET_WEATHER],
        question: 'weather in Berlin?',
        answer: SUNNY,
      }),
      run('weather_bot', {
        session: 't-1',
        tokens: openlitCalls(1),
        cost: priced(1),
        question: 'hello again',
        answer: SUNNY,
      }),
      failed('weather_bot', 'ValueError: tool exploded', {
        session: 't-1',
        tokens: openlitCalls(1),
        cost: priced(1),
        tools: [['broken', { city: 'Berlin' }, null]],
        question: 'usetool:broken',
      }),
      failed('weather_bot', `${LANGCHAIN_ERROR}: ${SERVER_ERROR}`, { session: 't-2' }),
      run('translate', {
        tokens: openlitCalls(1),
        cost: priced(1),
        question: { lang: 'German', q: 'hi' },
        answer: SUNNY,
      }),
      // The price is unknown; the client sends 0 for all models.
      run('openlit-app', {
        tokens: { input: 5, output: 2 },
        question: 'hi',
        answer: 'fake',
      }),
    ],
  },

  otel_basic: {
    nodes: ['payments', 'postgresql/shop', 'svc-otel_basic'],
    runs: [run('svc-otel_basic', { kind: 'other', session: 'sess-1', user: 'u-1' })],
  },

  vercel_v4: {
    nodes: ['bad-fn', 'embed-fn', 'fail-fn', 'stream-fn', 'weather-fn'],
    runs: [
      run('weather-fn', {
        ...VERCEL,
        tokens: calls(2),
        cost: priced(2),
        tools: [GET_WEATHER],
        question: 'weather in Berlin?',
        answer: SUNNY,
      }),
      run('stream-fn', { ...VERCEL, tokens: calls(1), cost: priced(1), question: 'hello', answer: SUNNY }),
      failed('bad-fn', 'AI_ToolExecutionError: Error executing tool broken: tool exploded', {
        ...VERCEL,
        tokens: calls(1),
        cost: priced(1),
        tools: [['broken', { city: 'Berlin' }, null]],
        question: 'tool usetool:broken',
      }),
      failed('fail-fn', 'AI_APICallError: The server had an error', { ...VERCEL, question: 'FAIL500' }),
      // 5 at 0.02 USD per million.
      run('embed-fn', {
        ...VERCEL,
        tokens: { input: 5, output: 0 },
        cost: [100e-9, 'priced'],
        question: { value: 'x' },
      }),
    ],
  },
};
