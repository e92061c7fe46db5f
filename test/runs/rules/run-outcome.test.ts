import t from 'tap';
import { headerOf, type HeaderSpan } from '../../../src/runs/rules/header-of-spans.js';

const NOON = 1_768_478_400_000_000;
/** An agent span with its own name. */
const NAMED = { agent_hint: { source: 'agent span', name: 'an agent' } } as const;
const NAMED_ROOT = { agent_hint: { source: 'root', name: 'an agent' }, run_kind: 'agent' } as const;
/** The root of a trace with a name, which its client reports like an agent. */
const NAMED_TRACE = { agent_hint: { source: 'root', name: 'a trace' } } as const;
const OF_SERVICE = { agent_hint: { source: 'service.name', name: 'shop' } } as const;
const FAILED = { status: 'failed', error_message: 'it broke' } as const;

function aSpan(id: string, parent: string | null, ...changes: readonly Partial<HeaderSpan>[]): HeaderSpan {
  const base: HeaderSpan = {
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
  };
  return changes.reduce<HeaderSpan>((span, change) => ({ ...span, ...change }), base);
}

const agent = (id: string, parent: string | null, ...changes: readonly Partial<HeaderSpan>[]): HeaderSpan =>
  aSpan(id, parent, { type: 'agent' }, ...changes);

const WRAPPER = agent('r', null, OF_SERVICE);
/** An agent span with a shared name set by its client. */
const NAMELESS = agent('r', null, OF_SERVICE, { run_kind: 'agent' });
const later = { started_at: NOON + 5 };

const RUNS: Readonly<
  Record<string, readonly [spans: readonly HeaderSpan[], status: string, error: string | null]>
> = {
  'nothing failed': [[WRAPPER, agent('a', 'r', NAMED)], 'completed', null],
  'the root failed': [[agent('r', null, FAILED), agent('a', 'r', NAMED)], 'failed', 'it broke'],
  'an agent below a wrapper failed': [[WRAPPER, agent('a', 'r', NAMED, FAILED)], 'failed', 'it broke'],
  'an agent below a named trace failed': [
    [agent('r', null, NAMED_TRACE), agent('a', 'r', NAMED, FAILED)],
    'failed',
    'it broke',
  ],
  'below two wrappers': [[WRAPPER, aSpan('s', 'r'), agent('a', 's', NAMED, FAILED)], 'failed', 'it broke'],
  'a workflow that is no agent': [[WRAPPER, aSpan('a', 'r', NAMED, FAILED)], 'failed', 'it broke'],
  'an agent without a name': [[WRAPPER, agent('a', 'r', FAILED)], 'failed', 'it broke'],
  'an agent timed out': [
    [WRAPPER, agent('a', 'r', NAMED, FAILED, { status: 'timed_out' })],
    'timed_out',
    'it broke',
  ],
  'without a message': [[WRAPPER, agent('a', 'r', NAMED, FAILED, { error_message: null })], 'failed', null],
  'a step or a tool failed': [
    [WRAPPER, agent('a', 'r', NAMED), aSpan('s', 'a', FAILED), aSpan('t', 'r', FAILED)],
    'completed',
    null,
  ],
  'what only mentions an agent': [
    [WRAPPER, aSpan('a', 'r', FAILED, { agent_hint: { source: 'mention', name: 'a' } })],
    'completed',
    null,
  ],
  'an agent that its own agent recovered from': [
    [agent('r', null, NAMED_ROOT), agent('a', 'r', NAMED, FAILED)],
    'completed',
    null,
  ],
  'and one without a name of its own': [[NAMELESS, agent('a', 'r', NAMED, FAILED)], 'completed', null],
  'it failed itself': [[{ ...NAMELESS, ...FAILED }, agent('a', 'r', NAMED)], 'failed', 'it broke'],
  'a service is a wrapper': [
    [aSpan('r', null, OF_SERVICE, { run_kind: 'other' }), agent('a', 'r', NAMED, FAILED)],
    'failed',
    'it broke',
  ],
  'and so below a wrapper': [
    [WRAPPER, agent('a', 'r', NAMED), agent('b', 'a', NAMED, FAILED)],
    'completed',
    null,
  ],
  'whatever lies between': [
    [WRAPPER, agent('a', 'r', NAMED), aSpan('s', 'a'), agent('b', 's', NAMED, FAILED)],
    'completed',
    null,
  ],
  'an agent without a name below one that went well': [
    [WRAPPER, agent('a', 'r', NAMED), agent('b', 'a', FAILED)],
    'completed',
    null,
  ],
  'both failed': [
    [WRAPPER, agent('a', 'r', NAMED, FAILED), agent('b', 'a', NAMED, FAILED, { error_message: 'below' })],
    'failed',
    'it broke',
  ],
  'handed over to one that failed': [
    [WRAPPER, agent('a', 'r', NAMED), agent('b', 'r', NAMED, FAILED, later)],
    'failed',
    'it broke',
  ],
  'tried again': [
    [WRAPPER, agent('a', 'r', NAMED, FAILED), agent('b', 'r', NAMED, later)],
    'completed',
    null,
  ],
  'begun together: the greater id': [
    [WRAPPER, agent('a', 'r', NAMED), agent('b', 'r', NAMED, FAILED)],
    'failed',
    'it broke',
  ],
  'one that still runs': [
    [WRAPPER, agent('a', 'r', NAMED, FAILED), agent('b', 'r', NAMED, later, { status: 'running' })],
    'completed',
    null,
  ],
  'the root goes on': [
    [{ ...WRAPPER, status: 'running', ended_at: null }, agent('a', 'r', NAMED, FAILED)],
    'running',
    null,
  ],
  'the root has not come': [[agent('a', 'r', NAMED, FAILED)], 'running', null],
  'what lies between has not come': [[WRAPPER, agent('a', 'gone', NAMED, FAILED)], 'failed', 'it broke'],
  'a ring in which somebody speaks': [
    [WRAPPER, agent('a', 'b', NAMED, FAILED), aSpan('b', 'a')],
    'completed',
    null,
  ],
  'a ring in which nobody does': [
    [WRAPPER, aSpan('a', 'b'), aSpan('b', 'a'), agent('c', 'a', NAMED, FAILED)],
    'failed',
    'it broke',
  ],
};

for (const [what, [spans, status, error_message]] of Object.entries(RUNS))
  void t.test(what, async (t) => {
    t.match(headerOf(spans), { status, error_message });
    t.match(headerOf([...spans].reverse()), { status, error_message });
  });

void t.test('handles a chain of a hundred thousand spans', async (t) => {
  const chain = Array.from({ length: 100_000 }, (_, i) => aSpan(String(i), String(i + 1)));
  t.equal(headerOf([WRAPPER, ...chain, agent('x', '0', NAMED, FAILED)]).status, 'failed');
});
