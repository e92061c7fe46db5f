import fc from 'fast-check';
import t from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { neverDiffers } from '../../../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { IdSampler } from '../../../../src/processors/sample/decider.js';
import { TailUnderTest } from './tail-under-test.js';

const SLOW_MS = 5000;
const KEEP = `keep: ['trace.status != "completed"', 'trace.duration_ms > 5000.0', 'trace.spans.exists(s, s.type == "tool" && s.status == "failed")']`;

/** A run and the order in which its spans arrive. */
interface Scripted {
  readonly spans: readonly SpanRecord[];
  readonly isWanted: boolean;
}

const aScript: fc.Arbitrary<Scripted> = fc
  .record({
    id: fc.uuid({ version: 4 }),
    spans: fc.integer({ min: 1, max: 6 }),
    order: fc.array(fc.nat(1000), { minLength: 6, maxLength: 6 }),
    fate: fc.constantFrom('fails', 'is slow', 'has a failed tool', 'goes well', 'goes well', 'never ends'),
  })
  .map(({ id, spans: count, order, fate }) => {
    const spans = Array.from({ length: count }, (_, index) =>
      aSpanRecord(id, {
        span_id: `${id.slice(0, -2)}0${index}`,
        parent_span_id: index === 0 ? null : `${id.slice(0, -2)}00`,
        type: index === 0 ? 'agent' : 'tool',
        status:
          (fate === 'fails' && index === 0) || (fate === 'has a failed tool' && index > 0)
            ? 'failed'
            : 'completed',
        ended_at: NOON + (fate === 'is slow' && index === 0 ? SLOW_MS + 1 : 10) * 1000,
        metadata: { text: 'x'.repeat(200) },
      }),
    );
    const sent = fate === 'never ends' ? spans.slice(1) : spans;
    const hasFailedTool = fate === 'has a failed tool' && count > 1;
    return {
      spans: sent.toSorted((a, b) => (order[spans.indexOf(a)] ?? 0) - (order[spans.indexOf(b)] ?? 0)),
      // Without its root, a run counts as running.
      isWanted: fate === 'fails' || fate === 'is slow' || hasFailedTool || fate === 'never ends',
    };
  });

function partOf(spans: readonly SpanRecord[]): TraceRecord {
  const root = spans.find((span) => span.parent_span_id === null);
  return {
    trace: aHeader({
      trace_id: spans[0]?.trace_id ?? '',
      status: root?.status ?? 'running',
      ended_at: root?.ended_at ?? null,
      follows_spans: true,
    }),
    spans: [...spans],
  };
}

const aPlan = fc.record({
  runs: fc.uniqueArray(aScript, {
    maxLength: 30,
    selector: ({ spans }) => spans[0]?.trace_id.slice(0, -2),
  }),
  /** Spans per batch. */
  batch: fc.integer({ min: 1, max: 20 }),
  /** How strongly the runs are interleaved. */
  stride: fc.integer({ min: 1, max: 7 }),
  restarts: fc.array(fc.nat(10), { maxLength: 2 }),
  /** Batches that downstream refuses at first. */
  failures: fc.array(fc.nat(6), { maxLength: 2 }),
});

void t.test(
  'kept runs are complete and include every failed or slow one, despite restarts and failures',
  async (t) => {
    await neverDiffers(
      t,
      { runs: 60, ms: 10_000 },
      [aPlan],
      async ({ runs, batch, stride, restarts, failures }) => {
        let calls = 0;
        const tail = await TailUnderTest.open(t, `{ wait: 30s, percentage: 50, ${KEEP} }`, async (items) => {
          if (failures.includes(calls++))
            throw new ConsumeError('not now', { code: 'storage_unavailable', retryable: true });
          return Promise.resolve({ accepted: items.length, refused: [] });
        });
        const waiting = runs.map(({ spans }) => [...spans]).filter((spans) => spans.length > 0);
        for (let turn = 0; waiting.some((spans) => spans.length > 0); turn++) {
          const parts: TraceRecord[] = [];
          for (let i = 0; i < batch; i++) {
            const left = waiting.filter((spans) => spans.length > 0);
            const spans = left[(i * stride) % Math.max(left.length, 1)]?.splice(0, 1);
            if (spans?.length) parts.push(partOf(spans));
          }
          // A refused sender retries.
          while (!(await tail.send(parts))) await tail.pass(1000);
          if (restarts.includes(turn)) await tail.restart();
        }
        for (let minute = 0; minute < 4; minute++) await tail.pass(60_000);
        const sampler = new IdSampler(50);
        for (const { spans, isWanted } of runs) {
          if (spans.length === 0) continue;
          const id = spans[0]?.trace_id ?? '';
          const passed = new Set(tail.passedSpans(id).map(({ span_id }) => span_id));
          const isKept = passed.size > 0;
          if (isKept && passed.size !== spans.length)
            throw new Error(`of ${spans.length} spans ${passed.size} were passed on`);
          // A run is decided once its root has arrived, so later spans do not matter.
          const rootCame = spans.findIndex((span) => span.parent_span_id === null);
          const knownAtEnd = rootCame < 0 ? spans : spans.slice(0, rootCame + 1);
          const expectsRun = knownAtEnd.length === spans.length && isWanted;
          if (expectsRun && !isKept) throw new Error(`a wanted run was dropped: ${JSON.stringify(spans)}`);
          if (sampler.isKept(id) && !isKept) throw new Error('a run that its id chose was dropped');
          for (const rate of tail.rates(id))
            if (rate !== 1 && rate !== 0.5) throw new Error(`rate ${String(rate)}`);
        }
        if ((await tail.gauge('sample_held_runs')) !== 0) throw new Error('runs are held for ever');
        await tail.close();
      },
    );
  },
);
