import t from 'tap';
import { DERIVED } from '../../src/storage/tables.js';
import { completes, TraceState, type SpanRow, type TraceRow } from '../../src/storage/duckdb/trace-state.js';
import { RUN_STATUSES, type RunStatus } from '../../src/signal/span.js';

const ALL_DERIVED = DERIVED.duration_ms | DERIVED.total_tokens | DERIVED.total_cost_usd;
const START = 1_000_000;

function header(status: RunStatus, changes: Partial<TraceRow> = {}): TraceRow {
  return {
    trace_id: 't',
    status: RUN_STATUSES.indexOf(status),
    started_at: START,
    ended_at: null,
    duration_ms: null,
    success: null,
    outcome: null,
    error_message: null,
    total_tokens: null,
    total_cost_usd: null,
    metadata: null,
    sdk_version: null,
    derived: ALL_DERIVED,
    ...changes,
  };
}

function span(id: string, status: RunStatus, changes: Partial<SpanRow> = {}): SpanRow {
  return {
    trace_id: 't',
    span_id: id,
    parent_span_id: null,
    type: 1,
    status: RUN_STATUSES.indexOf(status),
    name: id,
    started_at: START,
    ended_at: null,
    duration_ms: null,
    model: null,
    input_tokens: null,
    output_tokens: null,
    total_tokens: null,
    cost_usd: null,
    error_message: null,
    derived: DERIVED.duration_ms | DERIVED.total_tokens,
    ...changes,
  };
}

function stored(row: TraceRow): TraceState {
  return new TraceState(row, { agentNo: 1, storedSeq: 5, firstSeq: 5, lastSeq: 5 });
}

void t.test('only a running one can be completed, and only by a terminal status', async (t) => {
  for (const before of RUN_STATUSES) {
    for (const later of RUN_STATUSES) {
      const expected = before === 'running' && later !== 'running';
      t.equal(completes(header(before), header(later)), expected, `${before}, then ${later}`);
    }
  }
});

const COMPLETIONS: readonly {
  readonly name: string;
  readonly before: Partial<TraceRow>;
  readonly later: Partial<TraceRow>;
  readonly expected: Partial<TraceRow>;
}[] = [
  {
    name: 'what was null is filled',
    before: {},
    later: {
      ended_at: START + 5000,
      success: false,
      outcome: 'o',
      error_message: 'e',
      metadata: '{}',
      sdk_version: '1',
    },
    expected: {
      ended_at: START + 5000,
      success: false,
      outcome: 'o',
      error_message: 'e',
      metadata: '{}',
      sdk_version: '1',
    },
  },
  {
    name: 'what was there stays, false and empty texts too',
    before: { success: false, outcome: '', metadata: '{"a":1}' },
    later: { success: true, outcome: 'o', metadata: '{"b":1}', started_at: START - 1 },
    expected: { success: false, outcome: '', metadata: '{"a":1}', started_at: START },
  },
  {
    name: 'a missing duration follows the end',
    before: {},
    later: { ended_at: START + 5000, duration_ms: 5 },
    expected: { duration_ms: 5, derived: ALL_DERIVED },
  },
  {
    name: 'a derived duration gives way to a declared one',
    before: { ended_at: START + 5000, duration_ms: 5 },
    later: { duration_ms: 99, derived: ALL_DERIVED & ~DERIVED.duration_ms },
    expected: { duration_ms: 99, derived: ALL_DERIVED & ~DERIVED.duration_ms },
  },
  {
    name: 'a declared duration stays',
    before: { duration_ms: 99, derived: ALL_DERIVED & ~DERIVED.duration_ms },
    later: { ended_at: START + 5000, duration_ms: 5 },
    expected: { duration_ms: 99, ended_at: START + 5000, derived: ALL_DERIVED & ~DERIVED.duration_ms },
  },
  {
    name: 'an end before the start is moved to the start',
    before: {},
    later: { ended_at: START - 5000 },
    expected: { ended_at: START, duration_ms: 0 },
  },
  {
    name: 'declared totals come in with the completion and are final',
    before: { total_tokens: 3, total_cost_usd: 30 },
    later: { total_tokens: 7, total_cost_usd: 70, derived: DERIVED.duration_ms },
    expected: { total_tokens: 7, total_cost_usd: 70, derived: DERIVED.duration_ms },
  },
];

