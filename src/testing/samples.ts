import { randomUUID } from 'node:crypto';
import type { Batches, Signal } from '../signal/batch.js';
import { envelope, type EventRecord } from '../signal/event.js';
import type { LogRecord } from '../signal/log-record.js';
import type { MetricPoint, MetricStream } from '../signal/metric.js';
import { UNSET_FIELDS, type SpanRecord } from '../signal/span.js';
import type { TraceRecord } from '../signal/trace.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';
import { TEST_USER } from './test-host.js';

/** 2026-01-15T12:00:00Z, the time of the test clock. */
const NOON = Date.UTC(2026, 0, 15, 12) * 1000;

const ORIGIN = { resource: { 'service.name': 'checkout' }, scope: null, serviceName: 'checkout' };

/** Edge cases of payloads: integers beyond double precision, other scripts, JavaScript's own names, depth. */
function payload(index: number) {
  return {
    prompt: `What is the weather in Zürich, number ${index}? 天気 🌦`,
    exact: 2n ** 63n - 1n,
    nested: { list: [1, 'two', null, { deep: true }] },
    constructor: 'a word like any other',
  };
}

/** Valid records of every signal, each with its own id. */
const MAKERS: { readonly [S in Signal]: (index: number) => Batches[S]['items'][number] } = {
  traces: sampleTrace,
  metrics: samplePoint,
  logs: sampleLog,
  events: sampleEvent,
};

/**
 * A valid batch of so many items.
 *
 * @example sampleBatch('traces', 100)
 */
export function sampleBatch<S extends Signal>(signal: S, count: number): Batches[S] {
  const items = Array.from({ length: count }, (_, index) => MAKERS[signal](index));
  return { tenant: TEST_USER, items } as unknown as Batches[S];
}

/** A run of one agent with two spans. */
function sampleTrace(index: number): TraceRecord {
  const traceId = randomUUID();
  const root = sampleSpan(traceId, index);
  return {
    trace: {
      trace_id: traceId,
      agent: 'researcher',
      kind: 'agent',
      status: 'completed',
      started_at: NOON,
      ended_at: NOON + MICROS_PER_SECOND,
      duration_ms: 1000,
      success: true,
      outcome: 'answered',
      error_message: null,
      total_tokens: 42,
      total_cost_usd: null,
      metadata: payload(index),
      sdk_version: null,
      environment: null,
      release: null,
      agent_version: null,
      repository: null,
      sample_rate: null,
      follows_spans: false,
      idle_timeout_ms: null,
      orphan_wait_ms: null,
    },
    spans: [root, { ...sampleSpan(traceId, index), parent_span_id: root.span_id, type: 'tool', model: null }],
  };
}

function sampleSpan(traceId: string, index: number): SpanRecord {
  return {
    ...UNSET_FIELDS,
    span_id: randomUUID(),
    trace_id: traceId,
    type: 'llm',
    name: 'answer',
    status: 'completed',
    started_at: NOON,
    ended_at: NOON + MICROS_PER_SECOND,
    duration_ms: 1000,
    model: 'gpt-5',
    input_tokens: 30,
    output_tokens: 12,
    total_tokens: 42,
    input_data: payload(index),
    output_data: { text: 'It rains.' },
  };
}

/** Shared by all points of a batch, like points of one metric. */
const STREAM: MetricStream = {
  name: 'cpu.load',
  type: 'gauge',
  unit: '1',
  description: 'Load of the processor',
  temporality: null,
  is_monotonic: null,
  origin: ORIGIN,
};

function samplePoint(index: number): MetricPoint {
  return {
    stream: STREAM,
    labels: { service_name: 'checkout', host: `host-${index}` },
    attributes: { host: `host-${index}` },
    timestamp: NOON + index,
    start_time: null,
    value: 0.5,
    flags: 0,
    distribution: null,
    exemplars: null,
  };
}

function sampleLog(index: number): LogRecord {
  return {
    id: randomUUID(),
    timestamp: NOON + index,
    observed_at: null,
    severity: 'info',
    severity_number: 9,
    severity_text: 'INFO',
    body: payload(index),
    trace_id: null,
    span_id: null,
    flags: 0,
    event_name: null,
    attributes: { 'http.route': '/pay' },
    origin: ORIGIN,
  };
}

function sampleEvent(index: number): EventRecord {
  const event = {
    id: randomUUID(),
    type: 'trace.failed',
    timestamp: NOON + index,
    organization_id: null,
    endpoint_id: null,
  } as const;
  return { ...event, body: envelope(event, { error_message: 'what went wrong: "grüße 🎉"' }) };
}
