import fc from 'fast-check';
import t from 'tap';
import { headerOf, latestEnd, topmost } from '../../../src/runs/rules/header-of-spans.js';
import { HourSums } from '../../../src/signal/hour-sums.js';
import { AGENT_NODE, NO_NODE } from '../../../src/signal/service-map.js';
import { contextOf } from '../../../src/runs/rules/context-of-spans.js';
import { filledContext } from '../../../src/signal/run-context.js';
import { AGENT_SOURCES, RUN_STATUSES, type RunKind } from '../../../src/signal/span.js';
import { countTrace } from '../../../src/signal/trace-map.js';
import { speaksForRun } from '../../../src/runs/rules/run-outcome.js';
import { ManySpans } from '../../../src/runs/spans/many-spans.js';
import type { SpanState } from '../../../src/runs/spans/span-state.js';
import { callKey, filledCallKey } from '../../../src/signal/call-key.js';
import { NOT_TOLD, WHOLE } from '../../../src/runs/rules/duplicate-calls.js';
import { countedOnce, usageOf } from '../../../src/runs/rules/usage.js';
import { callKeys } from '../histories.js';
import { invariant } from '../../../src/signal/checked.js';
import { holds, same } from '../../support/property.js';

const AGENT = 7;

/** What comes of one span, in the order in which it comes; later messages fill what was open. */
type Message = Omit<SpanState, 'seq' | 'line' | 'row' | 'payload' | 'changed'>;

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 2 });
const id = (n: number): string => String.fromCharCode((n * 40_503) % 65_536, 1, 2, 3, 4, 5, 6, n);

/** Few ids, so that there are parents that come late or never, deep chains, and rings. */
const message = (ids: number): fc.Arbitrary<Message> =>
  fc.record({
    span_id: fc.nat(ids).map(id),
    parent_span_id: nullable(fc.nat(ids + 2).map(id)),
    type: fc.nat(5),
    node: fc.constantFrom(NO_NODE, NO_NODE, AGENT_NODE, AGENT, 8, 9),
    status: fc.constantFrom('running', 'running', ...RUN_STATUSES),
    started_at: fc.nat(6),
    ended_at: nullable(fc.integer({ min: 6, max: 12 })),
    error_message: nullable(fc.constantFrom('broken', '')),
    agent_hint: nullable(
      fc.record({ source: fc.constantFrom(...AGENT_SOURCES), name: fc.constantFrom('a', 'b', 'c') }),
    ),
    context: nullable(
      fc.record({
        session_id: nullable(fc.constantFrom('s', 't')),
        user_id: nullable(fc.constantFrom('u', 'v')),
        tags: nullable(fc.constantFrom(['a'], ['a', 'b'])),
      }),
    ),
    run_kind: nullable(fc.constantFrom('other', 'other', 'other', 'agent')),
    total_tokens: nullable(fc.constantFrom(0, 1, 5, 2 ** 53 - 1, 2 ** 52 + 1)),
    cost_usd: nullable(fc.constantFrom(0, 3, 999_999_999_999e6, 123_456_789_012_345)),
    call_key: fc.option(callKeys, { nil: null, freq: 4 }),
    same_as: fc.constant(null),
    counted: fc.constant(WHOLE),
  });

/** As a store lets messages of one span follow each other: `completedSpan`. */
function completed(before: Message, later: Message): Message {
  if (before.status !== 'running' || later.status === 'running') return before;
  const isBetter = rankOf(later) < rankOf(before);
  const ended_at = before.ended_at ?? later.ended_at;
  return {
    ...before,
    status: later.status,
    parent_span_id: before.parent_span_id ?? later.parent_span_id,
    ended_at: ended_at === null ? null : Math.max(ended_at, before.started_at),
    error_message: before.error_message ?? later.error_message,
    agent_hint: isBetter ? later.agent_hint : before.agent_hint,
    context: filledContext(before.context, later.context),
    run_kind: surer(before.run_kind, later.run_kind),
    total_tokens: before.total_tokens === null ? later.total_tokens : before.total_tokens,
    cost_usd: before.cost_usd ?? later.cost_usd,
    call_key: filledCallKey(before.call_key, later.call_key),
    node: later.node,
  };
}

function surer(before: RunKind | null, later: RunKind | null): RunKind | null {
  return before === 'agent' || later === 'agent' ? 'agent' : (before ?? later);
}

function rankOf({ agent_hint }: Message): number {
  return agent_hint === null ? Infinity : AGENT_SOURCES.indexOf(agent_hint.source);
}

function stateOf(message: Message): SpanState {
  return { ...message, seq: 1, line: 0, row: undefined, payload: undefined, changed: true };
}

function mapOf(spans: readonly Message[]): HourSums {
  const sums = new HourSums();
  countTrace(AGENT, spans, sums);
  return sums;
}

function linesOf(sums: HourSums): string[] {
  return [...sums.nodes(), ...sums.edges()].map((sum) => JSON.stringify(sum)).sort();
}

