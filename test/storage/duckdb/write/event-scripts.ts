import fc from 'fast-check';
import { RUN_STATUSES, type SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aFollowingRecord } from '../following-records.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';

/** Batches that form one commit, outcomes, elapsed time and other store operations. */
export type EventStep =
  | { readonly batches: readonly SentBatch[] }
  | { readonly tenant: 0 | 1; readonly outcome: string; readonly traceId: string }
  | { readonly tenant: 0 | 1; readonly wants: readonly string[] | null }
  | 'sweep'
  | 'settle'
  | 'restart';

export interface SentBatch {
  readonly tenant: 0 | 1;
  readonly items: readonly TraceRecord[];
}

const TRACES = 4;
const SPANS = 4;
/** Idle time-out of undeclared runs. */
export const IDLE_MS = 1000;

const traceId = (trace: number): string => `00000000-0000-4000-8000-${String(trace).padStart(12, '0')}`;
const spanId = (trace: number, n: number): string =>
  `${String((n * 7 + 3) % 10).repeat(8)}-0000-4000-8000-${String(trace).padStart(6, '0')}${String(n).padStart(6, '0')}`;

/** A completed span. In half of the scripts the first span of each trace is the root. */
const span = (trace: number, n: number): fc.Arbitrary<SpanRecord> =>
  fc
    .record({
      parent: fc.constantFrom(...(n === 0 ? [null, 99] : [0, 0, n - 1, 99])),
      status: fc.constantFrom(...RUN_STATUSES, 'completed' as const),
      start: fc.integer({ min: 0, max: 3 }),
      agent: fc.constantFrom('planner', 'Größe'),
    })
    .map(({ parent, status, start, agent }) =>
      aSpanRecord(traceId(trace), {
        span_id: spanId(trace, n),
        parent_span_id: parent === null ? null : spanId(trace, parent),
        status,
        started_at: NOON + start,
        ended_at: status === 'running' ? null : NOON + 10 + n,
        total_tokens: n,
        agent_hint: { source: 'service.name', name: agent },
      }),
    );

/** The same span before its end. */
function pending(record: SpanRecord): SpanRecord {
  return { ...record, status: 'running', ended_at: null };
}

type Pool = readonly (readonly SpanRecord[])[];

const pool: fc.Arbitrary<Pool> = fc.tuple(
  ...Array.from({ length: TRACES }, (_, trace) =>
    fc.tuple(...Array.from({ length: SPANS }, (__, n) => span(trace, n))),
  ),
);

const item = (spans: Pool): fc.Arbitrary<TraceRecord> =>
  fc
    .record({
      trace: fc.nat({ max: TRACES - 1 }),
      sent: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 0 }),
      pending: fc.nat({ max: 2 ** SPANS - 1 }),
      isDeclared: fc.boolean(),
      status: fc.constantFrom('running', 'running', ...RUN_STATUSES),
      agent: fc.constantFrom('planner', 'declared'),
      error_message: fc.option(fc.constantFrom('it\'s "gone"', '🪶'), { nil: null }),
    })
    .map(({ trace, sent, pending: bits, isDeclared, ...header }) => {
      // A message of an undeclared run has at least one span.
      const numbers = isDeclared || sent.length > 0 ? sent : [0];
      const records = numbers.flatMap((n) => {
        const record = spans[trace]?.[n];
        return record === undefined ? [] : (bits >> n) & 1 ? pending(record) : record;
      });
      return isDeclared
        ? { trace: aHeader({ trace_id: traceId(trace), ...header }), spans: records }
        : aFollowingRecord(records, { idle_timeout_ms: IDLE_MS });
    });

const tenant = fc.constantFrom<0 | 1>(0, 1);

const step = (spans: Pool): fc.Arbitrary<EventStep> =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        batches: fc.array(
          fc.record({ tenant, items: fc.array(item(spans), { minLength: 1, maxLength: 3 }) }),
          {
            minLength: 1,
            maxLength: 3,
          },
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        tenant,
        outcome: fc.constantFrom('good', 'bad'),
        traceId: fc.nat({ max: TRACES - 1 }).map(traceId),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        tenant,
        wants: fc.constantFrom(null, ['*'], ['*'], ['trace.failed', 'agent.created'], ['trace.completed']),
      }),
    },
    { weight: 3, arbitrary: fc.constantFrom<EventStep>('sweep', 'sweep', 'settle', 'restart') },
  );

export const eventScript: fc.Arbitrary<readonly EventStep[]> = pool.chain((spans) =>
  fc.array(step(spans), { minLength: 2, maxLength: 14, size: 'max' }),
);
