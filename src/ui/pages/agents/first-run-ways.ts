/** Ways to send the first run, by the name of their tab. */
export interface Way {
  readonly about: string;
  readonly code: string;
}

interface Place {
  /** Of the pages, with a slash at the end. */
  readonly base: string;
  /** Of OTLP over HTTP. */
  readonly otlp: string;
  /** An API key, or the name of a variable. */
  readonly key: string;
  /** In milliseconds. */
  readonly now: number;
}

const RECORD_CONTENT =
  'export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true # record prompts and answers';
const NODE_REGISTER = 'node --require @opentelemetry/auto-instrumentations-node/register agent.js';

/** Commands that send runs to a daemon, complete with addresses. */
export function firstRunWays(place: Place): Readonly<Record<string, Way>> {
  const { otlp, key } = place;
  const header = `export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20${key}"`;
  const variables = [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${otlp}`,
    'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    header,
    'export OTEL_SERVICE_NAME=my-agent',
  ];
  const python = (packages: string): string =>
    [
      ...variables,
      'pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-http',
      `pip install ${packages}`,
      'opentelemetry-instrument python agent.py',
    ].join('\n');
  return {
    Python: {
      about: 'A program with the OpenAI client. Other clients have instrumentations of their own.',
      code: python('openai openinference-instrumentation-openai'),
    },
    TypeScript: {
      about: 'A program for Node.js with the OpenAI client.',
      code: [
        ...variables,
        'npm install openai @opentelemetry/auto-instrumentations-node',
        RECORD_CONTENT,
        NODE_REGISTER,
      ].join('\n'),
    },
    LangChain: {
      about: 'A Python program with LangChain or LangGraph.',
      code: python('langchain openinference-instrumentation-langchain'),
    },
    'OpenAI Agents': {
      about: 'A Python program with the OpenAI Agents SDK.',
      code: python('openai-agents openinference-instrumentation-openai-agents'),
    },
    'Vercel AI': {
      about:
        'A program for Node.js with the AI SDK. In the program: generateText({ …, experimental_telemetry: { isEnabled: true } }).',
      code: [...variables, 'npm install ai @opentelemetry/auto-instrumentations-node', NODE_REGISTER].join(
        '\n',
      ),
    },
    'Claude Code': {
      about: 'Then start claude in the same shell.',
      code: [
        'export CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_LOGS_EXPORTER=otlp OTEL_METRICS_EXPORTER=otlp',
        `export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_EXPORTER_OTLP_ENDPOINT=${otlp}`,
        header,
        'export OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_TOOL_DETAILS=1 # record prompts and arguments of tools',
      ].join('\n'),
    },
    'Codex CLI': {
      about: 'In the file ~/.codex/config.toml.',
      code: [
        '[otel]',
        'log_user_prompt = true # record prompts',
        `exporter = { otlp-http = { endpoint = "${otlp}/v1/logs", protocol = "binary", headers = { authorization = "Bearer ${key}" } } }`,
      ].join('\n'),
    },
    'Gemini CLI': {
      about: 'Then start gemini in the same shell.',
      code: [
        'export GEMINI_TELEMETRY_ENABLED=true GEMINI_TELEMETRY_TARGET=local GEMINI_TELEMETRY_TRACES_ENABLED=true',
        `export GEMINI_TELEMETRY_OTLP_PROTOCOL=http GEMINI_TELEMETRY_OTLP_ENDPOINT=${otlp}`,
        header,
      ].join('\n'),
    },
    curl: { about: 'One run of an agent, without a program.', code: curl(place) },
  };
}

function curl({ base, key, now }: Place): string {
  const [trace_id, span_id] = [
    '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01',
    '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a02',
  ];
  const [started_at, ended_at] = [new Date(now - 2000).toISOString(), new Date(now).toISOString()];
  const span = {
    ...{ span_id, trace_id, type: 'llm', name: 'say hello', model: 'gpt-5-mini' },
    ...{ input_tokens: 12, output_tokens: 30, started_at, ended_at },
    input_data: { prompt: 'Say hello' },
    output_data: { text: 'Hello!' },
  };
  const trace = { trace_id, agent: 'hello-agent', success: true, started_at, ended_at };
  return [
    `curl -sS ${base}api/v1/traces/batch \\`,
    `  -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify({ traces: [{ trace, spans: [span] }] })}'`,
  ].join('\n');
}