function fieldsOf(state: SpanState): unknown[] {
  return Object.entries(state).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Holds what is kept up to date against what all spans give. */
function compare(many: ManySpans, known: ReadonlyMap<string, Message>): void {
  const spans = [...known.values()];
  same(many.size, spans.length);
  same(many.header(), headerOf(spans));
  same(many.context(), contextOf(spans));
  same(many.usage(), usageOf(spans));
  const { told } = countedOnce(spans);
  for (const { span_id, same_as, counted } of spans)
    same({ same_as, counted }, told.get(span_id) ?? NOT_TOLD);
  same(many.latestEnd(), latestEnd(spans));
  same(
    many.hasRoot,
    spans.some((span) => span.parent_span_id === null),
  );
  for (const span of spans) {
    const found = many.get(span.span_id);
    const isKept = span.parent_span_id === null || speaksForRun(span);
    const error_message = isKept ? span.error_message : null;
    same(
      found && fieldsOf(found),
      fieldsOf({ ...stateOf({ ...span, error_message }), seq: 0, changed: false }),
    );
  }
}

for (const { ids, length } of [
  { ids: 4, length: 12 },
  { ids: 12, length: 40 },
  { ids: 60, length: 150 },
]) {
  void t.test(`what is kept up to date is what all spans give, with ${ids} ids`, async (t) => {
    holds(
      t,
      fc.property(
        fc.array(fc.array(message(ids), { minLength: 1, maxLength: 5 }), {
          minLength: 1,
          maxLength: length / 3,
        }),
        (commits) => {
          const many = new ManySpans();
          const known = new Map<string, Message>();
          let told = new HourSums();
          let isMapped = false;
          for (const [i, messages] of commits.entries()) {
            const before = mapOf([...known.values()]);
            const tally = many.map;
            const agent = { node: AGENT, hasSpan: tally.hasAgentSpan };
            for (const next of messages) {
              const stored = known.get(next.span_id);
              const merged = stored === undefined ? next : completed(stored, next);
              same(many.isLedBy([next]), topmost([...known.values(), next]) === next);
              known.set(next.span_id, merged);
              if (merged !== stored) many.put(stateOf(merged));
            }
            for (const { span_id, told: now } of many.duplicateRewrites()) {
              const retold = { ...invariant(known.get(span_id), 'span'), ...now };
              known.set(span_id, retold);
              many.put(stateOf(retold));
            }
            same(many.duplicateRewrites(), []);
            many.release();
            compare(many, known);
            many.release();
            const all = mapOf([...known.values()]);
            same(linesOf(many.map.total({ node: AGENT, hasSpan: many.map.hasAgentSpan })), linesOf(all));
            if (i > 0) same(linesOf(tally.before(agent)), linesOf(before));
            if (many.map === tally && tally.hasAgentSpan === agent.hasSpan && isMapped) {
              told.add(tally.changes(agent), 1);
            } else told = all;
            isMapped = true;
            same(linesOf(told), linesOf(all));
            many.map.settled();
          }
        },
      ),
      { numRuns: 400 },
    );
  });
}

void t.test(
  'calls that hang together by a third one are judged anew once they lie in one place',
  async (t) => {
    const aCall = (n: number, parent: number | null, start: number, scope: string | null): Message => ({
      ...{ span_id: id(n), parent_span_id: parent === null ? null : id(parent), type: 0, node: NO_NODE },
      ...{ status: 'running', started_at: start, ended_at: start + 4, error_message: null, agent_hint: null },
      ...{ run_kind: null, context: null, total_tokens: null, cost_usd: null, same_as: null, counted: WHOLE },
      call_key: scope && callKey({ scope, model: 'gpt-4o', provider: null, response: null }),
    });
    const answered = callKey({ scope: 'openai', model: null, provider: null, response: 'one' });
    const many = new ManySpans();
    const known = new Map<string, Message>();
    const put = (...spans: readonly Message[]): void => {
      for (const span of spans) {
        known.set(span.span_id, span);
        many.put(stateOf(span));
      }
      for (const { span_id, told } of many.duplicateRewrites()) {
        const retold = { ...invariant(known.get(span_id), 'span'), ...told };
        known.set(span_id, retold);
        many.put(stateOf(retold));
      }
      many.release();
      compare(many, known);
    };
    const [outer, above, inner, other] = [1, 2, 3, 4];
    const ofAnswer = {
      ...aCall(inner, above, 3, 'openai'),
      call_key: callKey({ scope: 'openai', model: 'gpt-4o', provider: null, response: 'one' }),
    };
    put(
      { ...aCall(outer, null, 0, null), call_key: answered },
      aCall(other, outer, 0, 'langchain'),
      ofAnswer,
      aCall(above, outer, 9, null),
    );
    t.equal(known.get(id(other))?.same_as, null);
    // What is above the inner call turns out to be a call, too, so that both have the same place.
    put({
      ...aCall(above, outer, 9, null),
      call_key: callKey({ scope: 'openai', model: null, provider: null, response: null }),
    });
    t.equal(known.get(id(other))?.same_as, id(inner));
  },
);

void t.test('a chain of ten thousand spans whose names differ, from its end to its root', async (t) => {
  const many = new ManySpans();
  const spans: Message[] = [];
  for (let n = 9_999; n >= 0; n--) {
    const span: Message = {
      span_id: id(n),
      parent_span_id: n === 0 ? null : id(n - 1),
      type: 5,
      node: n % 3 === 0 ? 8 : NO_NODE,
      status: 'completed',
      started_at: n,
      ended_at: n + 1,
      error_message: null,
      agent_hint: n === 0 ? null : { source: 'agent span', name: `agent ${n}` },
      run_kind: null,
      context: null,
      total_tokens: 1,
      cost_usd: n,
      call_key: null,
      same_as: null,
      counted: WHOLE,
    };
    spans.push(span);
    many.put(stateOf(span));
    if (n === 5_000) t.equal(many.header().agent, 'agent 5000');
  }
  t.same(many.header(), headerOf(spans));
  t.equal(many.header().agent, 'agent 1');
  t.same(many.usage(), { total_tokens: 1, total_cost_usd: 9_999 });
  t.same(linesOf(many.map.total({ node: AGENT, hasSpan: false })), linesOf(mapOf(spans)));
});
