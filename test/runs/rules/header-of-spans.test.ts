import fc from 'fast-check';
import t from 'tap';
import { contextOf } from '../../../src/runs/rules/context-of-spans.js';
import { headerOf, topmost, type HeaderSpan } from '../../../src/runs/rules/header-of-spans.js';
import { AGENT_SOURCES, RUN_KINDS, RUN_STATUSES, type AgentSource } from '../../../src/signal/span.js';
import { holds } from '../../support/property.js';

const NOON = 1_768_478_400_000_000;

/** An ended span; times are microseconds after noon. */
function aSpan(id: string, parent: string | null, changes: Partial<HeaderSpan> = {}): HeaderSpan {
  return {
    span_id: id,
    parent_span_id: parent,
    parent_is_remote: null,
    type: 'custom',
    status: 'completed',
    started_at: NOON,
    ended_at: NOON + 1000,
    error_message: null,
    agent_hint: null,
    run_kind: null,
    context: null,
    ...changes,
  };
}

const named = (source: AgentSource, name: string) => ({ agent_hint: { source, name } });

void t.test('status and error come from the root, the times from all spans', async (t) => {
  const root = aSpan('b', null, { status: 'failed', error_message: 'refused', started_at: NOON + 500 });
  const early = aSpan('a', 'b', {
    started_at: NOON - 250,
    ended_at: NOON + 9000,
    error_message: 'of a step',
  });
  t.match(headerOf([root, early]), {
    status: 'failed',
    started_at: NOON - 250,
    ended_at: NOON + 9000,
    duration_ms: 9.25,
    error_message: 'refused',
  });
});

void t.test('a topmost span with a remote parent is a root, others once the run has waited', async (t) => {
  const remote = { parent_is_remote: true } as const;
  const failed = { status: 'failed', error_message: 'refused' } as const;
  const statusOf = (spans: readonly HeaderSpan[]) => [headerOf(spans).status, headerOf(spans, true).status];
  const gateway = aSpan('g', 'gone', { ...remote, ...failed });
  t.same(statusOf([gateway, aSpan('a', 'g')]), ['failed', 'failed']);
  // Clients with times in milliseconds start both at once, and the child may have the smaller id.
  t.same(statusOf([gateway, aSpan('a', 'g', remote)]), ['failed', 'failed']);
  t.same(statusOf([aSpan('a', 'gone', { started_at: NOON - 1 }), gateway]), ['failed', 'failed']);
  t.same(statusOf([gateway, aSpan('gone', null)]), ['completed', 'completed'], 'its parent arrived');
  t.same(statusOf([gateway, aSpan('gone', 'unknown')]), ['running', 'completed']);
  t.same(statusOf([aSpan('a', 'gone', failed), aSpan('b', 'a')]), ['running', 'failed']);
  const later = { started_at: NOON + 5 };
  t.same(statusOf([aSpan('b', 'gone', { ...later, ...failed }), aSpan('a', 'gone')]), [
    'running',
    'completed',
  ]);
  t.same(statusOf([aSpan('a', 'b', failed), aSpan('b', 'a', later)]), ['running', 'failed'], 'a circle');
  const open = { status: 'running', ended_at: null } as const;
  t.same(statusOf([aSpan('g', 'gone', { ...remote, ...open })]), ['running', 'running']);
});

void t.test('a run is running until its root ends', async (t) => {
  const goesOn = { status: 'running', ended_at: null, duration_ms: null, error_message: null };
  t.match(headerOf([aSpan('a', 'unknown', { status: 'failed', error_message: 'refused' })]), goesOn);
  const root = aSpan('r', null, { status: 'running', ended_at: null });
  t.match(headerOf([root, aSpan('a', 'r')]), goesOn);
  const noEnd = aSpan('r', null, { status: 'failed', ended_at: null });
  t.match(headerOf([noEnd, aSpan('a', 'r', { ended_at: NOON + 7 })]), {
    status: 'failed',
    ended_at: NOON + 7,
  });
  t.match(headerOf([aSpan('r', null, { ended_at: null })]), { ended_at: NOON, duration_ms: 0 });
});

void t.test('the earliest root counts, then the one with the smallest id', async (t) => {
  const late = aSpan('a', null, { started_at: NOON + 1, status: 'failed' });
  t.equal(headerOf([late, aSpan('b', null), aSpan('c', null, { status: 'timed_out' })]).status, 'completed');
  t.equal(topmost([late, aSpan('x', 'y', { started_at: NOON - 1 })]), late);
  t.equal(topmost([aSpan('x', 'y'), aSpan('w', 'y')])?.span_id, 'w');
  t.equal(topmost<HeaderSpan>([]), undefined);
});

