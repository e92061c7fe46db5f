import { run, type Recording } from './recording.js';

const TWITTER = 'What is currently trending on Twitter?';
const LANGFUSE = 'What is Langfuse?';

/** Recorded runs of public programs: `../shared/data/otlp-traces`. */
export const PUBLIC_TRACES: Readonly<Record<string, Recording>> = {
  'agno-2025-06-11': {
    // An unnamed agent in an unnamed program.
    nodes: ['Agent.run'],
    runs: [
      run('Agent.run', {
        session: '35cc6c90-b657-4819-b66c-c931c03ad569',
        // Two calls: 163 and 20, 663 and 225 tokens. A second instrumentation reports them again.
        tokens: { input: 826, output: 245 },
        cost: [270_900e-9, 'priced'],
        tools: [['duckduckgo_search', { query: 'currently trending on Twitter' }, [{ title: /Twitter/ }]]],
        question: { message: TWITTER },
        answer: /^To find out what's currently trending on Twitter/,
      }),
    ],
  },

  'beeai-2025-08-01': {
    nodes: ['beeai-framework-main'],
    runs: [
      run('beeai-framework-main', {
        // One tool call is sent as three spans: start, output and end.
        tools: [
          ['tool.search.wikipedia.start-12', { query: 'Tourism in Barcelona', full_text: false }, null],
          ['tool.search.wikipedia.finish-12', null, null],
          [
            'tool.search.wikipedia.success-12',
            { query: 'Tourism in Barcelona', full_text: false },
            [{ description: /^Barcelona/, url: 'https://en.wikipedia.org/wiki/Barcelona' }],
          ],
        ],
        question: { value: /^I'm planning a trip to Barcelona/ },
        answer: /Barcelona is a vibrant city/,
      }),
    ],
  },

  'crewai-2025-07-11': {
    // Crew and task are unnamed.
    nodes: ['crewai-index-trace'],
    runs: [
      run('crewai-index-trace', {
        tokens: { input: 190, output: 164 },
        cost: [126_900e-9, 'priced'],
        question: { agent: /role='Software developer'/ },
        answer: /^I now can give a great answer/,
      }),
    ],
  },

  'google-gemini-2025-08-01': {
    // One call in an unnamed program.
    nodes: ['GenerateContent'],
    runs: [
      run('GenerateContent', {
        tokens: { input: 6, output: 2055, reasoning: 1104 },
        cost: [5_139_300e-9, 'priced'],
        question: LANGFUSE,
        answer: /^\*\*Langfuse\*\* is an/,
      }),
    ],
  },

  'llamaindex-2025-06-05': {
    nodes: ['llama-index-trace'],
    runs: [
      run('llama-index-trace', {
        tokens: { input: 13, output: 81 },
        cost: [842_500e-9, 'priced'],
        question: { args: [LANGFUSE] },
        answer: /^Langfuse is a tool designed/,
      }),
    ],
  },

  'openai-agents-2025-09-30': {
    nodes: ['Hello world'],
    runs: [
      run('Hello world', {
        tokens: { input: 140, output: 44 },
        cost: [632_000e-9, 'priced'],
        tools: [['get_weather', { city: 'Tokyo' }, 'The weather in Tokyo is sunny.']],
        question: "What's the weather in Tokyo?",
        answer: /^The weather in Tokyo is currently sunny/,
      }),
    ],
  },

  'pydantic-ai-2025-06-06': {
    nodes: ['qa_agent'],
    runs: [
      run('qa_agent', {
        tokens: { input: 31, output: 96 },
        cost: [1_037_500e-9, 'priced'],
        question: LANGFUSE,
        answer: /^Langfuse is a tool designed/,
      }),
    ],
  },

  'vercel-aisdk-2025-11-17': {
    // A function without an id.
    nodes: ['ai.generateText'],
    runs: [
      run('ai.generateText', {
        tokens: { input: 62, output: 85 },
        cost: [927_500e-9, 'priced'],
        tools: [
          ['getWeather', { location: 'San Francisco' }, { location: 'San Francisco', temperature: 64 }],
        ],
        question: { prompt: 'What is the weather like today in San Francisco?' },
      }),
    ],
  },
};
