import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { contextOf } from '../../../../src/runs/rules/context-of-spans.js';
import { headerOf, topmost } from '../../../../src/runs/rules/header-of-spans.js';
import { AGENT_SOURCES, RUN_STATUSES, type AgentHint, type SpanRecord } from '../../../../src/signal/span.js';
import type { TraceHeader, TraceRecord } from '../../../../src/signal/trace.js';
import { durationMs } from '../../../../src/runs/rules/completion.js';
import { usageOf } from '../../../../src/runs/rules/usage.js';
import { neverDiffers } from '../../../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { callKeys } from '../../../runs/histories.js';
import { aFollowingRecord } from '../following-records.js';
import { countsIn, usageNode, usageOf as modelsOf } from '../model-oracle.js';
import { spansOf, without } from '../shown-spans.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

/** The complete data of a run and how it is sent. */
interface Run {
  readonly spans: readonly SpanRecord[];
  /** Parts of the run in sending order; spans may come before their end, and more than once. */
  readonly sent: readonly TraceRecord[];
  /** Headers sent by declaring clients; the last one contains the values of all previous ones. */
  readonly declared: readonly TraceHeader[];
}

const spanId = (run: number, n: number): string =>
  `${String((n * 7 + 3) % 10).repeat(8)}-0000-4000-8000-${String(run).padStart(6, '0')}${String(n).padStart(6, '0')}`;
const traceId = (run: number): string => `00000000-0000-4000-8000-${String(run).padStart(12, '0')}`;

const optional = <T>(arbitrary: fc.Arbitrary<T>, freq = 1) => fc.option(arbitrary, { nil: null, freq });
const hint: fc.Arbitrary<AgentHint> = fc.record({
  source: fc.constantFrom(...AGENT_SOURCES),
  name: fc.constantFrom('planner', 'Größe', 'service'),
});

const span = (run: number, n: number): fc.Arbitrary<SpanRecord> =>
  fc
    .record({
      // Mostly the next span; the last id is unused.
      parent_span_id: optional(
        fc.constantFrom(...[n + 1, n + 1, n + 2, 99].map((above) => spanId(run, above))),
        4,
      ),
      status: fc.constantFrom('completed', 'completed', ...RUN_STATUSES),
      start: fc.integer({ min: -3, max: 3 }),
      length: optional(fc.integer({ min: 0, max: 5 }), 4),
      total_tokens: optional(fc.integer({ min: 0, max: 9 })),
      cost_usd: optional(fc.integer({ min: 0, max: 9 })),
      error_message: optional(fc.constantFrom('first', 'second')),
      agent_hint: optional(hint, 4),
      context: optional(
        fc.record({
          session_id: optional(fc.constantFrom('s', 't')),
          user_id: optional(fc.constantFrom('u', 'v')),
          tags: optional(fc.constantFrom(['a'], ['a', 'b'])),
          environment: optional(fc.constantFrom('production', 'staging')),
          release: optional(fc.constantFrom('1.0', '1.1')),
          agent_version: fc.constant(null),
          repository: optional(fc.constantFrom('r', 'q')),
        }),
      ),
      run_kind: optional(fc.constantFrom('other', 'other', 'other', 'agent'), 4),
      key: optional(callKeys, 4),
    })
    .map(({ start, length, key, ...fields }) => {
      const started_at = NOON + start;
      const ended_at = length === null ? null : started_at + length;
      const record = aSpanRecord(traceId(run), {
        span_id: spanId(run, n),
        started_at,
        ended_at,
        ...fields,
        call: key === null ? null : { provider: null, usage: null, cost: null, key },
      });
      return fields.status === 'running' ? pending(record) : record;
    });

/** The same span before its end. */
function pending(record: SpanRecord): SpanRecord {
  const { span_id, trace_id, parent_span_id, started_at } = record;
  return aSpanRecord(trace_id, { span_id, parent_span_id, started_at, status: 'running' });
}

