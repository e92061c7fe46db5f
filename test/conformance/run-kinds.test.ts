import fc from 'fast-check';
import t, { type Test } from 'tap';
import { headerOf } from '../../src/runs/rules/header-of-spans.js';
import { RUN_KINDS, type SpanRecord } from '../../src/signal/span.js';
import { aFollowingRecord } from '../storage/duckdb/following-records.js';
import { neverDiffers, same } from '../support/property.js';
import { aSpanRecord, aTrace, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const ALL = { offset: 0, limit: 100 };
const RUNS = 4;
const SPANS = 3;

const numbered = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** A span of one of a few runs. The first span of a run is its root. */
const part = fc.record({
  run: fc.nat(RUNS - 1),
  span: fc.nat(SPANS - 1),
  kind: fc.constantFrom(null, 'other' as const, 'other' as const, 'agent' as const),
  agent: fc.constantFrom('shop', 'planner'),
  status: fc.constantFrom('completed' as const, 'completed' as const, 'failed' as const, 'running' as const),
});

type Part = typeof part extends fc.Arbitrary<infer Made> ? Made : never;

function record({ run, span, kind, agent, status }: Part, at: number): SpanRecord {
  return aSpanRecord(numbered(run + 1), {
    span_id: numbered((run + 1) * 100 + span),
    parent_span_id: span === 0 ? null : numbered((run + 1) * 100),
    type: 'custom',
    started_at: NOON + at * 1000,
    ended_at: status === 'running' ? null : NOON + at * 1000 + 7000,
    status,
    cost_usd: 1000,
    agent_hint: { source: 'service.name', name: agent },
    run_kind: kind,
  });
}

function checkKinds(t: Test, open: OpenTelemetry): void {
  void t.test('agent lists and stats follow run kinds', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    await neverDiffers(
      t,
      { runs: 20, ms: 2500 },
      [fc.array(fc.array(part, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 })],
      async (commits) => {
        const user = await opened.addUser();
        const known = new Map<string, SpanRecord>();
        /** Names to which a run once certainly belonged. */
        const born = new Set<string>();
        for (const [i, commit] of commits.entries()) {
          const spans = commit.map((one) => record(one, i));
          // Separately, so that a batch contains the same run several times.
          const items = spans.map((span) => aFollowingRecord([span]));
          await opened.store.writer.traces({ tenant: user, items }, { receivedAt: NOON });
          for (const span of spans) take(known, span);
          const runs = runsOf([...known.values()]);
          for (const run of runs) if (run.kind === 'agent' && run.hasRoot) born.add(run.agent);
          if (i === commits.length - 1) await opened.reopen();
          const found = await Promise.all(
            [...RUN_KINDS, undefined].map((kind) =>
              opened.store.runs.list(user, kind === undefined ? {} : { kind }, ALL),
            ),
          );
          const kinds = found.map(({ items, count }) => ({
            count,
            items: items.map(({ trace_id, agent_name, kind, status }) => [
              trace_id,
              agent_name,
              kind,
              status,
            ]),
          }));
          same(kinds, expectedLists(runs));
          const agents = await opened.store.agents.list(user);
          same(
            agents.map(({ name, total_runs, last_run_at }) => [name, total_runs, last_run_at]).sort(),
            expectedAgents(runs, born),
          );
          for (const { id, name } of agents) {
            for (const kind of [...RUN_KINDS, undefined]) {
              const filter = { agent_id: id, ...(kind === undefined ? {} : { kind }) };
              const { items, count } = await opened.store.runs.list(user, filter, ALL);
              const expected = runs
                .filter((run) => run.agent === name && (kind === undefined || run.kind === kind))
                .map(({ trace_id }) => trace_id);
              same([count, items.map(({ trace_id }) => trace_id)], [expected.length, expected]);
            }
          }
        }
      },
    );
  });

  void t.test('a service becomes an agent with its first agent run', async (t) => {
    const opened = await open(t);
    const user = await opened.addUser();
    const write = (spans: readonly SpanRecord[]): Promise<unknown> =>
      opened.store.writer.traces({ tenant: user, items: [aFollowingRecord(spans)] }, { receivedAt: NOON });
    const service = { agent_hint: { source: 'service.name', name: 'shop' } } as const;
    const [request, call] = [numbered(1), numbered(2)];
    const root = aSpanRecord(request, {
      ...service,
      span_id: numbered(11),
      type: 'agent',
      run_kind: 'other',
    });
    await write([{ ...root, status: 'failed' }]);
    const shown = await opened.store.runs.read(user, request);
    t.match(shown, { kind: 'other', agent_name: 'shop', status: 'failed' });
    const id = shown?.agent_id ?? '';
    t.same(await opened.store.agents.list(user), []);
    t.equal(await opened.store.agents.read(user, id), null);
    t.equal(await opened.store.agents.compare(user, [id]), null);
    t.match(await opened.store.runs.list(user, { agent_id: id, kind: 'other' }, ALL), { count: 1 });
    t.match(await opened.store.runs.list(user, { agent_id: id, kind: 'agent' }, ALL), {
      count: 0,
      items: [],
    });

    await write([aSpanRecord(request, { ...service, parent_span_id: numbered(11), run_kind: 'agent' })]);
    t.match(await opened.store.runs.read(user, request), { kind: 'agent', agent_id: id });
    t.match(await opened.store.agents.read(user, id), { id, name: 'shop', total_runs: 1 });

    await write([aSpanRecord(call, { ...service, span_id: numbered(21), run_kind: 'other' })]);
    t.match(await opened.store.runs.read(user, call), { kind: 'other', agent_id: id }, 'one id for both');
    t.match(await opened.store.agents.read(user, id), { total_runs: 1 });
    await opened.reopen();
    t.match(await opened.store.agents.read(user, id), { total_runs: 1 });
    t.match(await opened.store.runs.list(user, { agent_id: id }, ALL), { count: 2 });
    // A declared run belongs to an agent.
    await opened.store.writer.traces(
      { tenant: user, items: [aTrace(0, { trace_id: call, agent: 'shop' })] },
      { receivedAt: NOON },
    );
    t.match(await opened.store.runs.read(user, call), { kind: 'agent', agent_id: id });
    t.match(await opened.store.agents.read(user, id), { total_runs: 2 });
  });
}

