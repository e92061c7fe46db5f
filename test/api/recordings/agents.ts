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

const ADK_SESSION = 'adb405bf-d6e5-4073-ae19-ffbd6eb508a6';
const BAD_REQUEST =
  "{'error': {'message': \"Invalid 'messages'\", 'type': 'invalid_request_error', 'code': 'bad'}}";
/** 56 at 0.30, 64 at 0.03 and 45 at 2.50 USD per million tokens of gemini-2.5-flash. */
const GEMINI_CALL = 131_220e-9;

/** A message between AutoGen actors, or the creation of an actor. */
const MESSAGE = run('svc-autogen_prog', { kind: 'other' });
const STRANDS = { session: 'st-sess', user: 'st-user', tags: ['x'] };
/** Strands does not report reasoning tokens. */
const strandsCalls = (count: number) => ({ input: 120 * count, cachedRead: 64 * count, output: 45 * count });
const FINAL = { answer: 'the answer is 42' };
const FINAL_ANSWER = ['final_answer', FINAL, 'the answer is 42'] as const;

/** Agent frameworks. */
export const AGENTS: Readonly<Record<string, Recording>> = {
  adk_v1: {
    nodes: ['weather_adk'],
    runs: [
      run('weather_adk', {
        session: ADK_SESSION,
        tokens: calls(2),
        cost: [2 * GEMINI_CALL, 'priced'],
        tools: [['get_weather', { city: 'Berlin' }, { weather: 'sunny in Berlin' }]],
        question: 'weather in Berlin?',
        answer: SUNNY,
      }),
      run('weather_adk', {
        session: ADK_SESSION,
        tokens: calls(1),
        cost: [GEMINI_CALL, 'priced'],
        question: 'hello',
        answer: SUNNY,
      }),
      run('weather_adk', {
        session: ADK_SESSION,
        tokens: calls(1),
        cost: [GEMINI_CALL, 'priced'],
        question: 'tool usetool:broken',
        answer: SUNNY,
      }),
      // ADK sets attributes only on successful calls, so session and question are missing.
      failed('weather_adk', `google.genai.errors.ClientError: 400 None. ${BAD_REQUEST}`),
    ],
  },

  // Only actors are reported, without messages or model calls.
  autogen_prog: {
    nodes: ['svc-autogen_prog', 'weather', 'writer'],
    runs: [
      run('weather', { kind: 'other' }),
      run('writer', { kind: 'other' }),
      ...Array.from({ length: 4 }, () => MESSAGE),
      run('weather', { tools: [['get_weather', null, null]] }),
      ...Array.from({ length: 5 }, () => MESSAGE),
      run('writer'),
      MESSAGE,
      MESSAGE,
      run('weather'),
      MESSAGE,
      MESSAGE,
      run('writer'),
      MESSAGE,
      MESSAGE,
      run('weather'),
      MESSAGE,
      MESSAGE,
      MESSAGE,
    ],
  },

  oi_agents: {
    nodes: ['Customer support', 'Triage agent', 'Weather agent'],
    runs: [
      run('Customer support', {
        tokens: calls(4),
        cost: priced(4),
        tools: [['handoff to Weather agent', 'Triage agent', 'Weather agent'], GET_WEATHER],
        question: 'handoff please: weather in Berlin',
        answer: SUNNY,
      }),
      // The workflow reports OK.
      failed('Weather agent', "Error in agent run: {'error': \"Error code: 400 - Invalid 'messages'\"}"),
    ],
  },

  oi_smol: {
    nodes: ['boss', 'weather_agent'],
    runs: [
      run('weather_agent', {
        tokens: plainCalls(2),
        cost: pricedPlain(2),
        tools: [GET_WEATHER, FINAL_ANSWER],
        question: { task: 'weather in Berlin?' },
        answer: 'the answer is 42',
      }),
      run('boss', {
        tokens: plainCalls(10),
        cost: pricedPlain(10),
        tools: [GET_WEATHER, FINAL_ANSWER, GET_WEATHER, FINAL_ANSWER, GET_WEATHER, FINAL_ANSWER],
        question: { task: 'tool usetool:weather_agent' },
        answer: SUNNY,
      }),
    ],
  },

  strands_prog: {
    nodes: ['weather-strand'],
    runs: [
      run('weather-strand', {
        ...STRANDS,
        tokens: strandsCalls(2),
        cost: priced(2),
        tools: [GET_WEATHER],
        question: 'weather in Berlin?',
        answer: SUNNY,
      }),
      run('weather-strand', {
        ...STRANDS,
        tokens: strandsCalls(1),
        cost: priced(1),
        question: 'hello',
        answer: SUNNY,
      }),
      // The tool failed and the agent continued.
      run('weather-strand', {
        ...STRANDS,
        tokens: strandsCalls(2),
        cost: priced(2),
        tools: [['broken', { city: 'Berlin' }, 'Error: tool exploded']],
        question: 'tool usetool:broken',
        answer: SUNNY,
      }),
      failed('weather-strand', `openai.BadRequestError: Error code: 400 - ${BAD_REQUEST}`, {
        ...STRANDS,
        question: 'FAIL400',
      }),
    ],
  },

  tl_agents: {
    nodes: ['Triage agent', 'Weather agent'],
    runs: [
      // The name of the workflow is not sent.
      run('Triage agent', {
        tokens: calls(4),
        cost: priced(4),
        tools: [GET_WEATHER],
        question: 'handoff please: weather in Berlin',
        answer: SUNNY,
      }),
      failed(
        'Weather agent',
        "{'message': 'Error in agent run', 'data': {'error': 'Error code: 400 - {\\'error\\': {\\'message\\': \"Invalid \\'messages\\'\", \\'type\\': \\'invalid_request_error\\', \\'code\\': \\'bad\\'}}'}}",
      ),
    ],
  },
};
