import fc from 'fast-check';
import { callKey } from '../../src/signal/call-key.js';
import { NO_CONTEXT, serializeContext } from '../../src/signal/run-context.js';
import { NO_NODE } from '../../src/signal/service-map.js';
import { AGENT_SOURCES, RUN_STATUSES } from '../../src/signal/span.js';
import { durationMs, totalTokens } from '../../src/runs/rules/completion.js';
import { DERIVED, FOLLOWS_SPANS, REMOTE_PARENT, REMOTE_VERDICT } from '../../src/runs/rules/derived.js';
import type { NamedHeader } from '../../src/runs/rules/following-header.js';
import { contextOf, tagsKey } from '../../src/runs/rules/context-of-spans.js';
import { headerOf, topmost } from '../../src/runs/rules/header-of-spans.js';
import type { Payload } from '../../src/runs/rules/payload.js';
import type { SpanRow } from '../../src/runs/rules/rows.js';
import { factsOf } from '../../src/runs/rules/span-facts.js';
import { usageOf } from '../../src/runs/rules/usage.js';
import { payloadOf } from '../support/payloads.js';

/** Histories of one run: what arrived, in order, and in which commits. */

/** A received span: its row and its payload. */
export interface SentSpan {
  readonly row: SpanRow;
  readonly payload: Payload;
  readonly node: number;
}

export type Step =
  | { readonly kind: 'header'; readonly named: NamedHeader; readonly spans: readonly SentSpan[] }
  | { readonly kind: 'outcome'; readonly success: boolean; readonly outcome: string | null }
  | { readonly kind: 'timeout' };

const TRACE_ID = '00000000-0000-4000-8000-000000000001';
const STATUSES = RUN_STATUSES.map((_, code) => code);
const CONTEXTS = [
  serializeContext({ ...NO_CONTEXT, session_id: 's', release: 'r1' }),
  serializeContext({ ...NO_CONTEXT, session_id: 't', user_id: 'u', tags: ['a', 'b'], environment: 'e' }),
  serializeContext({
    ...NO_CONTEXT,
    user_id: 'v',
    tags: ['b'],
    release: 'r2',
    agent_version: 'a',
    repository: 'a',
  }),
];
/** Few keys, so that several scopes report the same calls. */
export const callKeys = fc
  .record({
    scope: fc.constantFrom('openai', 'langchain', 'proxy'),
    model: fc.constantFrom(null, 'gpt-4o', 'gpt-4o', 'gpt-4o-2024-08-06', 'o1'),
    provider: fc.constantFrom(null, 'openai', 'azure'),
    response: fc.constantFrom(null, null, 'one', 'two'),
  })
  .map(callKey);
/** The code of `other`. */
const OTHER = 1;
const RUNNING = RUN_STATUSES.indexOf('running');
const AGENT = 7;

const idOf = (n: number): string =>
  `${String((n * 7 + 3) % 10).repeat(8)}-0000-4000-8000-${String(n).padStart(12, '0')}`;
const nullable = <T>(arbitrary: fc.Arbitrary<T>, freq = 1) => fc.option(arbitrary, { nil: null, freq });

