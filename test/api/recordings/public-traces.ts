import { run, type Recording } from './recording.js';

const TWITTER = 'What is currently trending on Twitter?';
const LANGFUSE = 'What is Langfuse?';

/** Runs of public programs: `../shared/data/otlp-traces`. */
export const PUBLIC_TRACES: Readonly<Record<string, Recording>> = {
  'agno-2025-06-11': {
    // An agent without a name, in a program without one.
    nodes: ['Agent.run'],
    runs: [
      run('Agent.run', {
        session: '35cc6c90-b657-4819-b66c-c931c03ad569',
        // Two calls: 163 + 20 and 663 + 225. Another instrumentation tells of them once more.
        tokens: 1071,
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
        // One call of a tool is told as three spans: where it began, what came, where it ended.
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
    // Crew and task have no names.
    nodes: ['crewai-index-trace'],
    runs: [
      run('crewai-index-trace', {
        tokens: 354,
        question: { agent: /role='Software developer'/ },
        answer: /^I now can give a great answer/,
      }),
    ],
  },

  'google-gemini-2025-08-01': {
    // One call, in a program without a name.
    nodes: ['GenerateContent'],
    runs: [
      run('GenerateContent', {
        tokens: 2061,
        question: LANGFUSE,
        answer: /^\*\*Langfuse\*\* is an/,
      }),
    ],
  },

  'llamaindex-2025-06-05': {
    nodes: ['llama-index-trace'],
    runs: [
      run('llama-index-trace', {
        tokens: 94,
        question: { args: [LANGFUSE] },
        answer: /^Langfuse is a tool designed/,
      }),
    ],
  },

  'openai-agents-2025-09-30': {
    nodes: ['Hello world'],
    runs: [
      run('Hello world', {
        tokens: 184,
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
        tokens: 127,
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
        tokens: 147,
        tools: [
          ['getWeather', { location: 'San Francisco' }, { location: 'San Francisco', temperature: 64 }],
        ],
        question: { prompt: 'What is the weather like today in San Francisco?' },
      }),
    ],
  },
};
