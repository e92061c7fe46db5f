import t from 'tap';
import { NO_NODE } from '../../src/signal/service-map.js';
import { RUN_STATUSES, type SpanRecord } from '../../src/signal/span.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import { completes } from '../../src/runs/rules/completion.js';
import type { SpanRow, HeaderRow } from '../../src/runs/rules/rows.js';
import { factsOf, keyOf } from '../../src/runs/rules/span-facts.js';
import type { SpanState } from '../../src/runs/spans/span-state.js';
import { RunState } from '../../src/runs/run-state.js';
import { CONTEXT, DERIVED } from '../../src/runs/rules/derived.js';
import { payloadOf, payloadText } from '../support/payloads.js';
import { NOON } from '../support/run-records.js';
import { headerRow, spanRow } from '../storage/duckdb/incoming-records.js';

const A = '00000000-0000-4000-8000-00000000000a';
const B = '00000000-0000-4000-8000-00000000000b';
const MAX_SPANS = 1000;
const COMPLETED = RUN_STATUSES.indexOf('completed');

function stored(changes: Partial<TraceHeader>): RunState {
  const known = { lastSeenAt: NOON, isStored: true, isMapped: false, hasEnded: false };
  return new RunState(headerRow(changes), known, MAX_SPANS);
}

function storedSpan(changes: Partial<SpanRecord>, text?: string): SpanState {
  const { row } = spanRow(changes);
  const payload = text === undefined ? undefined : payloadOf(text);
  return { ...factsOf(row, NO_NODE), seq: 5, line: 0, row, payload, changed: false };
}

const NO_NODES = { incoming: () => NO_NODE, completed: () => NO_NODE };

function send(state: RunState, changes: Partial<TraceHeader>): void {
  state.applyHeader(headerRow(changes), [], NOON);
}

function sendSpan(state: RunState, changes: Partial<SpanRecord>, payload?: string): void {
  const span = spanRow(changes);
  state.applySpan(span.row, payload === undefined ? span.payload : payloadOf(payload), NO_NODES);
}

void t.test('only a running run can be completed, and only by a terminal status', async (t) => {
  for (const before of RUN_STATUSES) {
    for (const later of RUN_STATUSES) {
      const expected = before === 'running' && later !== 'running';
      const [a, b] = [headerRow({ status: before }), headerRow({ status: later })];
      t.equal(completes(a.header, b.header), expected, `${before}, then ${later}`);
    }
  }
});

const COMPLETIONS: readonly {
  readonly name: string;
  readonly before: Partial<TraceHeader>;
  readonly later: Partial<TraceHeader>;
  readonly expected: Partial<HeaderRow>;
}[] = [
  {
    name: 'fills missing values',
    before: {},
    later: {
      ended_at: NOON + 5000,
      success: false,
      outcome: 'o',
      error_message: 'e',
      metadata: {},
      sdk_version: '1',
    },
    expected: {
      ended_at: NOON + 5000,
      success: false,
      outcome: 'o',
      error_message: 'e',
      metadata: '{}',
      sdk_version: '1',
    },
  },
  {
    name: 'keeps existing values, including false and empty texts',
    before: { success: false, outcome: '', metadata: { a: 1 } },
    later: { success: true, outcome: 'o', metadata: { b: 1 }, started_at: NOON - 1 },
    expected: { success: false, outcome: '', metadata: '{"a":1}', started_at: NOON },
  },
  {
    name: 'derives a missing duration from the end',
    before: {},
    later: { ended_at: NOON + 5000 },
    expected: { duration_ms: 5 },
  },
  {
    name: 'a declared duration replaces a derived one',
    before: { ended_at: NOON + 5000 },
    later: { duration_ms: 99 },
    expected: { duration_ms: 99 },
  },
  {
    name: 'keeps a declared duration',
    before: { duration_ms: 99 },
    later: { ended_at: NOON + 5000 },
    expected: { duration_ms: 99, ended_at: NOON + 5000 },
  },
  {
    name: 'moves an end before the start to the start',
    before: {},
    later: { ended_at: NOON - 5000 },
    expected: { ended_at: NOON, duration_ms: 0 },
  },
  {
    name: 'declared totals of the completion are final',
    before: {},
    later: { total_tokens: 7, total_cost_usd: 70 },
    expected: { total_tokens: 7, total_cost_usd: 70, derived: DERIVED.duration_ms | CONTEXT },
  },
];