void t.test(
  'the agent comes from the best source, then the topmost, earliest and smallest span',
  async (t) => {
    const agentOf = (...spans: HeaderSpan[]): string => headerOf(spans).agent;
    t.equal(agentOf(aSpan('a', null)), 'default');
    const root = aSpan('r', null, named('root span', 'the root'));
    t.equal(agentOf(root, aSpan('a', 'r', named('service.name', 'shop'))), 'shop');
    t.equal(
      agentOf(
        root,
        aSpan('a', 'r', named('service.name', 'shop')),
        aSpan('b', 'a', named('agent span', 'deep')),
      ),
      'deep',
    );
    const hint = (name: string) => named('agent span', name);
    t.equal(
      agentOf(
        root,
        aSpan('a', 'b', { ...hint('below'), started_at: NOON - 5 }),
        aSpan('b', 'r', hint('above')),
      ),
      'above',
    );
    t.equal(
      agentOf(
        root,
        aSpan('a', 'r', { ...hint('late'), started_at: NOON + 1 }),
        aSpan('b', 'r', hint('early')),
      ),
      'early',
    );
    t.equal(agentOf(root, aSpan('b', 'r', hint('second')), aSpan('a', 'r', hint('first'))), 'first');
    t.equal(agentOf(aSpan('b', 'gone', hint('orphan')), aSpan('a', 'r', hint('child')), root), 'orphan');
    AGENT_SOURCES.forEach((source, i) => {
      const worse = AGENT_SOURCES.slice(i).map((other, n) => aSpan(`w${n}`, 'r', named(other, other)));
      t.equal(agentOf(aSpan('r', null), ...worse), source);
    });
  },
);

void t.test('handles cycles of parents and chains of a hundred thousand spans', async (t) => {
  const ring = [
    aSpan('a', 'b', named('mention', 'a')),
    aSpan('b', 'c'),
    aSpan('c', 'a', named('mention', 'c')),
  ];
  const below = aSpan('d', 'a', named('mention', 'd'));
  t.equal(headerOf([...ring, below]).agent, 'a');
  t.equal(headerOf([aSpan('s', 's', named('mention', 'self')), below]).agent, 'd');
  const chain = Array.from({ length: 100_000 }, (_, i) =>
    aSpan(String(i), i === 99_999 ? null : String(i + 1), named('mention', `agent ${i}`)),
  );
  t.equal(headerOf(chain).agent, 'agent 99999');
});

void t.test('a run belongs to an agent if any span says so or the topmost does not object', async (t) => {
  const [other, agent] = [{ run_kind: 'other' }, { run_kind: 'agent' }] as const;
  t.equal(headerOf([aSpan('a', null)]).kind, 'agent');
  t.equal(headerOf([aSpan('a', null, other), aSpan('b', 'a')]).kind, 'other');
  t.equal(headerOf([aSpan('a', null), aSpan('b', 'a', other)]).kind, 'agent');
  t.equal(headerOf([aSpan('a', null, other), aSpan('b', 'a', other), aSpan('c', 'b', agent)]).kind, 'agent');
  t.equal(headerOf([aSpan('b', 'gone', other), aSpan('c', 'gone')]).kind, 'other');
});

void t.test('the header does not depend on the order of spans', async (t) => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const parent = fc.option(fc.constantFrom(...ids, 'gone'));
  const spans = fc
    .tuple(
      ...ids.map((id) =>
        fc.record({
          span_id: fc.constant(id),
          parent_span_id: parent,
          parent_is_remote: fc.constantFrom(null, true as const),
          type: fc.constantFrom('agent' as const, 'custom' as const),
          status: fc.constantFrom(...RUN_STATUSES),
          started_at: fc.integer({ min: NOON, max: NOON + 2 }),
          ended_at: fc.option(fc.integer({ min: NOON + 2, max: NOON + 4 })),
          error_message: fc.option(fc.constant('refused')),
          context: fc.option(
            fc.record({
              session_id: fc.option(fc.constantFrom('s', 't')),
              user_id: fc.option(fc.constantFrom('u', 'v')),
              tags: fc.option(fc.constantFrom(['a'], ['a', 'b'])),
              environment: fc.option(fc.constantFrom('production', 'staging')),
              release: fc.option(fc.constantFrom('1.0', '1.1')),
              agent_version: fc.constant(null),
              repository: fc.option(fc.constantFrom('r', 'q')),
            }),
          ),
          run_kind: fc.constantFrom(null, 'other', 'other', 'other', ...RUN_KINDS),
          agent_hint: fc.option(
            fc.record({
              source: fc.constantFrom(...AGENT_SOURCES.slice(0, 2)),
              name: fc.constantFrom(...ids),
            }),
          ),
        }),
      ),
    )
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: ids.length })));
  holds(
    t,
    fc.property(
      spans,
      ([all, shuffled]) =>
        JSON.stringify([headerOf(all), headerOf(all, true), contextOf(all)]) ===
        JSON.stringify([headerOf(shuffled), headerOf(shuffled, true), contextOf(shuffled)]),
    ),
    { numRuns: 5000 },
  );
});
