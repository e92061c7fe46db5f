import type { Batch } from '../../src/signal/batch.js';
import type { LogRecord } from '../../src/signal/log-record.js';
import type { MetricPoint, MetricStream, MetricType } from '../../src/signal/metric.js';
import type { Origin } from '../../src/signal/origin.js';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import { aSpanRecord } from './run-records.js';

/** Records for forwarding tests: one of each kind with all fields. */
export const TENANT = '0196f000-0000-7000-8000-000000000001';
const TRACE = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01';
const NOON = Date.UTC(2026, 10, 3, 12) * 1000;

const ORIGIN: Origin = {
  resource: { 'service.name': 'checkout', 'host.cores': 8, 'host.tags': ['a', 'b'] },
  scope: { name: 'lib', version: '1.2', attributes: { flavour: 'sweet' } },
  serviceName: 'checkout',
};

export function logBatch(): Batch<LogRecord> {
  const record: LogRecord = {
    id: TRACE,
    timestamp: NOON + 1,
    observed_at: NOON + 2,
    severity: 'warn',
    severity_number: 13,
    severity_text: 'WARN',
    body: { text: 'grüße 🎉', list: [1, -2.5, true, null], 'empty object': {} },
    trace_id: TRACE,
    span_id: '9a551d0a-3a7a-5a01-0102-030405060708',
    flags: 1,
    event_name: 'device.boot',
    attributes: { big: '9007199254740993', nested: { deep: [[1]] }, none: null },
    origin: ORIGIN,
  };
  const plain: LogRecord = {
    ...record,
    observed_at: null,
    body: 'text',
    trace_id: null,
    span_id: null,
    flags: 0,
    event_name: null,
    severity: 'info',
    severity_number: 0,
    severity_text: '',
    attributes: {},
    origin: { resource: {}, scope: null, serviceName: '' },
  };
  return { tenant: TENANT, items: [record, { ...record, body: null }, plain] };
}

export function metricBatch(): Batch<MetricPoint> {
  const point = (
    type: MetricType,
    more: Partial<MetricStream>,
    values: Partial<MetricPoint>,
  ): MetricPoint => ({
    stream: {
      name: `the.${type}`,
      type,
      unit: 'ms',
      description: 'What it is.',
      temporality: null,
      is_monotonic: null,
      origin: ORIGIN,
      ...more,
    },
    labels: { service_name: 'checkout', route: '/x', code: '200' },
    attributes: { route: '/x', code: 200 },
    timestamp: NOON,
    start_time: NOON - 60_000_000,
    value: null,
    flags: 0,
    distribution: null,
    exemplars: null,
    ...values,
  });
  const totals = { count: 4, sum: 10, min: 1, max: 4 };
  const exemplar = {
    timestamp: NOON - 5,
    value: 2.5,
    trace_id: TRACE,
    span_id: '9a551d0a-3a7a-5a01-0102-030405060708',
    filtered_attributes: { user: 'u1' },
  };
  return {
    tenant: TENANT,
    items: [
      point('gauge', {}, { value: -1.25, start_time: null, exemplars: [exemplar] }),
      point('sum', { temporality: 'cumulative', is_monotonic: true }, { value: 7 }),
      point('sum', { temporality: 'delta', is_monotonic: false, name: 'other' }, { value: null, flags: 1 }),
      point(
        'histogram',
        { temporality: 'delta' },
        {
          value: 2.5,
          distribution: { ...totals, bucket_counts: [1, 2, '9007199254740993'], explicit_bounds: [0, 2.5] },
        },
      ),
      point(
        'exponential_histogram',
        { temporality: 'cumulative' },
        {
          value: 2.5,
          distribution: {
            ...totals,
            min: null,
            max: null,
            scale: -1,
            zero_count: 2,
            zero_threshold: 0.5,
            positive: { offset: 1, bucket_counts: [1, 0, 3] },
            negative: { offset: -2, bucket_counts: [] },
          },
        },
      ),
      point(
        'summary',
        {},
        {
          value: 2.5,
          distribution: {
            count: 4,
            sum: 10,
            quantiles: [
              { quantile: 0.5, value: 2 },
              { quantile: 0.99, value: 'NaN' },
            ],
          },
        },
      ),
    ],
  };
}

/** A run declared by the batch route. */
export function declaredRun(): TraceRecord {
  const span = (changes: Partial<SpanRecord>): SpanRecord => aSpanRecord(TRACE, changes);
  const root = '0a8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a0a';
  return {
    trace: {
      trace_id: TRACE,
      agent: 'support agent',
      kind: 'agent',
      status: 'completed',
      started_at: NOON,
      ended_at: NOON + 2_000_123,
      duration_ms: 2000.123,
      success: false,
      outcome: 'escalated',
      error_message: null,
      total_tokens: 42,
      total_cost_usd: 1250,
      metadata: { ticket: { id: 7 } },
      sdk_version: '0.3.1',
      environment: 'production',
      release: '1.4.2',
      agent_version: '7',
      repository: '7',
      sample_rate: 0.25,
      follows_spans: false,
      idle_timeout_ms: null,
      orphan_wait_ms: null,
    },
    spans: [
      span({
        span_id: root,
        parent_span_id: null,
        type: 'agent',
        name: 'answer the ticket',
        started_at: NOON,
        ended_at: NOON + 2_000_000,
        duration_ms: 2000,
      }),
      span({
        span_id: '1b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a0b',
        parent_span_id: root,
        type: 'llm',
        name: 'draft',
        model: 'gpt-5-mini',
        status: 'failed',
        started_at: NOON + 1,
        ended_at: NOON + 1_000_000,
        duration_ms: 999.5,
        input_tokens: 12,
        output_tokens: 30,
        total_tokens: 42,
        cost_usd: 1250,
        error_message: 'refused by the provider',
        input_data: { messages: [{ role: 'user', content: 'Wo ist mein Paket? 📦' }] },
        output_data: { text: '' },
        metadata: { attempt: 2, 'gen_ai.system': 'openai' },
      }),
      span({
        span_id: '2b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a0c',
        parent_span_id: root,
        type: 'tool',
        name: 'look up',
        status: 'running',
        started_at: NOON + 5,
        ended_at: null,
        duration_ms: null,
      }),
    ],
  };
}