for (const { name, before, later, expected } of COMPLETIONS) {
  void t.test(`completing a header: ${name}`, async (t) => {
    const state = stored({ status: 'running', ...before });
    send(state, { status: 'failed', ...later });
    t.match(state.header, { ...expected, status: RUN_STATUSES.indexOf('failed') });
    const { writesHeader, spans } = state.finish(9);
    t.ok(writesHeader);
    t.same(spans, []);
    state.written(9, spans);
    send(state, { outcome: 'too late' });
    t.notOk(state.finish(10).writesHeader, 'once only');
  });
}

void t.test('a repeat writes nothing', async (t) => {
  const state = stored({});
  state.spans.put(storedSpan({ span_id: A }));
  send(state, { status: 'failed', outcome: 'other' });
  sendSpan(state, { span_id: A, status: 'failed', name: 'other' }, 'other');
  t.same(state.finish(9), { spans: [], writesHeader: false, ends: false });
});

void t.test('completing a span fills its missing values, payload by payload', async (t) => {
  const state = stored({ status: 'running' });
  const hint = { source: 'service.name', name: 'service' } as const;
  const running = { span_id: A, status: 'running', input_tokens: 4, agent_hint: hint } as const;
  state.spans.put(storedSpan(running, '{"i":1}\t\t'));
  const better = { source: 'agent span', name: 'agent' } as const;
  const end = { ended_at: NOON + 2000, output_tokens: 6, cost_usd: 9, agent_hint: better };
  sendSpan(state, { span_id: A, ...end }, '{"i":2}\t{"o":2}\t{"m":2}');
  const { spans } = state.finish(9);
  const row: Partial<SpanRow> = { input_tokens: 4, output_tokens: 6, total_tokens: 10, cost_usd: 9 };
  t.match(spans, [
    {
      row: { ...row, duration_ms: 2, status: COMPLETED, agent_name: 'agent' },
      payload: payloadOf('{"i":1}\t{"o":2}\t{"m":2}'),
    },
  ]);
  t.match(state.header, { total_tokens: 10, total_cost_usd: 9 }, 'the header is updated');
});

void t.test('merging payloads keeps the present parts', async (t) => {
  for (const [before, later, merged] of [
    ['', '', '\t\t'],
    ['', '1\t\t', '1\t\t'],
    ['1\t\t', '', '1\t\t'],
    ['\t2\t', '1\tx\t3', '1\t2\t3'],
  ] as const) {
    const state = stored({ status: 'running' });
    state.spans.put(storedSpan({ span_id: A, status: 'running' }, before));
    sendSpan(state, { span_id: A }, later);
    const { payload } = state.finish(9).spans[0] ?? {};
    t.equal(payload && payloadText(payload), merged);
  }
});

void t.test('late spans change derived but not declared totals', async (t) => {
  const state = stored({ total_tokens: 1000 });
  sendSpan(state, { span_id: A, total_tokens: 5, cost_usd: 50 });
  state.finish(9);
  t.match(state.header, { total_tokens: 1000, total_cost_usd: 50 });
  sendSpan(state, { span_id: B, parent_span_id: A, cost_usd: 20 });
  state.finish(10);
  t.match(state.header, { total_tokens: 1000, total_cost_usd: 50 }, 'the larger value counts');
});

void t.test('an outcome can be set in any status and survives a completion', async (t) => {
  for (const status of RUN_STATUSES) {
    const state = stored({ status, outcome: 'before' });
    state.setOutcome(true, undefined);
    t.match(state.header, { success: true, outcome: 'before' });
    state.setOutcome(false, 'after');
    send(state, { success: true, outcome: 'sent' });
    t.match(state.header, { success: false, outcome: 'after' });
    t.ok(state.finish(9).writesHeader);
  }
});

void t.test('a new run is written with its header and tracks the positions of its spans', async (t) => {
  const known = { lastSeenAt: NOON, isStored: false, isMapped: false, hasEnded: false };
  const state = new RunState(headerRow({ status: 'running' }), known, MAX_SPANS);
  t.same(state.finish(3), { spans: [], writesHeader: true, ends: false });
  state.written(3, []);
  t.notOk(state.finish(4).writesHeader, 'nothing is new of it');
  sendSpan(state, { span_id: A, status: 'running' });
  const { spans } = state.finish(7);
  t.equal(spans.length, 1);
  state.written(7, spans);
  t.match(state.spans.get(keyOf(A)), { seq: 7, line: 0 });
});
