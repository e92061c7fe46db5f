import fc from 'fast-check';
import { RUN_STATUSES, SPAN_TYPES, type SpanRecord } from '../../../src/signal/span.js';
import type { CallDetails } from '../../../src/signal/call-details.js';
import type { TraceHeader, TraceRecord } from '../../../src/signal/trace.js';
import type { RunFilter } from '../../../src/storage/contracts/runs.js';
import { DAY, NOON } from '../../support/run-records.js';

/** A change of one of two tenants. */
export type Change = { readonly tenant: 0 | 1 } & (
  | { readonly items: readonly TraceRecord[] }
  | { readonly traceId: string; readonly change: { readonly success: boolean; readonly outcome?: string } }
);

/** Steps of a script; the changes of one step are sent concurrently. */
export type Step = readonly Change[] | 'settle' | 'restart' | 'look';

const TRACES = 5;
const SPANS = 14;
const AGENTS = ['planner', 'Größe', 'agent\tthree'];
/** Few starts to produce ties; one before 1970. */
const STARTS = [NOON, NOON, NOON - 1, NOON - DAY, NOON - 40 * DAY, NOON + 123_456, -86_400_000_001];

/** Ids whose order differs from their numbers. */
function id(kind: number, n: number): string {
  const mixed = (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
  return `${mixed}-0000-4000-8000-${String(kind * 1000 + n).padStart(12, '0')}`;
}

export const TRACE_IDS = Array.from({ length: TRACES + 1 }, (_, n) => id(1, n));
const SPAN_IDS = Array.from({ length: SPANS }, (_, n) => id(2, n));

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 1 });
const text = fc.oneof(
  fc.constantFrom('', 'done', 'a\0b', 'tab\tline\nend', 'Ünïcode 🪶', 'it\'s "quoted" \\'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const count = fc.oneof(fc.integer({ min: 0, max: 500 }), fc.constantFrom(0, 2 ** 31, 2 ** 40));
const money = fc.oneof(fc.integer({ min: 0, max: 2_000_000 }), fc.constantFrom(0, 1, 999_999_999_999_999));
const call = fc.record({
  provider: fc.constant(null),
  usage: fc.constantFrom(null, { cached_read: 4 }, { reasoning: 2, audio_output: 1 }),
  cost: fc.constantFrom<CallDetails['cost'][]>(null, { source: 'priced', rule: 'p.yaml:1 m', input: 3 }),
});
const duration = fc.constantFrom(0, 0.001, 12.5, 1e9);
const object = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
}) as fc.Arbitrary<NonNullable<TraceHeader['metadata']>>;

const times = fc
  .record({
    started_at: fc.constantFrom(...STARTS),
    length: optional(fc.integer({ min: 0, max: 9_000_000 })),
  })
  .map(({ started_at, length }) => ({
    started_at,
    ended_at: length === null ? null : started_at + length,
  }));

const header = (traceId: string): fc.Arbitrary<TraceHeader> =>
  fc
    .record({
      agent: fc.constantFrom(...AGENTS),
      status: fc.constantFrom('running', 'running', ...RUN_STATUSES),
      duration_ms: optional(duration),
      success: optional(fc.boolean()),
      outcome: optional(text),
      error_message: optional(text),
      total_tokens: optional(count),
      total_cost_usd: optional(money),
      metadata: optional(object),
      sdk_version: optional(text),
      environment: optional(fc.constantFrom('production', 'staging')),
      release: optional(text),
      agent_version: fc.constant(null),
      repository: fc.constant(null),
      sample_rate: optional(fc.constantFrom(0.125, 0.25, 1)),
      kind: fc.constant('agent'),
      follows_spans: fc.constant(false),
      idle_timeout_ms: fc.constant(null),
      orphan_wait_ms: fc.constant(null),
      times,
    })
    .map(({ times: both, ...fields }) => ({ trace_id: traceId, ...fields, ...both }));

const span = (traceId: string, spanId: string): fc.Arbitrary<SpanRecord> =>
  fc
    .record({
      parent_span_id: optional(fc.constantFrom(...SPAN_IDS.filter((other) => other !== spanId).slice(0, 12))),
      parent_is_remote: fc.constantFrom(null, true),
      type: fc.constantFrom(...SPAN_TYPES),
      name: text,
      status: fc.constantFrom('running', 'running', ...RUN_STATUSES),
      duration_ms: optional(duration),
      model: optional(text),
      input_tokens: optional(count),
      output_tokens: optional(count),
      total_tokens: optional(count),
      cost_usd: optional(money),
      error_message: optional(text),
      input_data: optional(object),
      output_data: optional(object),
      metadata: optional(object),
      agent_hint: fc.constant(null),
      scores: fc.constant(null),
      map_hint: fc.constantFrom(
        null,
        null,
        '',
        '@',
        '@planner',
        '=orders',
        '#Step 1',
        '#',
        '/https://orders.example',
      ),
      run_kind: fc.constant(null),
      context: fc.constant(null),
      prompt: fc.constant(null),
      call: optional(call),
      times,
    })
    .map(({ times: both, ...fields }) => ({ span_id: spanId, trace_id: traceId, ...fields, ...both }));

const item: fc.Arbitrary<TraceRecord> = fc
  .record({
    // Excludes the last id, which is never sent.
    traceId: fc.constantFrom(...TRACE_IDS.slice(0, TRACES)),
    spanIds: fc.uniqueArray(fc.constantFrom(...SPAN_IDS), { maxLength: 5, size: 'max' }),
  })
  .chain(({ traceId, spanIds }) =>
    fc.record({ trace: header(traceId), spans: fc.tuple(...spanIds.map((spanId) => span(traceId, spanId))) }),
  );

const tenant = fc.constantFrom<0 | 1>(0, 1);
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ tenant, items: fc.array(item, { maxLength: 4, size: 'max' }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      tenant,
      traceId: fc.constantFrom(...TRACE_IDS),
      change: fc.oneof(
        fc.record({ success: fc.boolean() }),
        fc.record({ success: fc.boolean(), outcome: text }),
      ),
    }),
  },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.array(change, { minLength: 1, maxLength: 5 }) },
  { weight: 2, arbitrary: fc.constant('settle' as const) },
  { weight: 1, arbitrary: fc.constant('look' as const) },
  { weight: 2, arbitrary: fc.constant('restart' as const) },
);

export const script: fc.Arbitrary<readonly Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: 12,
  size: 'max',
});

export const filters: fc.Arbitrary<(RunFilter & { readonly agent?: string })[]> = fc.array(
  fc.record(
    {
      agent: fc.constantFrom(...AGENTS),
      status: fc.constantFrom(...RUN_STATUSES),
      success: fc.boolean(),
      start_time: fc.constantFrom(...STARTS),
      end_time: fc.constantFrom(...STARTS),
      query: fc.constantFrom('', 'D', 'grö', '\t', '🪶', '%', '_', "'", '\0'),
    },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 3 },
);