const declaredHeaders = (run: number): fc.Arbitrary<TraceHeader[]> =>
  fc
    .record({
      isThere: fc.constantFrom(false, false, true),
      start: fc.integer({ min: -3, max: 3 }),
      error_message: optional(fc.constant('said')),
      total_tokens: optional(fc.integer({ min: 0, max: 9 })),
      statuses: fc.constantFrom<('running' | 'failed')[]>(['running'], ['failed'], ['running', 'failed']),
    })
    .map(({ isThere, start, statuses, ...fields }) => {
      const started_at = NOON + start;
      const common = { trace_id: traceId(run), agent: 'declared', started_at, metadata: { by: 'hand' } };
      return statuses.slice(0, isThere ? 2 : 0).map((status) =>
        aHeader({
          ...common,
          ...fields,
          status,
          ...(status === 'failed' ? { ended_at: started_at + 4, success: false, outcome: 'gone' } : {}),
        }),
      );
    });

const run = (number: number): fc.Arbitrary<Run> =>
  fc
    .integer({ min: 1, max: 7 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, n) => span(number, n))))
    .chain((spans) => {
      const versions = spans.flatMap((one) => [one, one, pending(one)]);
      return fc.record({
        spans: fc.constant(spans),
        // Each at least once in its final version, other versions optionally.
        order: fc.shuffledSubarray(versions, { minLength: 0 }),
        ends: fc.shuffledSubarray([...spans], { minLength: spans.length }),
        cuts: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 30, maxLength: 30 }),
        declared: declaredHeaders(number),
      });
    })
    .map(({ spans, order, ends, cuts, declared }) => {
      const all = [...order, ...ends];
      const sent: TraceRecord[] = [];
      for (let at = 0; at < all.length;) {
        const part = all.slice(at, at + (cuts[sent.length] ?? 1));
        at += part.length;
        sent.push(aFollowingRecord([...new Map(part.map((one) => [one.span_id, one])).values()]));
      }
      return { spans, sent, declared };
    });

interface Sending {
  readonly tenant: 0 | 1;
  readonly item: TraceRecord;
  /** Relation to the previous message: same batch, concurrent batch, or afterwards. */
  readonly after: 'batch' | 'beside' | 'commit' | 'settle' | 'restart';
}

const scenario = fc
  .integer({ min: 1, max: 3 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, n) => run(n))))
  .chain((runs) => {
    const items = ([0, 1] as const).flatMap((tenant) =>
      runs.flatMap(({ sent, declared }) =>
        [...sent, ...declared.map((trace) => ({ trace, spans: [] }))].map((item) => ({ tenant, item })),
      ),
    );
    const after = fc.constantFrom<Sending['after']>(
      ...(['batch', 'batch', 'beside', 'beside', 'commit', 'commit', 'commit', 'commit'] as const),
      ...(['batch', 'beside', 'commit', 'commit', 'commit', 'commit', 'settle', 'restart'] as const),
    );
    return fc.record({
      runs: fc.constant(runs),
      sendings: fc
        .tuple(
          fc.shuffledSubarray(items, { minLength: items.length }),
          fc.array(after, { minLength: items.length, maxLength: items.length }),
        )
        .map(([order, afters]) => order.map((one, i): Sending => ({ ...one, after: afters[i] ?? 'commit' }))),
    });
  });

/** The expected run, by the rules in the store's README. */
function expected({ spans, declared }: Run) {
  const given = headerOf(spans);
  const usage = usageOf(spans.map(usageNode));
  const context = contextOf(spans);
  const totals = {
    total_cost_usd: usage.total_cost_usd,
    sample_rate: null,
    span_count: spans.length,
    ...context,
    tags: context.tags ?? [],
  };
  const top = topmost(spans)?.span_id ?? '';
  const said = declared.at(-1);
  if (said === undefined) {
    const { agent: agent_name, ...followed } = given;
    const { total_tokens } = usage;
    const unsaid = { success: null, outcome: null };
    return { agent_name, ...followed, ...unsaid, ...totals, total_tokens, metadata: { top } };
  }
  const { agent, started_at, success, outcome, metadata } = said;
  const isOpen = said.status === 'running';
  const ended_at = isOpen && given.ended_at !== null ? Math.max(given.ended_at, started_at) : said.ended_at;
  return {
    agent_name: agent,
    kind: 'agent',
    status: isOpen ? given.status : said.status,
    started_at,
    ended_at,
    duration_ms: durationMs(started_at, ended_at),
    error_message: said.error_message ?? (isOpen ? given.error_message : null),
    success,
    outcome,
    ...totals,
    total_tokens: said.total_tokens ?? usage.total_tokens,
    metadata,
  };
}

