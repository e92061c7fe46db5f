import type { SpanType } from '../../../src/signal/span.js';

/** Expected API result of a recorded file, written by reading the file. */
export interface ExpectedRun {
  readonly agent: string;
  readonly durationMs: number;
  /** Total of the run; null if no span reports any. */
  readonly tokens: number | null;
  /** Root span. */
  readonly root: ExpectedSpan;
}

export interface ExpectedSpan {
  readonly name: string;
  readonly type: SpanType;
  readonly model: string | null;
  /** Input, output and total. */
  readonly tokens: readonly [input: number | null, output: number | null, total: number | null];
  /** Patterns that the payloads must contain; null if there are none. */
  readonly input: object | null;
  readonly output: object | null;
  /** Sorted by start, then id. */
  readonly children: readonly ExpectedSpan[];
}

type ExpectedFields = Partial<Omit<ExpectedSpan, 'name' | 'type' | 'children'>>;

function span(
  type: SpanType,
  name: string,
  fields: ExpectedFields = {},
  ...children: ExpectedSpan[]
): ExpectedSpan {
  return {
    name,
    type,
    model: null,
    tokens: [null, null, null],
    input: null,
    output: null,
    ...fields,
    children,
  };
}

const systemAndUser = (system: RegExp, user: RegExp) => [
  { role: 'system', content: system },
  { role: 'user', content: user },
];

const TRIP = /I'm planning a trip to Barcelona/;
const BEEAI_SYSTEM = /^# Available functions\nYou can only use/;
const REACT_PROMPT = { messages: [{ content: BEEAI_SYSTEM }, { content: TRIP }] };
const WIKIPEDIA = /^Barcelona/;
const ARTICLES = [{ description: WIKIPEDIA, url: 'https://en.wikipedia.org/wiki/Barcelona' }];
const WEATHER = { latitude: 41.4375, timezone: 'GMT' };
const CALLS_WEATHER = [
  { role: 'assistant', tool_calls: [{ name: 'getWeather', arguments: { location: 'San Francisco' } }] },
];
const GPT_4O_MINI = 'gpt-4o-mini';
const TEMPERATURE = { temperature: 0.7 };

