import { createHash } from 'node:crypto';
import { MS_PER_HOUR, MS_PER_MINUTE } from '../../../signal/time-units.js';
import type { RunBody, SpanBody } from '../body.js';
import { Random } from '../random.js';

/** An OTLP/JSON request, with the id by which a repeat is known as one. */
export interface SignalsRequest {
  readonly path: '/v1/logs' | '/v1/metrics';
  readonly batchId: string;
  readonly body: object;
}

const QUEUES = ['tickets', 'invoices', 'posts'];
const MODEL_SERVICE = 'model-gateway';
const BOUNDS_S = [0.5, 1, 2, 5, 10, 30];
const SEVERITIES = { INFO: 9, WARN: 13, ERROR: 17 } as const;

/** Whole hours before a moment, the first one first: what is told of an hour never changes. */
export function wholeHours(untilMs: number, hours: number): number[] {
  const last = Math.floor(untilMs / MS_PER_HOUR);
  return Array.from({ length: hours }, (_, index) => (last - hours + index) * MS_PER_HOUR);
}

/** What the agents' services wrote while these runs of one hour happened: a line for each run and for each call that failed. */
export function logsOf(seed: string, hourMs: number, runs: readonly RunBody[]): SignalsRequest | undefined {
  if (runs.length === 0) return undefined;
  const agents = [...new Set(runs.map(({ trace }) => trace.agent))];
  const resourceLogs = agents.map((agent) => ({
    resource: resource(agent),
    scopeLogs: [
      {
        scope: { name: 'demo' },
        logRecords: runs.filter(({ trace }) => trace.agent === agent).flatMap(recordsOf),
      },
    ],
  }));
  return { path: '/v1/logs', batchId: idOf(seed, 'logs', hourMs), body: { resourceLogs } };
}

function recordsOf({ trace, spans }: RunBody): object[] {
  const [root] = spans;
  const ended = Date.parse(trace.ended_at ?? trace.started_at);
  const took = `${String(trace.duration_ms ?? 0)} ms`;
  const [severity, text]: [keyof typeof SEVERITIES, string] =
    trace.status === 'completed'
      ? ['INFO', `${trace.agent} ended after ${took}: ${trace.outcome ?? 'no outcome'}`]
      : ['ERROR', `${trace.agent} failed after ${took}: ${trace.error_message ?? 'unknown error'}`];
  const failed = spans.filter(({ status, parent_span_id }) => status !== 'completed' && parent_span_id);
  return [
    ...(root ? [recordOf(root, Date.parse(trace.started_at), 'INFO', `${trace.agent} begins`)] : []),
    ...failed.map((span) =>
      recordOf(
        span,
        Date.parse(span.ended_at ?? span.started_at),
        'WARN',
        `${span.name} failed: ${span.error_message ?? 'unknown error'}`,
      ),
    ),
    ...(root ? [recordOf(root, ended, severity, text)] : []),
  ];
}

function recordOf(span: SpanBody, timeMs: number, severityText: keyof typeof SEVERITIES, text: string) {
  return {
    timeUnixNano: nanos(timeMs),
    observedTimeUnixNano: nanos(timeMs),
    severityNumber: SEVERITIES[severityText],
    severityText,
    body: { stringValue: text },
    attributes: [attribute('span.type', span.type)],
    traceId: span.trace_id.replaceAll('-', ''),
  };
}

/** What the services around the agents measured in an hour, by the minute: queues, requests, and how long models took. */
export function metricsOf(seed: string, hourMs: number): SignalsRequest {
  const minutes = Array.from({ length: 60 }, (_, index) => hourMs + index * MS_PER_MINUTE);
  const random = new Random(`${seed}/metrics/${String(hourMs)}`);
  const queueDepth = {
    name: 'queue.depth',
    unit: '{item}',
    description: 'Items that wait for an agent',
    gauge: {
      dataPoints: QUEUES.flatMap((queue, place) =>
        minutes.map((ms) => ({
          timeUnixNano: nanos(ms),
          asDouble: Math.round(8 + 6 * place + 7 * Math.sin(ms / MS_PER_HOUR + place) + random.integer(0, 4)),
          attributes: [attribute('queue', queue)],
        })),
      ),
    },
  };
  const requests = {
    name: 'http.server.requests',
    unit: '{request}',
    description: 'Requests in a minute',
    sum: {
      aggregationTemporality: 1,
      isMonotonic: true,
      dataPoints: ['200', '500'].flatMap((status) =>
        minutes.map((ms) => ({
          startTimeUnixNano: nanos(ms - MS_PER_MINUTE),
          timeUnixNano: nanos(ms),
          asInt: String(status === '200' ? random.integer(40, 90) : random.integer(0, 2)),
          attributes: [attribute('http.response.status_code', status)],
        })),
      ),
    },
  };
  const durations = {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'How long calls of models took',
    histogram: {
      aggregationTemporality: 1,
      dataPoints: minutes.map((ms) => {
        const bucketCounts = [...BOUNDS_S, Infinity].map((_, place) => random.integer(0, 12 - place));
        return {
          startTimeUnixNano: nanos(ms - MS_PER_MINUTE),
          timeUnixNano: nanos(ms),
          count: String(bucketCounts.reduce((sum, count) => sum + count, 0)),
          sum: bucketCounts.reduce((sum, count, place) => sum + count * (BOUNDS_S[place] ?? 45) * 0.8, 0),
          bucketCounts: bucketCounts.map(String),
          explicitBounds: BOUNDS_S,
          attributes: [attribute('gen_ai.operation.name', 'chat')],
        };
      }),
    },
  };
  const metrics = [queueDepth, requests, durations];
  const body = {
    resourceMetrics: [
      { resource: resource(MODEL_SERVICE), scopeMetrics: [{ scope: { name: 'demo' }, metrics }] },
    ],
  };
  return { path: '/v1/metrics', batchId: idOf(seed, 'metrics', hourMs), body };
}

function resource(service: string) {
  return { attributes: [attribute('service.name', service), attribute('deployment.environment', 'demo')] };
}

function attribute(key: string, text: string) {
  return { key, value: { stringValue: text } };
}

/** @returns nanoseconds as OTLP/JSON writes them */
function nanos(ms: number): string {
  return `${String(ms)}000000`;
}

function idOf(seed: string, signal: string, hourMs: number): string {
  return `demo-${signal}-${createHash('sha256')
    .update(`${seed}/${String(hourMs)}`)
    .digest('hex')
    .slice(0, 32)}`;
}