async function send(opened: TestStore, tenants: readonly string[], sendings: readonly Sending[]) {
  let items: TraceRecord[] = [];
  let tenant: 0 | 1 = 0;
  let beside: Promise<unknown>[] = [];
  const write = (): void => {
    if (items.length === 0) return;
    beside.push(opened.store.writer.traces({ tenant: tenants[tenant] ?? '', items }, { receivedAt: NOON }));
    items = [];
  };
  for (const sending of sendings) {
    const { after } = sending;
    if (after !== 'batch' || sending.tenant !== tenant) write();
    if (after !== 'batch' && after !== 'beside') {
      await Promise.all(beside);
      beside = [];
      if (after === 'settle') await opened.store.settled();
      if (after === 'restart') await opened.reopen();
    }
    tenant = sending.tenant;
    items.push(sending.item);
  }
  write();
  await Promise.all(beside);
}

async function compare({ store }: TestStore, tenant: string, runs: readonly Run[]): Promise<void> {
  const counts = new Map<string, number>();
  const ids = new Map<string, string>();
  const certain = new Set<string>();
  for (const one of runs) {
    const id = one.spans[0]?.trace_id ?? '';
    const found = await store.runs.read(tenant, id);
    if (found === null) throw new Error(`trace ${id} is not there`);
    deepStrictEqual(without(found, 'spans', 'trace_id', 'agent_id'), expected(one), `trace ${id}`);
    const told = countsIn(one.spans);
    for (const { span_id, same_as, counted } of await spansOf(found)) {
      const expectedSame = told.get(span_id)?.same_as ?? undefined;
      deepStrictEqual([same_as, counted], [expectedSame, expectedSame && false], `span ${span_id}`);
    }
    const { agent_name: name, agent_id } = found;
    deepStrictEqual(agent_id, ids.get(name) ?? agent_id, 'an agent has one id');
    ids.set(name, agent_id);
    // Other kinds count for no agent.
    if (found.kind === 'other') continue;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (one.declared.length > 0 || one.spans.some((span) => span.parent_span_id === null)) certain.add(name);
  }
  const shown = await store.runs.list(tenant, {}, { offset: 0, limit: 100 });
  const newestFirst = runs
    .map((one) => ({ trace_id: one.spans[0]?.trace_id ?? '', started_at: expected(one).started_at }))
    .sort((a, b) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1));
  deepStrictEqual(
    shown.items.map(({ trace_id, started_at }) => ({ trace_id, started_at })),
    newestFirst,
  );
  const calls = runs.flatMap(({ spans }) => spans.map((span) => ({ header: aHeader(), span })));
  const models = await store.models.list(tenant, {}, { offset: 0, limit: 10 });
  deepStrictEqual(models.items, modelsOf(calls, {}));
  const listed = await store.agents.list(tenant);
  for (const { id, name, total_runs } of listed) {
    deepStrictEqual(total_runs, counts.get(name), `runs of ${name}`);
    deepStrictEqual(id, ids.get(name));
  }
  // The remaining agents may have been assigned to a run temporarily.
  const missing = [...certain].filter((name) => !listed.some((agent) => agent.name === name));
  deepStrictEqual(missing, []);
}

void t.test('an undeclared header derives from all spans in any order', async (t) => {
  const opened = await TestStore.open(t);
  let done = 0;
  await neverDiffers(t, { runs: 80, ms: 2000 }, [scenario], async ({ runs, sendings }) => {
    done++;
    const tenants = [await opened.addUser(), await opened.addUser()];
    await send(opened, tenants, sendings);
    for (const tenant of tenants) await compare(opened, tenant, runs);
    if (done % 4 > 0) return;
    await opened.reopen();
    for (const tenant of tenants) await compare(opened, tenant, runs);
  });
});
