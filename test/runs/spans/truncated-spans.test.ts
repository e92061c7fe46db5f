import t from 'tap';
import type { SpanFacts } from '../../../src/runs/rules/span-facts.js';
import { USUAL_COUNTS } from '../../../src/runs/rules/usage.js';
import { TruncatedSpans } from '../../../src/runs/spans/truncated-spans.js';
import { FollowedSpans } from '../../../src/runs/spans/followed-spans.js';
import type { SpanState } from '../../../src/runs/spans/span-state.js';
import { NO_CONTEXT } from '../../../src/signal/run-context.js';
import { NO_NODE } from '../../../src/signal/service-map.js';
import { TYPE_CODES } from '../../../src/signal/trace-map.js';

const key = (n: number): string => String.fromCharCode(n, 1, 2, 3, 4, 5, 6, 7);

function aSpan(n: number, parent: number | null, changes: Partial<SpanFacts> = {}): SpanState {
  return {
    span_id: key(n),
    parent_span_id: parent === null ? null : key(parent),
    parent_is_remote: null,
    type: TYPE_CODES.agent,
    node: NO_NODE,
    status: 'completed',
    started_at: n,
    ended_at: n + 10,
    error_message: null,
    agent_hint: null,
    run_kind: null,
    context: null,
    total_tokens: null,
    cost_usd: null,
    call_key: null,
    ...USUAL_COUNTS,
    ...{ seq: 1, line: 0, row: undefined, payload: undefined, changed: true },
    ...changes,
  };
}

const NAMED = { agent_hint: { source: 'agent span', name: 'a' } } as const;
const FAILED = { status: 'failed', error_message: 'it broke' } as const;
const ROOT = aSpan(1, null);
const AGENT = aSpan(2, 1, { ...NAMED, ...FAILED });

function stored(closed: TruncatedSpans): TruncatedSpans {
  return TruncatedSpans.stored({
    size: closed.size,
    truncatedSeq: 1,
    serialized: closed.serialize(),
    agent: 'a',
  });
}

function spansOf(...spans: SpanState[]): FollowedSpans {
  return FollowedSpans.of(spans);
}

void t.test('derives status and error of a truncated run', async (t) => {
  const failed = { status: 'failed', error_message: 'it broke' };
  for (const closed of [
    TruncatedSpans.of(spansOf(ROOT, AGENT)),
    stored(TruncatedSpans.of(spansOf(ROOT, AGENT))),
  ]) {
    t.match(closed.header(), failed, 'unchanged');
    closed.put(aSpan(3, 1, NAMED));
    t.match(closed.header(), failed, 'further agent spans do not count');
  }
  const late = stored(TruncatedSpans.of(spansOf(AGENT)));
  t.match(late.header(), { status: 'running', error_message: null });
  late.put(ROOT);
  t.match(late.header(), failed, 'a wrapper that arrives late');
  t.match(stored(late).header(), failed);
  const named = stored(TruncatedSpans.of(spansOf(AGENT)));
  named.put(aSpan(1, null, { agent_hint: { source: 'root', name: 'a' }, run_kind: 'agent' }));
  t.match(
    stored(named).header(),
    { status: 'completed', error_message: null },
    'a root that is not a wrapper',
  );
  const root = stored(
    TruncatedSpans.of(spansOf(aSpan(1, null, { ...FAILED, error_message: 'its own' }), AGENT)),
  );
  t.match(root.header(), { status: 'failed', error_message: 'its own' });
});

void t.test('a truncated run knows whether it only awaits a root', async (t) => {
  const open = { status: 'running', ended_at: null } as const;
  const running = stored(TruncatedSpans.of(spansOf(aSpan(2, 1), aSpan(3, 2, open))));
  t.match([running.haveEnded, running.hasRoot], [false, false]);
  running.addStored(aSpan(3, 2, open));
  running.put(aSpan(3, 2));
  running.put(aSpan(4, 2, { ended_at: 99 }));
  t.ok(stored(running).haveEnded);
  t.match(running.header(), { status: 'running', ended_at: null });
  t.match(running.header(true), { status: 'completed', ended_at: 99 });
  running.put(aSpan(1, 9, { ...FAILED, started_at: 5, parent_is_remote: true }));
  t.match([stored(running).hasRoot, stored(running).header()], [true, FAILED], 'the parent came, from afar');
  running.put(aSpan(9, null, { started_at: 7 }));
  t.match(running.header(), { status: 'completed', started_at: 2, ended_at: 99 });
});

void t.test('further model calls add to the usage once each', async (t) => {
  const call = { type: TYPE_CODES.llm, total_tokens: 5, cost_usd: 7 };
  const truncated = stored(TruncatedSpans.of(spansOf(ROOT, aSpan(2, 1, call))));
  t.same(truncated.usage(), { total_tokens: 5, total_cost_usd: 7 });
  const running = aSpan(3, 1, { ...call, status: 'running', total_tokens: null });
  truncated.put(running);
  truncated.release();
  truncated.addStored(running);
  truncated.put({ ...running, status: 'completed', total_tokens: 20 });
  truncated.put(aSpan(1, null, { type: TYPE_CODES.agent, total_tokens: 25 }));
  t.same(stored(truncated).usage(), { total_tokens: 25, total_cost_usd: 14 });
});

void t.test('a summary of an older version has no dimensions', (t) => {
  const context = { ...NO_CONTEXT, session_id: 's', user_id: 'u' };
  const now = TruncatedSpans.of(spansOf({ ...ROOT, context }));
  const { session_id, user_id, tags } = context;
  const summary = { ...(JSON.parse(now.serialize()) as object), context: { session_id, user_id, tags } };
  const serialized = JSON.stringify(summary);
  const old = TruncatedSpans.stored({ size: 1, truncatedSeq: 1, serialized, agent: 'a' });
  t.strictSame(old.context(), context);
  t.end();
});