/** Few ids, so that spans repeat, complete each other, and have late, missing or cyclic parents. */
const span = (isMapped: boolean): fc.Arbitrary<SentSpan> =>
  fc
    .record({
      id: fc.nat(6),
      parent: nullable(fc.nat(8), 4),
      isRemote: fc.boolean(),
      type: fc.nat(5),
      node: isMapped ? fc.constantFrom(NO_NODE, AGENT, 8, 9) : fc.constant(NO_NODE),
      status: fc.constantFrom(RUNNING, RUNNING, ...STATUSES),
      start: fc.nat(6),
      length: nullable(fc.integer({ min: -2, max: 6 }), 3),
      duration: nullable(fc.nat(9)),
      input: nullable(fc.nat(9)),
      total: nullable(fc.nat(9)),
      cost: nullable(fc.nat(9)),
      call: nullable(callKeys, 4),
      error: nullable(fc.constantFrom('broken', '')),
      context: nullable(fc.constantFrom(...CONTEXTS)),
      kind: nullable(fc.constantFrom(OTHER, OTHER, OTHER, 0), 4),
      hint: nullable(
        fc.record({ source: fc.nat(AGENT_SOURCES.length - 1), name: fc.constantFrom('a', 'b', 'c') }),
        4,
      ),
    })
    .map((made) => {
      const ended_at = made.length === null ? null : made.start + made.length;
      const row: SpanRow = {
        trace_id: TRACE_ID,
        span_id: idOf(made.id),
        parent_span_id: made.parent === null ? null : idOf(made.parent),
        type: made.type,
        status: made.status,
        name: 'step',
        started_at: made.start,
        ended_at,
        duration_ms: made.duration ?? durationMs(made.start, ended_at),
        model: null,
        input_tokens: made.input,
        output_tokens: null,
        total_tokens: totalTokens({
          total_tokens: made.total,
          input_tokens: made.input,
          output_tokens: null,
        }),
        cost_usd: made.cost,
        error_message: made.error,
        agent_source: made.hint?.source ?? null,
        agent_name: made.hint?.name ?? null,
        call_details: null,
        call_key: made.call,
        same_as: null,
        counted: null,
        counted_tokens: null,
        counted_cost: null,
        map_hint: null,
        run_kind: made.kind,
        context: made.context,
        derived:
          (made.duration === null ? DERIVED.duration_ms : 0) |
          (made.total === null ? DERIVED.total_tokens : 0) |
          (made.isRemote ? REMOTE_PARENT : 0),
      };
      // A completion adds a missing payload, so that the node is derived again.
      return { row, payload: payloadOf(made.status === RUNNING ? 'sent\t\t' : '\tgiven\t'), node: made.node };
    });

const declared = fc
  .record({
    agent: fc.constantFrom('declared', 'other'),
    status: fc.constantFrom(RUNNING, ...STATUSES),
    start: fc.nat(6),
    length: nullable(fc.integer({ min: -2, max: 6 })),
    duration: nullable(fc.nat(9)),
    success: nullable(fc.boolean()),
    outcome: nullable(fc.constantFrom('', 'done')),
    error: nullable(fc.constantFrom('', 'refused')),
    tokens: nullable(fc.nat(99)),
    cost: nullable(fc.nat(99)),
    metadata: nullable(fc.constantFrom('{"of":1}', '{"of":2}')),
    session: nullable(fc.constantFrom('declared', 's')),
    tags: nullable(fc.constant('declared')),
    version: nullable(fc.constantFrom('1', '2')),
    release: nullable(fc.constantFrom('declared', 'r1')),
    rate: nullable(fc.constantFrom(0.1, 0.5)),
  })
  .map((made) => (spans: readonly SentSpan[]): NamedHeader => {
    const ended_at = made.length === null ? null : made.start + made.length;
    const facts = spans.map(({ row, node }) => factsOf(row, node));
    const [usage, context] = [usageOf(facts), contextOf(facts)];
    const header = {
      trace_id: TRACE_ID,
      kind: 0,
      status: made.status,
      started_at: made.start,
      ended_at,
      duration_ms: made.duration ?? durationMs(made.start, ended_at),
      success: made.success,
      outcome: made.outcome,
      error_message: made.error,
      total_tokens: made.tokens ?? usage.total_tokens,
      total_cost_usd: made.cost ?? usage.total_cost_usd,
      metadata: made.metadata,
      session_id: made.session ?? context.session_id,
      user_id: context.user_id,
      tags: made.tags ?? tagsKey(context),
      sdk_version: made.version,
      sample_rate: made.rate,
      idle_timeout_ms: null,
      orphan_wait_ms: null,
      environment: context.environment,
      release: made.release ?? context.release,
      agent_version: context.agent_version,
      repository: context.repository,
      derived:
        DERIVED.user_id |
        DERIVED.environment |
        DERIVED.agent_version |
        DERIVED.repository |
        (made.release === null ? DERIVED.release : 0) |
        (made.session === null ? DERIVED.session_id : 0) |
        (made.tags === null ? DERIVED.tags : 0) |
        (made.duration === null ? DERIVED.duration_ms : 0) |
        (made.tokens === null ? DERIVED.total_tokens : 0) |
        (made.cost === null ? DERIVED.total_cost_usd : 0),
    };
    return { header, agent: made.agent };
  });