/** Applies the messages of one span like a store. */
function take(known: Map<string, SpanRecord>, span: SpanRecord): void {
  const before = known.get(span.span_id);
  if (before === undefined) known.set(span.span_id, span);
  else if (before.status === 'running' && span.status !== 'running') {
    const kinds = [before.run_kind, span.run_kind];
    const run_kind = kinds.includes('agent') ? 'agent' : (before.run_kind ?? span.run_kind);
    known.set(span.span_id, { ...before, status: span.status, ended_at: span.ended_at, run_kind });
  }
}

interface ListedRun {
  readonly trace_id: string;
  readonly agent: string;
  readonly kind: string;
  readonly status: string;
  readonly started_at: number;
  readonly hasRoot: boolean;
}

/** Newest first. */
function runsOf(spans: readonly SpanRecord[]): ListedRun[] {
  return [...new Set(spans.map(({ trace_id }) => trace_id))]
    .map((trace_id) => {
      const of = spans.filter((span) => span.trace_id === trace_id);
      return { trace_id, ...headerOf(of), hasRoot: of.some(({ parent_span_id }) => parent_span_id === null) };
    })
    .sort((a, b) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1));
}

function expectedLists(all: readonly ListedRun[]): object[] {
  return [...RUN_KINDS, undefined].map((kind) => {
    const runs = all.filter((run) => kind === undefined || run.kind === kind);
    return {
      count: runs.length,
      items: runs.map((run) => [run.trace_id, run.agent, run.kind, run.status]),
    };
  });
}

function expectedAgents(runs: readonly ListedRun[], born: ReadonlySet<string>): unknown[][] {
  return [...born]
    .map((name) => {
      const own = runs.filter((run) => run.kind === 'agent' && run.agent === name);
      return [name, own.length, Math.max(...own.map(({ started_at }) => started_at))];
    })
    .filter(([, count]) => count !== 0)
    .sort();
}

await onEveryTelemetry(t, checkKinds);