export const EXPECTED: Readonly<Record<string, ExpectedRun>> = {
  'agno-2025-06-11.otlp.json': {
    // No agent name and an unknown service: the root span names the run.
    agent: 'Agent.run',
    durationMs: 6991,
    tokens: 183 + 888,
    root: span(
      'agent',
      'Agent.run',
      {
        input: { message: 'What is currently trending on Twitter?' },
        output: { content: /^To find out what's currently trending/ },
      },
      span(
        'llm',
        'OpenAIChat.invoke',
        {
          model: GPT_4O_MINI,
          // Tokens come from the provider response in the span, not from the instrumentation.
          tokens: [163, 20, 183],
          input: {
            messages: systemAndUser(/Use markdown/, /^What is currently trending on Twitter\?$/),
            tools: [
              { type: 'function', function: { name: 'duckduckgo_search' } },
              { type: 'function', function: { name: 'duckduckgo_news' } },
            ],
          },
          output: {
            messages: [{ tool_calls: [{ name: 'duckduckgo_search' }], finish_reason: 'tool_calls' }],
          },
        },
        // The call of a second instrumentation; the attribute that marks it as a model call was lost in the recording.
        span('custom', 'chat gpt-4o-mini', {
          input: { value: /^developer: <additional_information>/ },
          output: { value: 'None' },
        }),
      ),
      span('tool', 'duckduckgo_search', {
        input: { arguments: { query: 'currently trending on Twitter' } },
        output: { result: [{ title: "Twitter. It's what's happening / Twitter" }] },
      }),
      span(
        'llm',
        'OpenAIChat.invoke',
        {
          model: GPT_4O_MINI,
          tokens: [663, 225, 888],
          input: {
            // The message between these had no content and was not sent.
            messages: [
              ...systemAndUser(/Use markdown/, /^What is currently trending on Twitter\?$/),
              { role: 'tool', content: /Explore trending topics/ },
            ],
          },
          output: { messages: [{ content: /^To find out/, finish_reason: 'stop' }] },
        },
        span('custom', 'chat gpt-4o-mini', {
          input: { value: /^developer: <additional_information>/ },
          output: { value: /^To find out what's currently trending/ },
        }),
      ),
    ),
  },

  'beeai-2025-08-01.otlp.json': {
    agent: 'beeai-framework-main',
    durationMs: 17_173,
    tokens: null,
    root: span(
      'agent',
      'beeai-framework-main',
      { input: { value: TRIP }, output: { value: /^\{'role': 'assistant'/ } },
      span(
        'custom',
        'iteration-1',
        {},
        span(
          'agent',
          'agent.react.start-4',
          {
            input: {
              ...REACT_PROMPT,
              tools: [{ 'tool.name': 'Wikipedia' }, { 'tool.name': 'OpenMeteoTool' }],
            },
          },
          span('llm', 'backend.openai.chat.start-14', {
            model: GPT_4O_MINI,
            input: { messages: systemAndUser(BEEAI_SYSTEM, TRIP), parameters: TEMPERATURE },
          }),
        ),
        span('agent', 'agent.react.update-11'),
        span('agent', 'agent.react.update-12'),
        span(
          'agent',
          'agent.react.update-13',
          {},
          span('tool', 'tool.search.wikipedia.start-12', {
            input: { arguments: { query: 'Tourism in Barcelona', full_text: false } },
          }),
          span('tool', 'tool.search.wikipedia.finish-12'),
          span('tool', 'tool.search.wikipedia.success-12', {
            input: { arguments: { query: 'Tourism in Barcelona', full_text: false } },
            output: { result: ARTICLES },
          }),
        ),
        span('agent', 'agent.react.update-14', { output: { value: ARTICLES } }),
        span('agent', 'agent.react.partial_update-263', { output: { value: ARTICLES } }),
      ),
      span(
        'custom',
        'iteration-2',
        {},
        span(
          'agent',
          'agent.react.start-5',
          { input: REACT_PROMPT },
          span('llm', 'backend.openai.chat.start-15', {
            model: GPT_4O_MINI,
            input: {
              messages: [
                ...systemAndUser(BEEAI_SYSTEM, TRIP),
                { role: 'assistant', content: /^Thought: I will first research/ },
              ],
              parameters: TEMPERATURE,
            },
          }),
        ),
        span('agent', 'agent.react.update-15'),
        span('agent', 'agent.react.update-16'),
        span('agent', 'agent.react.update-17'),
        span('agent', 'agent.react.partial_update-318', { output: WEATHER }),
        span('agent', 'agent.react.update-18', { output: WEATHER }),
      ),
      span(
        'custom',
        'iteration-3',
        {},
        span(
          'agent',
          'agent.react.start-6',
          { input: REACT_PROMPT },
          span('llm', 'backend.openai.chat.start-16', {
            model: GPT_4O_MINI,
            input: {
              messages: [
                ...systemAndUser(BEEAI_SYSTEM, TRIP),
                { role: 'assistant', content: /Function Name: Wikipedia/ },
                { role: 'assistant', content: /Function Name: OpenMeteoTool/ },
              ],
              parameters: TEMPERATURE,
            },
          }),
        ),
        span('agent', 'agent.react.update-19'),
        span(
          'agent',
          'agent.react.partial_update-610',
          {},
          span('llm', 'backend.openai.chat.success-16', {
            model: GPT_4O_MINI,
            // The last 62 chunks of a stream: the SDK keeps 128 attributes per span and dropped earlier ones.
            output: {
              messages: [
                { role: 'assistant', content: '.' },
                { role: 'assistant', content: ' **' },
              ],
            },
          }),
          span('llm', 'backend.openai.chat.finish-16', { model: GPT_4O_MINI }),
        ),
        span('agent', 'agent.react.update-20', { output: { value: /^Barcelona is a vibrant city/ } }),
        span('agent', 'agent.react.success-2', {
          input: REACT_PROMPT,
          output: { messages: [{ role: 'assistant', content: /^Barcelona is a vibrant city/ }] },
        }),
      ),
    ),
  },

  'crewai-2025-07-11.otlp.json': {
    agent: 'crewai-index-trace',
    durationMs: 3750,
    tokens: 354,
    root: span(
      'agent',
      'crewai-index-trace',
      {},
      span(
        'custom',
        'Crew.kickoff',
        { output: { raw: /<!DOCTYPE html>/, token_usage: { total_tokens: 354 } } },
        span('custom', 'Crew Created'),
        span(
          'agent',
          'Task._execute_core',
          {
            input: { agent: /role='Software developer'/, context: '', tools: [] },
            output: { agent: 'Software developer', raw: /<!DOCTYPE html>/ },
          },
          span('custom', 'Task Created'),
          span('llm', 'completion', {
            model: GPT_4O_MINI,
            tokens: [190, 164, 354],
            input: {
              messages: systemAndUser(/^You are Software developer/, /Current Task: Define the HTML/),
              parameters: { model: GPT_4O_MINI, stop: ['\nObservation:'], stream: false },
            },
            output: { messages: [{ role: 'assistant', content: /^I now can give a great answer/ }] },
          }),
        ),
      ),
    ),
  },

  'google-gemini-2025-08-01.otlp.json': {
    agent: 'GenerateContent',
    durationMs: 12_032,
    tokens: 2061,
    root: span('llm', 'GenerateContent', {
      model: 'gemini-2.5-flash',
      // 1104 of the 2055 are for reasoning.
      tokens: [6, 2055, 2061],
      input: { messages: [{ role: 'user', content: 'What is Langfuse?' }] },
      output: { messages: [{ role: 'assistant', content: /^\*\*Langfuse\*\* is an/ }] },
    }),
  },

  'llamaindex-2025-06-05.otlp.json': {
    agent: 'llama-index-trace',
    durationMs: 2779,
    tokens: 94,
    root: span(
      'agent',
      'llama-index-trace',
      {},
      span('llm', 'OpenAI.complete', {
        model: 'gpt-4o',
        tokens: [13, 81, 94],
        input: { args: ['What is Langfuse?'] },
        output: { value: /^Langfuse is a tool designed/ },
      }),
    ),
  },

  'openai-agents-2025-09-30.otlp.json': {
    agent: 'Hello world',
    durationMs: 2190,
    tokens: 70 + 114,
    root: span(
      'agent',
      'Agent workflow',
      {},
      span(
        'agent',
        'Hello world',
        {},
        span('llm', 'response', {
          model: 'gpt-4.1-2025-04-14',
          tokens: [55, 15, 70],
          input: {
            messages: systemAndUser(/^You are a helpful agent\.$/, /^What's the weather in Tokyo\?$/),
            tools: [{ type: 'function', function: { name: 'get_weather' } }],
            parameters: { temperature: 1, tool_choice: 'auto' },
          },
          output: {
            messages: [
              {
                role: 'assistant',
                tool_calls: [
                  {
                    id: 'call_Kud0j0DxWSmLzv9W5m6qVqXn',
                    name: 'get_weather',
                    arguments: { city: 'Tokyo' },
                  },
                ],
              },
            ],
          },
        }),
        span('tool', 'get_weather', {
          input: { arguments: { city: 'Tokyo' } },
          output: { result: 'The weather in Tokyo is sunny.' },
        }),
        span('llm', 'response', {
          model: 'gpt-4.1-2025-04-14',
          tokens: [85, 29, 114],
          input: {
            messages: [
              ...systemAndUser(/^You are a helpful agent\.$/, /^What's the weather in Tokyo\?$/),
              { role: 'assistant', tool_calls: [{ name: 'get_weather', arguments: { city: 'Tokyo' } }] },
              { role: 'tool', tool_call_id: 'call_Kud0j0DxWSmLzv9W5m6qVqXn', content: /sunny/ },
            ],
          },
          output: {
            messages: [{ role: 'assistant', content: /currently sunny/ }],
          },
        }),
      ),
    ),
  },

  'pydantic-ai-2025-06-06.otlp.json': {
    agent: 'qa_agent',
    durationMs: 4795,
    // The agent span repeats the tokens of its model call; they count once.
    tokens: 31 + 96,
    root: span(
      'agent',
      'pydantic-ai-qa-trace',
      {},
      span(
        'agent',
        'qa_agent run',
        {
          tokens: [31, 96, 127],
          input: { messages: systemAndUser(/^You are a helpful assistant/, /^What is Langfuse\?$/) },
          output: { messages: [{ role: 'assistant', content: /^Langfuse is a tool designed/ }] },
        },
        span('llm', 'chat gpt-4o', {
          model: 'gpt-4o-2024-08-06',
          tokens: [31, 96, 127],
          input: { messages: systemAndUser(/^You are a helpful assistant/, /^What is Langfuse\?$/) },
          output: { messages: [{ role: 'assistant', content: /^Langfuse is a tool designed/ }] },
        }),
      ),
    ),
  },

  'vercel-aisdk-2025-11-17.otlp.json': {
    agent: 'ai.generateText',
    durationMs: 3045,
    tokens: 62 + 85,
    root: span(
      'agent',
      'ai.generateText',
      {
        tokens: [62, 85, 147],
        input: { prompt: 'What is the weather like today in San Francisco?' },
        output: { messages: CALLS_WEATHER, finish_reasons: ['tool-calls'] },
      },
      span('llm', 'ai.generateText.doGenerate', {
        model: 'gpt-5-2025-08-07',
        tokens: [62, 85, 147],
        input: {
          messages: [{ role: 'user', content: 'What is the weather like today in San Francisco?' }],
          tools: [{ type: 'function', name: 'getWeather', inputSchema: { required: ['location'] } }],
        },
        output: { messages: CALLS_WEATHER, finish_reasons: ['tool-calls'] },
      }),
      span('tool', 'getWeather', {
        input: { arguments: { location: 'San Francisco' } },
        output: { result: { location: 'San Francisco', temperature: 64 } },
      }),
    ),
  },
};