for (const { name, before, later, expected } of COMPLETIONS) {
  void t.test(`completing a header: ${name}`, async (t) => {
    const state = stored(header('running', before));
    state.applyHeader(header('failed', later));
    t.match(state.header, { ...expected, status: RUN_STATUSES.indexOf('failed') });
    const { writesHeader, spans } = state.settle(9);
    t.ok(writesHeader);
    t.same(spans, []);
    t.same([state.firstSeq, state.lastSeq], [5, 5], 'no spans came');
    state.committed(9, spans);
    state.applyHeader(header('completed', { outcome: 'too late' }));
    t.notOk(state.settle(10).writesHeader, 'once only');
  });
}

void t.test('a repeat writes nothing', async (t) => {
  const state = stored(header('completed'));
  state.spans.set('a', {
    row: span('a', 'completed'),
    stored: { seq: 5, line: 0 },
    payload: undefined,
    changed: false,
  });
  state.applyHeader(header('failed', { outcome: 'other' }));
  state.applySpan(span('a', 'failed', { name: 'other' }), 'other');
  t.same(state.settle(9), { spans: [], writesHeader: false });
});

void t.test('a span is completed from what it lacked, payload by payload', async (t) => {
  const state = stored(header('running'));
  const running = span('a', 'running', { input_tokens: 4, total_tokens: 4 });
  state.spans.set('a', { row: running, stored: { seq: 5, line: 0 }, payload: '{"i":1}\t\t', changed: false });
  state.applySpan(
    span('a', 'completed', {
      output_tokens: 6,
      total_tokens: 6,
      cost_usd: 9,
      ended_at: START + 2000,
      duration_ms: 2,
    }),
    '{"i":2}\t{"o":2}\t{"m":2}',
  );
  const { spans } = state.settle(9);
  t.match(spans, [
    {
      row: { input_tokens: 4, output_tokens: 6, total_tokens: 10, cost_usd: 9, duration_ms: 2, status: 1 },
      payload: '{"i":1}\t{"o":2}\t{"m":2}',
    },
  ]);
  t.match(state.header, { total_tokens: 10, total_cost_usd: 9 }, 'the header follows');
  t.same([state.firstSeq, state.lastSeq], [5, 9]);
});

void t.test('payloads: nothing and something make something', async (t) => {
  for (const [before, later, merged] of [
    ['', '', ''],
    ['', '1\t\t', '1\t\t'],
    ['1\t\t', '', '1\t\t'],
    ['\t2\t', '1\tx\t3', '1\t2\t3'],
  ] as const) {
    const state = stored(header('running'));
    state.spans.set('a', {
      row: span('a', 'running'),
      stored: { seq: 5, line: 0 },
      payload: before,
      changed: false,
    });
    state.applySpan(span('a', 'completed'), later);
    t.equal(state.settle(9).spans[0]?.payload, merged);
  }
});

void t.test('late spans change derived totals, and no declared ones', async (t) => {
  const state = stored(header('completed', { total_tokens: 1000, derived: DERIVED.total_cost_usd }));
  state.applySpan(span('a', 'completed', { total_tokens: 5, cost_usd: 50 }), '');
  state.settle(9);
  t.match(state.header, { total_tokens: 1000, total_cost_usd: 50 });
  state.applySpan(span('b', 'completed', { parent_span_id: 'a', cost_usd: 20 }), '');
  state.settle(10);
  t.match(state.header, { total_tokens: 1000, total_cost_usd: 20 }, 'the deepest wins');
});

void t.test('an outcome is set in any status, and survives a completion', async (t) => {
  for (const status of RUN_STATUSES) {
    const state = stored(header(status, { outcome: 'before' }));
    state.setOutcome(true, undefined);
    t.match(state.header, { success: true, outcome: 'before' });
    state.setOutcome(false, 'after');
    state.applyHeader(header('completed', { success: true, outcome: 'sent' }));
    t.match(state.header, { success: false, outcome: 'after' });
    t.ok(state.settle(9).writesHeader);
  }
});

void t.test('a new trace knows the commits of its spans', async (t) => {
  const state = new TraceState(header('running'), { agentNo: 1, storedSeq: null, firstSeq: 0, lastSeq: 0 });
  t.same(state.settle(3), { spans: [], writesHeader: true });
  t.same([state.firstSeq, state.lastSeq], [0, 0]);
  state.committed(3, []);
  state.applySpan(span('a', 'running'), '');
  const { spans } = state.settle(7);
  t.same([state.firstSeq, state.lastSeq], [7, 7]);
  state.committed(7, spans);
  t.same(state.spans.get('a')?.stored, { seq: 7, line: 0 });
  t.equal(state.storedSeq, 7);
});
