import fc from 'fast-check';
import { traceIdOf } from './header-text.js';
import { aSpan, anItem, type Changes, type Item } from './trace-batch.js';

/**
 * Values at and just beyond the limits of every field of every signal: each is either rejected or must survive all later processing.
 */

const INTEGERS = [
  0,
  1,
  2,
  65_535,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  1e12,
  1e13,
  1e15,
  2 ** 53 - 1,
  2 ** 53,
];
const SIGNED = [...INTEGERS, ...INTEGERS.map((value) => -value), -(2 ** 31) - 1];
const DOUBLES = [...SIGNED, 0.1, 5e-324, 2.3e-308, 1e18, 1e300, Number.MAX_VALUE, -Number.MAX_VALUE, -5e-324];
const INT64_TEXTS = ['0', '1', '-1', '9223372036854775807', '-9223372036854775808', '18446744073709551615'];
const TEXTS = [
  '',
  ' ',
  'x',
  'x'.repeat(1024),
  'x'.repeat(70_000),
  '\0',
  '\ud800',
  '💶',
  "'; DROP TABLE spans; --",
  '%',
  '\\',
  '"',
];

const MONEY = [
  '0',
  '0.000000001',
  '999999.999999999',
  '999999.9999999999',
  '1000000',
  '999999999.999999',
  '1e-9',
  '1e300',
  '-0',
  0,
  5e-324,
  0.1,
  999_999,
  999_999.999_999_999,
  1_000_000,
  1e21,
];
const TIMES = [
  '0001-01-01T00:00:00Z',
  '1684-07-28T00:12:25.259009Z',
  '1684-07-28T00:12:25.259008Z',
  '1969-12-31T23:59:59.999999Z',
  '1970-01-01T00:00:00Z',
  '2020-02-29T12:00:00Z',
  '2255-06-05T23:47:34.740991Z',
  '2255-06-05T23:47:34.740992Z',
  '9999-12-31T23:59:59.999999Z',
];
const NANOS = [
  '0',
  '1',
  '999',
  '1582934400000000000',
  '9007199254740991000',
  '9223372036854775807',
  '18446744073709551615',
];

const oneOf = <Value>(values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
/** Mostly ordinary values: an item with only extreme values is almost always rejected. */
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const changesOf = (fields: Readonly<Record<string, readonly unknown[]>>): fc.Arbitrary<Changes> =>
  fc
    .record(Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, rarely(oneOf(values))])))
    .map(
      (made) =>
        Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) as Changes,
    );

const OBJECTS = [{}, { a: DOUBLES, b: TEXTS }, { usage: { cache_read: 2 ** 53 - 1, cache_creation: 1e13 } }];

const SPAN_FIELDS = {
  status: ['running', 'failed', 'timed_out', 'completed'],
  type: ['llm', 'tool', 'agent', 'retrieval', 'workflow'],
  name: TEXTS,
  started_at: TIMES,
  ended_at: TIMES,
  duration_ms: DOUBLES,
  model: ['gpt-4o', 'claude-sonnet-4-5', ...TEXTS],
  input_tokens: SIGNED,
  output_tokens: SIGNED,
  total_tokens: SIGNED,
  cost_usd: [...MONEY, null],
  error_message: TEXTS,
  input_data: OBJECTS,
  output_data: OBJECTS,
  metadata: OBJECTS,
} as const;

const TRACE_FIELDS = {
  agent: TEXTS,
  status: ['running', 'failed', 'timed_out', 'completed'],
  started_at: TIMES,
  ended_at: TIMES,
  duration_ms: DOUBLES,
  success: [true, false, null],
  outcome: TEXTS,
  error_message: TEXTS,
  total_tokens: SIGNED,
  total_cost_usd: MONEY,
  metadata: OBJECTS,
  sdk_version: TEXTS,
  environment: TEXTS,
  release: TEXTS,
  agent_version: TEXTS,
} as const;

/** An item for each value of each field, otherwise ordinary. */
export function oneExtremeEach(): Item[] {
  const each = (fields: Readonly<Record<string, readonly unknown[]>>): Changes[] =>
    Object.entries(fields).flatMap(([name, values]) => values.map((value) => ({ [name]: value }) as Changes));
  return [
    ...each(TRACE_FIELDS).map((trace) => anItem({ trace })),
    ...each(SPAN_FIELDS).map((changes) => {
      const item = anItem({ spans: 0 });
      return { trace: item.trace, spans: [aSpan(traceIdOf(item), changes)] };
    }),
  ];
}