const following = fc
  .record({
    metadata: nullable(fc.constantFrom('{"of":3}', '{"of":4}'), 3),
    version: nullable(fc.constantFrom('3', '4')),
    rate: nullable(fc.constantFrom(0.1, 1)),
    success: nullable(fc.boolean()),
    verdict: fc.constantFrom(0, REMOTE_VERDICT),
    timeout: nullable(fc.constant(1000), 4),
    wait: nullable(fc.constant(10), 4),
  })
  .map((made) => (spans: readonly SentSpan[]): NamedHeader => {
    const facts = spans.map(({ row, node }) => factsOf(row, node));
    const top = topmost(facts);
    const given = top === undefined ? null : headerOf(facts);
    const header = {
      trace_id: TRACE_ID,
      kind: given?.kind === 'other' ? OTHER : 0,
      status: RUN_STATUSES.indexOf(given?.status ?? 'running'),
      started_at: given?.started_at ?? 0,
      ended_at: given?.ended_at ?? null,
      duration_ms: given?.duration_ms ?? null,
      success: made.success,
      outcome: null,
      error_message: given?.error_message ?? null,
      ...usageOf(facts),
      metadata: made.metadata,
      session_id: contextOf(facts).session_id,
      user_id: contextOf(facts).user_id,
      tags: tagsKey(contextOf(facts)),
      sdk_version: made.version,
      sample_rate: made.rate,
      idle_timeout_ms: made.timeout,
      orphan_wait_ms: made.wait,
      environment: contextOf(facts).environment,
      release: contextOf(facts).release,
      agent_version: contextOf(facts).agent_version,
      repository: contextOf(facts).repository,
      derived:
        FOLLOWS_SPANS |
        DERIVED.total_tokens |
        DERIVED.total_cost_usd |
        (made.success === null ? 0 : made.verdict),
    };
    return { header, agent: given?.agent ?? 'default' };
  });

function step(isMapped: boolean): fc.Arbitrary<Step> {
  const header = (makes: fc.Arbitrary<(spans: readonly SentSpan[]) => NamedHeader>): fc.Arbitrary<Step> =>
    fc
      .tuple(makes, fc.array(span(isMapped), { maxLength: 4 }))
      .map(([make, spans]) => ({ kind: 'header', named: make(spans), spans }));
  return fc.oneof(
    { weight: 5, arbitrary: header(following) },
    { weight: 2, arbitrary: header(declared) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('outcome' as const),
        success: fc.boolean(),
        outcome: nullable(fc.constantFrom('by the owner', '')),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'timeout' as const }) },
  );
}

/** The steps of a run in one commit, and whether it is evicted and reloaded before. */
export interface Commit {
  readonly steps: readonly Step[];
  readonly isReloaded: boolean;
}

/** Time-outs have their own commits: other data in the same commit takes precedence. */
export const history: fc.Arbitrary<{ readonly isMapped: boolean; readonly commits: readonly Commit[] }> = fc
  .boolean()
  .chain((isMapped) =>
    fc
      .array(
        fc.record({
          steps: fc.array(step(isMapped), { minLength: 1, maxLength: 4 }),
          isReloaded: fc.boolean(),
        }),
        { minLength: 1, maxLength: 6 },
      )
      .map((commits) => ({ isMapped, commits: commits.flatMap(apart) })),
  );

function apart({ steps, isReloaded }: Commit): Commit[] {
  const groups: Step[][] = [[]];
  for (const one of steps) {
    if (one.kind === 'timeout') groups.push([one], []);
    else groups.at(-1)?.push(one);
  }
  return groups.filter((group) => group.length > 0).map((group) => ({ steps: group, isReloaded }));
}
