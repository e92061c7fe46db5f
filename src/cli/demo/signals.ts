import { MS_PER_HOUR, MS_PER_MINUTE } from '../../signal/time-units.js';
import type { CliIo } from '../io.js';
import type { RunBody, SpanBody } from './body.js';
import { explain, type Poster } from './poster.js';
import { history, type HistoryOptions, type Recording } from './recording.js';

const HOURS = 24;
const QUEUES = ['tickets', 'invoices', 'posts'];
const MODEL_SERVICE = 'model-gateway';
const BOUNDS_S = [0.5, 1, 2, 5, 10, 30];
const SEVERITIES = { INFO: 9, WARN: 13, ERROR: 17 } as const;

/**
 * Sends logs and metrics of the last hours as OTLP/JSON. If they are not accepted, it warns and continues.
 *
 * @returns a summary for the user
 */
export async function sendSignals(
  poster: Poster,
  io: Pick<CliIo, 'err'>,
  recording: Recording,
  plan: HistoryOptions,
): Promise<string[]> {
  const startMs = plan.untilMs - HOURS * MS_PER_HOUR;
  const runs = [...history(recording, { ...plan, days: Math.min(plan.days, 2) })].filter(
    (run) => run.startMs >= startMs,
  );
  try {
    for (let hourMs = startMs; hourMs < plan.untilMs; hourMs += MS_PER_HOUR) {
      const ofHour = runs.filter((run) => run.endMs > hourMs && run.startMs < hourMs + MS_PER_HOUR);
      const begun = ofHour.filter((run) => run.startMs >= hourMs);
      for (const [signal, body] of [
        ['logs', logsOf(begun.map((run) => run.body))],
        [
          'metrics',
          metricsOf(
            hourMs,
            ofHour.map((run) => run.body),
          ),
        ],
      ] as const) {
        const headers = { 'jackdaw-batch-id': `demo-${signal}-${plan.key}-${String(hourMs)}` };
        const answer = await poster.send({ method: 'POST', path: `/v1/${signal}`, body, headers });
        if (!answer.ok) throw new Error(explain(poster, answer, 'send logs and metrics', 'write'));
      }
    }
    return [`logs and metrics of ${String(HOURS)} hours`];
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    io.err(
      `Without logs and metrics (their address: --otlp-url): ${error instanceof Error ? error.message : String(error)}`,
    );
    return [];
  }
}

/** Log records of the agents' services: the start and end of each run, and each failed call. */
function logsOf(runs: readonly RunBody[]) {
  const agents = [...new Set(runs.map(({ trace }) => trace.agent))];
  const resourceLogs = agents.map((agent) => {
    const logRecords = runs.filter(({ trace }) => trace.agent === agent).flatMap(recordsOf);
    return { resource: resource(agent), scopeLogs: [{ scope: { name: 'demo' }, logRecords }] };
  });
  return { resourceLogs };
}

function recordsOf({ trace, spans }: RunBody): object[] {
  const [root, ...others] = spans;
  if (root === undefined) return [];
  const took = `${String(trace.duration_ms ?? 0)} ms`;
  const error = ({ error_message }: { readonly error_message?: string }) => error_message ?? 'unknown error';
  return [
    recordOf(root, trace.started_at, 'INFO', `${trace.agent} started`),
    ...others
      .filter(({ status }) => status !== 'completed')
      .map((span) => recordOf(span, span.ended_at, 'WARN', `${span.name} failed: ${error(span)}`)),
    trace.status === 'completed'
      ? recordOf(root, trace.ended_at, 'INFO', `${trace.agent} completed in ${took}: ${trace.outcome ?? ''}`)
      : recordOf(root, trace.ended_at, 'ERROR', `${trace.agent} failed after ${took}: ${error(trace)}`),
  ];
}

type Severity = keyof typeof SEVERITIES;

function recordOf(span: SpanBody, time: string | undefined, severityText: Severity, text: string) {
  const timeUnixNano = nanos(Date.parse(time ?? span.started_at));
  return {
    timeUnixNano,
    observedTimeUnixNano: timeUnixNano,
    severityNumber: SEVERITIES[severityText],
    severityText,
    body: { stringValue: text },
    attributes: [attribute('span.type', span.type)],
    traceId: span.trace_id.replaceAll('-', ''),
  };
}

/** Metrics of a gateway between agents and models for each minute of an hour: its queues, and the model calls of runs. */
function metricsOf(hourMs: number, runs: readonly RunBody[]) {
  const minutes = Array.from({ length: 60 }, (_, index) => {
    const startMs = hourMs + index * MS_PER_MINUTE;
    const times = { startTimeUnixNano: nanos(startMs), timeUnixNano: nanos(startMs + MS_PER_MINUTE) };
    return { startMs, times, calls: [] as SpanBody[] };
  });
  for (const call of runs.flatMap(({ spans }) => spans.filter(({ type }) => type === 'llm'))) {
    const sinceMs = Date.parse(call.ended_at ?? call.started_at) - hourMs;
    minutes[Math.ceil(sinceMs / MS_PER_MINUTE) - 1]?.calls.push(call);
  }
  const queueDepth = QUEUES.flatMap((queue, place) =>
    minutes.map(({ startMs, times: { timeUnixNano } }, minute) => ({
      timeUnixNano,
      asDouble: Math.round(
        10 + 6 * place + 7 * Math.sin(startMs / MS_PER_HOUR + place) + 2 * Math.sin(minute ** 2),
      ),
      attributes: [attribute('queue', queue)],
    })),
  );
  const requests = ['200', '500'].flatMap((status) =>
    minutes.map(({ times, calls }) => ({
      ...times,
      asInt: String(calls.filter((call) => (call.status === 'completed') === (status === '200')).length),
      attributes: [attribute('http.response.status_code', status)],
    })),
  );
  const durations = minutes.map(({ times, calls }) => {
    const seconds = calls.map(({ duration_ms = 0 }) => duration_ms / 1000);
    const upTo = [...BOUNDS_S, Infinity].map((bound) => seconds.filter((value) => value <= bound).length);
    return {
      ...times,
      count: String(seconds.length),
      sum: seconds.reduce((sum, value) => sum + value, 0),
      bucketCounts: upTo.map((count, place) => String(count - (upTo[place - 1] ?? 0))),
      explicitBounds: BOUNDS_S,
      attributes: [attribute('gen_ai.operation.name', 'chat')],
    };
  });
  const delta = { aggregationTemporality: 1 };
  const metrics = [
    {
      ...{ name: 'queue.depth', unit: '{item}', description: 'Items waiting for an agent' },
      gauge: { dataPoints: queueDepth },
    },
    {
      ...{ name: 'http.server.requests', unit: '{request}', description: 'Requests per minute' },
      sum: { ...delta, isMonotonic: true, dataPoints: requests },
    },
    {
      ...{ name: 'gen_ai.client.operation.duration', unit: 's', description: 'Duration of model calls' },
      histogram: { ...delta, dataPoints: durations },
    },
  ];
  const scopeMetrics = [{ scope: { name: 'demo' }, metrics }];
  return { resourceMetrics: [{ resource: resource(MODEL_SERVICE), scopeMetrics }] };
}

function resource(service: string) {
  return { attributes: [attribute('service.name', service), attribute('deployment.environment', 'demo')] };
}

function attribute(key: string, text: string) {
  return { key, value: { stringValue: text } };
}

/** Nanoseconds as an OTLP/JSON string. */
function nanos(ms: number): string {
  return `${String(ms)}000000`;
}
