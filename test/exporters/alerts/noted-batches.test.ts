import t from 'tap';
import {
  NotedBatches,
  summaryOfMetrics,
  summaryOfTraces,
} from '../../../src/exporters/alerts/noted-batches.js';
import type { TraceHeader } from '../../../src/signal/trace.js';
import { aPoint } from '../../support/metric-points.js';
import { aHeader } from '../../support/run-records.js';

const USER = '018f0000-0000-7000-8000-00000000000a';

/** The agents that a batch of these runs may affect. */
function namesOf(noted: NotedBatches, ...runs: readonly Partial<TraceHeader>[]): string[] {
  const items = runs.map((run) => ({ trace: aHeader(run), spans: [] }));
  return [...noted.note(summaryOfTraces({ tenant: USER, items })).agents];
}

void t.test('notes agents and signals of a batch', async (t) => {
  const noted = new NotedBatches();
  t.same(noted.note(summaryOfTraces({ tenant: USER, items: [] })), {
    userId: USER,
    agents: new Set(),
    hasSpans: false,
    hasPoints: false,
  });
  t.match(noted.note(summaryOfMetrics({ tenant: USER, items: [aPoint()] })), {
    userId: USER,
    hasSpans: false,
    hasPoints: true,
  });
  t.match(noted.note(summaryOfTraces({ tenant: USER, items: [{ trace: aHeader(), spans: [] }] })), {
    hasSpans: true,
  });
  t.strictSame(namesOf(noted, { agent: 'one' }, { agent: 'two' }, { agent: 'one' }), ['one', 'two']);
});

void t.test('a run keeps the agents named by its earlier records', async (t) => {
  const noted = new NotedBatches();
  const trace_id = '018f0000-0000-7000-8000-0000000000b1';
  const follows = { trace_id, follows_spans: true } as const;
  t.strictSame(namesOf(noted, { ...follows, agent: 'planner' }), ['planner']);
  t.strictSame(namesOf(noted, { ...follows, agent: 'a service' }), ['a service', 'planner']);
  t.strictSame(namesOf(noted, { ...follows, agent: 'planner' }), ['planner', 'a service']);
  const running = { trace_id: '018f0000-0000-7000-8000-0000000000b2', status: 'running' } as const;
  namesOf(noted, { ...running, agent: 'declared' });
  t.strictSame(namesOf(noted, { ...follows, trace_id: running.trace_id, agent: 'spans' }), [
    'spans',
    'declared',
  ]);
  for (let at = 0; at < 10_000; at++) {
    const other = `018f0000-0000-7000-8000-${String(at).padStart(12, '0')}`;
    namesOf(noted, { ...follows, trace_id: other, agent: 'other' });
  }
  t.strictSame(namesOf(noted, { ...follows, agent: 'late' }), ['late']);
});
