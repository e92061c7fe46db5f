import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';

const run = promisify(execFile);

/** The fixed response of the model. */
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_768_478_400,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Oslo' } }],
  usage: {
    prompt_tokens: 25,
    completion_tokens: 2,
    total_tokens: 27,
    prompt_tokens_details: { cached_tokens: 5 },
  },
};

/** A model and all other services of the programs. @returns its URL */
async function startServer(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.method === 'POST' ? COMPLETION : { city: 'Oslo' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs a program to its end; its environment selects where telemetry goes. */
async function runApp(app: string, protocol: string, server: string, daemon: TestDaemon): Promise<void> {
  await run(process.execPath, [fileURLToPath(new URL(`../../support/${app}.js`, import.meta.url))], {
    env: {
      PATH: process.env.PATH,
      SERVER_URL: server,
      OTEL_SERVICE_NAME: app,
      OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? `http://${daemon.grpcAddress}` : daemon.otlpUrl,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${daemon.key}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'otlp',
    },
  });
}

interface Run {
  readonly trace_id: string;
  readonly agent_name: string;
  readonly status: string;
  readonly total_tokens: number | null;
  readonly total_cost_usd: number | null;
  readonly spans: readonly Record<string, unknown>[];
}

/** The only run of an agent. */
async function runOf(api: ApiCaller, agent: string): Promise<Run> {
  const agents = await api.get<readonly { readonly id: string; readonly name: string }[]>('/agents');
  const id = agents.find(({ name }) => name === agent)?.id ?? 'unknown';
  const { items } = await api.get<{ readonly items: readonly { readonly trace_id: string }[] }>(
    `/agents/${id}/runs`,
  );
  return api.get<Run>(`/dashboard/traces/${items[0]?.trace_id ?? ''}`);
}

void t.test('a program instrumented for HTTP appears as an agent with its calls', async (t) => {
  const daemon = await startTestDaemon(t);
  const server = await startServer(t);
  for (const protocol of ['http/protobuf', 'http/json', 'grpc']) {
    await t.test(protocol, async (t) => {
      await runApp('http-app', protocol, server, daemon);
      const shown = await runOf(new ApiCaller(daemon.url, daemon.key), 'http-app');
      t.match(shown, { agent_name: 'http-app', status: 'completed' });
      const [root, call] = shown.spans;
      t.match(root, { type: 'agent', name: 'look up the weather', parent_span_id: null });
      t.match(call, {
        type: 'http',
        name: 'GET',
        parent_span_id: root?.span_id,
        input_data: { method: 'GET', url: `${server}/weather?city=Oslo` },
        output_data: { status_code: 200 },
      });
    });
  }
});

void t.test('a program instrumented by OpenInference has its model calls, tokens and cost', async (t) => {
  const daemon = await startTestDaemon(t);
  const server = await startServer(t);
  for (const protocol of ['http/protobuf', 'grpc']) {
    await t.test(protocol, async (t) => {
      await runApp('openai-app', protocol, server, daemon);
      const shown = await runOf(new ApiCaller(daemon.url, daemon.key), 'openai-app');
      t.match(shown, { agent_name: 'openai-app', status: 'completed', total_tokens: 27 });
      t.ok((shown.total_cost_usd ?? 0) > 0, 'priced by the table');
      t.equal(shown.spans.length, 1);
      t.match(shown.spans[0], {
        type: 'llm',
        name: 'OpenAI Chat Completions',
        model: 'gpt-4o-mini-2024-07-18',
        input_tokens: 25,
        output_tokens: 2,
        total_tokens: 27,
      });
      t.match(JSON.stringify(shown.spans[0]?.input_data), 'What is the capital of Norway?');
      t.match(JSON.stringify(shown.spans[0]?.output_data), 'Oslo');
    });
  }
});