/** Items of `POST /traces/batch` with one to five spans each. */
export const extremeItems = fc.array(
  fc
    .tuple(changesOf(TRACE_FIELDS), fc.array(changesOf(SPAN_FIELDS), { minLength: 1, maxLength: 5 }))
    .map(([trace, spans]) => {
      const item = anItem({ trace, spans: 0 });
      return {
        trace: item.trace,
        spans: spans.map((changes) => aSpan(traceIdOf(item), changes)),
      };
    }),
  { minLength: 15, maxLength: 20 },
);

const attribute = fc
  .tuple(
    oneOf([
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.cost',
      'gen_ai.request.model',
      'gen_ai.operation.name',
      'jackdaw.span.cost_usd',
      'jackdaw.span.total_tokens',
      'jackdaw.span.duration_ms',
      'jackdaw.trace.total_cost_usd',
      'jackdaw.trace.total_tokens',
      'jackdaw.trace.duration_ms',
      'jackdaw.trace.agent',
      'jackdaw.trace.started_at',
      'langfuse.prompt.version',
      'langfuse.prompt.name',
      'server.port',
      ...TEXTS,
    ]),
    fc.oneof(
      oneOf(INT64_TEXTS).map((intValue) => ({ intValue })),
      oneOf(DOUBLES).map((doubleValue) => ({ doubleValue })),
      oneOf(['NaN', 'Infinity', '-Infinity']).map((doubleValue) => ({ doubleValue })),
      oneOf([...TEXTS, ...TIMES, ...MONEY.map(String), 'gpt-4o', 'chat']).map((stringValue) => ({
        stringValue,
      })),
    ),
  )
  .map(([key, of]) => ({ key, value: of }));
const attributes = fc.array(attribute, { maxLength: 6 });
const hex = (digits: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 1, max: 15 }), { minLength: digits, maxLength: digits })
    .map((all) => all.map((one) => one.toString(16)).join(''));
const resource = (service: string) => ({
  attributes: [{ key: 'service.name', value: { stringValue: service } }],
});

/** Bodies of `POST /v1/traces`. */
export const extremeSpans = fc.array(
  fc
    .record({
      traceId: hex(32),
      spanId: hex(16),
      name: oneOf(TEXTS),
      kind: oneOf([0, 1, 5, 6, 2 ** 31 - 1]),
      startTimeUnixNano: oneOf(NANOS),
      endTimeUnixNano: oneOf(NANOS),
      flags: oneOf([0, 2 ** 32 - 1]),
      droppedAttributesCount: oneOf([0, 2 ** 32 - 1]),
      status: oneOf([{ code: 0 }, { code: 2, message: 'x'.repeat(70_000) }]),
      attributes,
    })
    .map((span) => ({ resourceSpans: [{ resource: resource('edge'), scopeSpans: [{ spans: [span] }] }] })),
  { minLength: 8, maxLength: 12 },
);

const counts = fc.array(oneOf(INT64_TEXTS), { maxLength: 4 });
const buckets = fc.record({ offset: oneOf([0, -1, 2 ** 31 - 1, -(2 ** 31)]), bucketCounts: counts });
const timed = {
  timeUnixNano: oneOf(NANOS),
  startTimeUnixNano: oneOf(NANOS),
  flags: oneOf([0, 1, 2 ** 32 - 1]),
  attributes,
};
const double = fc.oneof(oneOf<number | string>(DOUBLES), oneOf(['NaN', 'Infinity', '-Infinity']));
const number = fc.oneof(
  fc.record({ ...timed, asDouble: double }),
  fc.record({ ...timed, asInt: oneOf(INT64_TEXTS) }),
);
const measured = { ...timed, count: oneOf(INT64_TEXTS), sum: double, min: double, max: double };
const metric = fc.oneof(
  number.map((point) => ({ gauge: { dataPoints: [point] } })),
  fc.tuple(number, oneOf([1, 2])).map(([point, aggregationTemporality]) => ({
    sum: { dataPoints: [point], aggregationTemporality, isMonotonic: true },
  })),
  fc
    .record({ ...measured, bucketCounts: counts, explicitBounds: fc.array(double, { maxLength: 4 }) })
    .map((point) => ({ histogram: { dataPoints: [point], aggregationTemporality: 2 } })),
  fc
    .record({
      ...measured,
      scale: oneOf([0, 2 ** 31 - 1, -(2 ** 31)]),
      zeroCount: oneOf(INT64_TEXTS),
      zeroThreshold: double,
      positive: buckets,
      negative: buckets,
    })
    .map((point) => ({ exponentialHistogram: { dataPoints: [point], aggregationTemporality: 1 } })),
  fc
    .record({
      ...measured,
      quantileValues: fc.array(fc.record({ quantile: double, value: double }), { maxLength: 3 }),
    })
    .map((point) => ({ summary: { dataPoints: [point] } })),
);

