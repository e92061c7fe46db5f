import { randomBytes } from 'node:crypto';
import type { Api } from './api.js';

/** Runs of so many model calls, each of which has its messages in three log records. */
const TRACES = 200;
const CALLS = 5;

/** A run, as the API is asked for it. */
type TraceId = string;

/** Runs of the same shape, of which some say what was said in log records and some nowhere. */
export interface SentRuns {
  readonly logged: readonly TraceId[];
  readonly silent: readonly TraceId[];
}

/** Sends such runs by OTLP, as a program instrumented with OpenTelemetry's instrumentation of OpenAI does. */
export async function sendLoggedCalls(api: Api): Promise<SentRuns> {
  const [logged, silent] = [[], []] as [string[], string[]];
  for (let i = 0; i < 2 * TRACES; i++) {
    const traceId = randomBytes(16).toString('hex');
    const spanIds = Array.from({ length: CALLS }, () => randomBytes(8).toString('hex'));
    const nanos = BigInt(Date.now()) * 1_000_000n;
    await api.post('/otlp/v1/traces', tracesOf(traceId, spanIds, nanos));
    const isLogged = i % 2 === 0;
    if (isLogged) await api.post('/otlp/v1/logs', logsOf(traceId, spanIds, nanos));
    (isLogged ? logged : silent).push(traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
  }
  return { logged, silent };
}

function tracesOf(traceId: string, spanIds: readonly string[], nanos: bigint): object {
  const spans = spanIds.map((spanId, i) => ({
    traceId,
    spanId,
    parentSpanId: i === 0 ? '' : spanIds[0],
    name: 'chat gpt-4o-mini',
    kind: 3,
    startTimeUnixNano: `${nanos + BigInt(i)}`,
    endTimeUnixNano: `${nanos + 1_000_000_000n}`,
    attributes: [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt-4o-mini'),
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '120' } },
      { key: 'gen_ai.usage.output_tokens', value: { intValue: '45' } },
    ],
  }));
  return { resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ spans }] }] };
}

function logsOf(traceId: string, spanIds: readonly string[], nanos: bigint): object {
  const logRecords = spanIds.flatMap((spanId) =>
    MESSAGES.map(({ name, values }, i) => ({
      traceId,
      spanId,
      timeUnixNano: `${nanos + BigInt(i)}`,
      attributes: [text('event.name', name)],
      body: { kvlistValue: { values } },
    })),
  );
  return { resourceLogs: [{ resource: RESOURCE, scopeLogs: [{ logRecords }] }] };
}

const MESSAGES = [
  { name: 'gen_ai.system.message', values: [text('content', 'Answer in one sentence.')] },
  {
    name: 'gen_ai.user.message',
    values: [text('content', 'What is the weather like in Berlin today? '.repeat(5))],
  },
  {
    name: 'gen_ai.choice',
    values: [{ key: 'message', value: { kvlistValue: { values: [text('content', 'Sunny.')] } } }],
  },
];

const RESOURCE = { attributes: [text('service.name', 'bench')] };

function text(key: string, value: string): object {
  return { key, value: { stringValue: value } };
}
