import parts from '../../parts/parts.module.css';
import { Link } from 'wouter';
import { BASE, OTLP_ENDPOINT } from '../../api/base.js';
import { Jackdaw } from '../../shell/Jackdaw.js';
import { useMe } from '../../shell/Session.js';
import { useNow } from '../../state/clock.js';
import { useNewestRun, useNothingYet } from './use-first-runs.js';
import styles from './FirstRun.module.css';

const PYTHON = `pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-http
pip install openai openinference-instrumentation-openai
opentelemetry-instrument python agent.py`;

const NODE_JS = `npm install openai @opentelemetry/auto-instrumentations-node
export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true # record prompts and answers
node --require @opentelemetry/auto-instrumentations-node/register agent.js`;

/** Instructions for an empty store. The list replaces them once data arrives. */
export function FirstRun() {
  const { key_id, scopes } = useMe();
  const isAdmin = scopes.includes('admin');
  const other = useNewestRun('all', true);
  useNothingYet();
  const now = Math.floor(useNow() / 60_000) * 60_000;
  const [id, span] = ['7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01', '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a02'];
  const [start, end] = [new Date(now - 2000).toISOString(), new Date(now).toISOString()];
  const batch = {
    traces: [
      {
        trace: { trace_id: id, agent: 'hello-agent', success: true, started_at: start, ended_at: end },
        spans: [
          {
            span_id: span,
            trace_id: id,
            type: 'llm',
            name: 'say hello',
            model: 'gpt-5-mini',
            input_tokens: 12,
            output_tokens: 30,
            started_at: start,
            ended_at: end,
            input_data: { prompt: 'Say hello' },
            output_data: { text: 'Hello!' },
          },
        ],
      },
    ],
  };
  const curl = [
    `curl -sS ${new URL('api/v1/traces/batch', BASE).href} \\`,
    `  -H "Authorization: Bearer $JACKDAW_KEY" -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(batch)}'`,
  ].join('\n');
  const otlp = [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${OTLP_ENDPOINT}`,
    'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$JACKDAW_KEY"',
    'export OTEL_SERVICE_NAME=my-agent',
  ].join('\n');
  const claudeCode = [
    'export CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_LOGS_EXPORTER=otlp OTEL_METRICS_EXPORTER=otlp',
    `export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_EXPORTER_OTLP_ENDPOINT=${OTLP_ENDPOINT}`,
    'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$JACKDAW_KEY"',
    'export OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_TOOL_DETAILS=1 # record prompts and arguments of tools',
  ].join('\n');
  const codex = [
    '[otel]',
    'log_user_prompt = true # record prompts',
    `exporter = { otlp-http = { endpoint = "${OTLP_ENDPOINT}/v1/logs", protocol = "binary", headers = { authorization = "Bearer <your key>" } } }`,
  ].join('\n');
  const geminiCli = [
    'export GEMINI_TELEMETRY_ENABLED=true GEMINI_TELEMETRY_TARGET=local GEMINI_TELEMETRY_TRACES_ENABLED=true',
    `export GEMINI_TELEMETRY_OTLP_PROTOCOL=http GEMINI_TELEMETRY_OTLP_ENDPOINT=${OTLP_ENDPOINT}`,
    'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$JACKDAW_KEY"',
  ].join('\n');
  return (
    <div className={parts['page']}>
      <title>Welcome · Jackdaw</title>
      <div className={styles['welcome']}>
        <Jackdaw size={48} />
        <h1>{other ? 'No agent runs yet' : 'No data yet'}</h1>
        {other && (
          <p>
            Traces are arriving, but none is an agent run: see{' '}
            <Link href={`/traces/${other.trace_id}`}>the newest one</Link> or{' '}
            <Link href="/runs?kind=all">all traces</Link>. A trace is an agent run if one of its spans calls a
            model or a tool, or names the agent (<code>gen_ai.agent.name</code>).
          </p>
        )}
        <p>
          Send a run, and it appears here automatically.
          {key_id !== null && (
            <>
              {' '}
              First set the variable <code>JACKDAW_KEY</code> to one of{' '}
              <Link href="/settings/keys">your API keys</Link> with the write scope.
            </>
          )}
          {key_id !== null && isAdmin && (
            <>
              {' '}
              The first start writes a key to the file <code>initial-api-key</code> next to the control store.
            </>
          )}
        </p>
        <Way title="One agent run, with curl" code={curl} />
        <Way title="Any program with an OpenTelemetry SDK" code={otlp} />
        <Way title="Python, with these variables and the OpenAI client" code={PYTHON} />
        <Way title="Node.js, with these variables and the OpenAI client" code={NODE_JS} />
        <Way title="Claude Code" code={claudeCode} />
        <Way title="Codex CLI, in ~/.codex/config.toml" code={codex} />
        <Way title="Gemini CLI" code={geminiCli} />
        {isAdmin && (
          <Way
            title="A month of sample data, from the directory of Jackdaw"
            code={`npm run demo -- --url ${BASE.href} --otlp-url ${OTLP_ENDPOINT}`}
          />
        )}
        <p role="status" className={styles['waiting']}>
          Waiting for the first {other ? 'agent run' : 'run'}…
        </p>
      </div>
    </div>
  );
}

function Way({ title, code }: { readonly title: string; readonly code: string }) {
  return (
    <section>
      <h2>{title}</h2>
      <div className={styles['code']}>
        <pre tabIndex={0}>{code}</pre>
        <button
          type="button"
          className={parts['button']}
          onClick={() => void navigator.clipboard.writeText(code)}
        >
          Copy
        </button>
      </div>
    </section>
  );
}