/** Bodies of `POST /v1/metrics`. */
export const extremePoints = fc.array(
  fc.tuple(oneOf(['load', 'load', 'cpu', ...TEXTS]), oneOf(TEXTS), metric).map(([name, unit, data]) => ({
    resourceMetrics: [{ resource: resource('edge'), scopeMetrics: [{ metrics: [{ name, unit, ...data }] }] }],
  })),
  { minLength: 20, maxLength: 30 },
);

/** Bodies of `POST /v1/logs`. */
export const extremeLogs = fc.array(
  fc
    .record({
      timeUnixNano: oneOf(NANOS),
      observedTimeUnixNano: oneOf(NANOS),
      severityNumber: oneOf([0, 1, 24, 25, 2 ** 31 - 1, -1]),
      severityText: oneOf(TEXTS),
      flags: oneOf([0, 2 ** 32 - 1]),
      traceId: fc.oneof(fc.constant(''), hex(32)),
      eventName: oneOf(TEXTS),
      body: fc.oneof(
        oneOf(TEXTS).map((stringValue) => ({ stringValue })),
        oneOf(INT64_TEXTS).map((intValue) => ({ intValue })),
        double.map((doubleValue) => ({ doubleValue })),
      ),
      attributes,
    })
    .map((record) => ({
      resourceLogs: [{ resource: resource('edge'), scopeLogs: [{ logRecords: [record] }] }],
    })),
  { minLength: 10, maxLength: 15 },
);

/** Request bodies for prompts, alerts and users. */
export const extremePrompts = fc.array(
  fc.record({ name: oneOf(['p', 'q', ...TEXTS]), version: oneOf(SIGNED), template_text: oneOf(TEXTS) }),
  { minLength: 5, maxLength: 10 },
);
export const extremeAlerts = fc.array(
  fc.record({
    target_service: oneOf(['edge', 'researcher']),
    type: oneOf(['failure_rate', 'inactivity', 'cost_threshold', 'latency_threshold']),
    threshold: oneOf(DOUBLES),
    cooldown_minutes: oneOf(DOUBLES),
  }),
  { minLength: 10, maxLength: 15 },
);
export const extremeLimits = fc.array(oneOf([...SIGNED, null]), { minLength: 3, maxLength: 5 });

/** Query parameters for any route; most are unknown to a route and ignored. */
export const extremeQueries = fc.array(
  fc
    .record({
      page: rarely(oneOf(SIGNED)),
      page_size: rarely(oneOf(SIGNED)),
      limit: rarely(oneOf(SIGNED)),
      offset: rarely(oneOf(SIGNED)),
      days: rarely(oneOf(SIGNED)),
      hours: rarely(oneOf(SIGNED)),
      start_time: rarely(oneOf(TIMES)),
      end_time: rarely(oneOf(TIMES)),
      query: rarely(oneOf(TEXTS.filter((text) => text.length < 2000 && text.isWellFormed()))),
      version: rarely(oneOf(SIGNED)),
    })
    .map((fields) =>
      Object.entries(fields)
        .flatMap(([name, of]) => (of === undefined ? [] : `${name}=${encodeURIComponent(of)}`))
        .join('&'),
    ),
  { minLength: 3, maxLength: 3 },
);
