import fc from 'fast-check';
import t, { type Test } from 'tap';
import { moneyToNumber } from '../../src/signal/money.js';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import { GROUP_FIELDS, type GroupField, type GroupRequest } from '../../src/storage/contracts/run-groups.js';
import type { ComparedPeriods, PeriodTotals, RunFilter } from '../../src/storage/contracts/runs.js';
import { addPrompts } from '../storage/duckdb/prompt-oracle.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const MINUTE = 60_000_000;
const RUNS = 100;

interface Run {
  readonly trace: TraceHeader;
  readonly span: SpanRecord;
  readonly version: number | null;
}

/** Runs of three hours around NOON: one per minute and a half, with one call each. */
function someRuns(): Run[] {
  const one = <Value>(values: readonly Value[], i: number): Value => values[i % values.length] as Value;
  return Array.from({ length: RUNS }, (_, i) => {
    const trace = aHeader({
      agent: `agent ${i % 4}`,
      status: one(['completed', 'failed', 'completed', 'timed_out', 'running', 'completed', 'completed'], i),
      success: i % 5 === 0 ? null : i % 2 === 0,
      started_at: NOON + (((i * 37) % RUNS) - RUNS / 2) * 90_000_000,
      duration_ms: i % 6 === 0 ? null : ((i * 31) % 17) + 0.5,
      total_tokens: i % 8 === 0 ? null : i,
      total_cost_usd: i % 9 === 0 ? null : i * 1000,
      kind: i % 10 === 9 ? 'other' : 'agent',
      metadata: {
        user_id: one([null, 'ada', 'bob', 'eve', "o'neil", 'ada'], i),
        tags: one([null, ['blue'], ['blue', 'red'], ["o'k", 'red', 'large']], i),
      },
      environment: one([null, 'prod', 'test'], i),
      release: one(['1.0', '1.1'], i),
      agent_version: one([null, '2'], i),
      repository: one(['a/b', null, 'c/d'], i),
    });
    const span = aSpanRecord(trace.trace_id, {
      model: one([null, 'gpt-5', 'gpt-4o'], i),
      status: one(['completed', 'failed', 'completed', 'running'], i),
      started_at: trace.started_at + MINUTE,
      duration_ms: i % 3 === 0 ? null : i,
      total_tokens: i % 7 === 0 ? null : i,
      cost_usd: i % 4 === 0 ? null : 10 * i,
    });
    return { trace, span, version: i < 30 ? one([null, 1, 2, 2], i) : null };
  });
}

function userOf({ metadata }: TraceHeader): string | null {
  return typeof metadata?.user_id === 'string' ? metadata.user_id : null;
}

function tagsOf({ metadata }: TraceHeader): readonly string[] {
  return Array.isArray(metadata?.tags) ? metadata.tags.map(String) : [];
}

function valuesOf({ trace, span, version }: Run, field: GroupField): readonly (string | null)[] {
  const { agent, environment, release, agent_version, repository } = trace;
  if (field === 'tag') return tagsOf(trace).length === 0 ? [null] : tagsOf(trace);
  if (field === 'prompt_version') return version === null ? [] : [String(version)];
  const fields = {
    user: userOf(trace),
    agent,
    model: span.model,
    environment,
    release,
    agent_version,
    repository,
  };
  return [fields[field]];
}

/** The statistics of runs as a count by hand gives them; of calls if the field is the model. */
function totalsOf(runs: readonly Run[], field: GroupField): PeriodTotals {
  const known = <Value>(values: readonly (Value | null)[]): Value[] =>
    values.filter((value) => value !== null);
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  const ofCalls = field === 'model';
  const items = runs.map(({ trace, span }) =>
    ofCalls
      ? { ...span, success: null, cost: span.cost_usd, tokens: span.total_tokens ?? 0 }
      : { ...trace, cost: trace.total_cost_usd, tokens: trace.total_tokens },
  );
  const durations = known(items.map(({ duration_ms }) => duration_ms)).sort((a, b) => a - b);
  const quantile = (share: number): number | null => {
    const at = (durations.length - 1) * share;
    const [lower, upper] = [durations[Math.floor(at)], durations[Math.ceil(at)]];
    return lower === undefined || upper === undefined
      ? null
      : lower + (upper - lower) * (at - Math.floor(at));
  };
  const costs = known(items.map(({ cost }) => cost));
  const tokens = known(items.map((item) => item.tokens));
  return {
    runs: items.length,
    failed: items.filter(({ status }) => status === 'failed' || status === 'timed_out').length,
    success_count: items.filter(({ success }) => success === true).length,
    cost: costs.length === 0 ? null : moneyToNumber(sum(costs)),
    priced_runs: costs.length,
    tokens: tokens.length === 0 ? null : sum(tokens),
    p50_ms: quantile(0.5),
    p95_ms: quantile(0.95),
    failure_count: items.filter(({ success }) => success === false).length,
    finished_runs: items.filter(({ status }) => status !== 'running').length,
    last_at: items.length === 0 ? null : Math.max(...items.map(({ started_at }) => started_at)),
  };
}

function periodsOf(runs: readonly Run[], { start_time, end_time, group_by }: GroupRequest): ComparedPeriods {
  const within = (from: number, to: number): Run[] =>
    runs.filter(({ trace, span }) => {
      const { started_at } = group_by === 'model' ? span : trace;
      return started_at >= from && started_at < to;
    });
  return {
    total: totalsOf(within(start_time, end_time), group_by),
    previous_total: totalsOf(within(2 * start_time - end_time, start_time), group_by),
  };
}

/** Engines interpolate in different steps. */
function rounded({ total, previous_total }: ComparedPeriods): ComparedPeriods {
  const round = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 1e4) / 1e4);
  const both = (of: PeriodTotals): PeriodTotals => ({
    ...of,
    p50_ms: round(of.p50_ms),
    p95_ms: round(of.p95_ms),
  });
  return { total: both(total), previous_total: both(previous_total) };
}

const FILTERS: readonly { readonly filter: RunFilter; readonly isOf: (trace: TraceHeader) => boolean }[] = [
  { filter: {}, isOf: () => true },
  { filter: { user_id: 'ada' }, isOf: (run) => userOf(run) === 'ada' },
  { filter: { tag: 'red' }, isOf: (run) => tagsOf(run).includes('red') },
  {
    filter: { status: 'failed', environment: 'prod' },
    isOf: (run) => run.status === 'failed' && run.environment === 'prod',
  },
];

const anyRequest = fc.record({
  group_by: fc.constantFrom(...GROUP_FIELDS),
  from: fc.integer({ min: -130, max: 100 }),
  minutes: fc.integer({ min: 1, max: 150 }),
  limit: fc.constantFrom(1, 2, 100),
  which: fc.nat(FILTERS.length - 1),
  agent: fc.option(fc.nat(3)),
});

/** @returns the runs as stored, because headers follow their spans */
async function write(
  { store, control }: OpenedTelemetry,
  userId: string,
  runs: readonly Run[],
): Promise<Run[]> {
  await addPrompts(control.prompts, userId, ['p'], [1, 2]);
  for (let from = 0; from < runs.length; from += 25) {
    const items = runs.slice(from, from + 25).map(({ trace, span }) => ({ trace, spans: [span] }));
    await store.writer.traces({ tenant: userId, items }, RECEIVED);
  }
  for (const { trace, version } of runs)
    if (version !== null)
      await store.prompts.link(
        userId,
        { prompt_name: 'p', prompt_version: version, trace_id: trace.trace_id, span_id: null },
        NOON,
      );
  const all: Run[] = [];
  for (const { trace, ...run } of runs) {
    const stored = await store.runs.read(userId, trace.trace_id);
    if (stored === null) throw new Error(`the store has no run ${trace.trace_id}`);
    const { kind, status, duration_ms, total_tokens, total_cost_usd } = stored;
    all.push({ ...run, trace: { ...trace, kind, status, duration_ms, total_tokens, total_cost_usd } });
  }
  return all;
}

function checkGroups(t: Test, open: OpenTelemetry): void {
  void t.test('groups add up to a count by hand, and the rest is summed', async (t) => {
    const opened = await open(t, { fileRows: 40 });
    const { store } = opened;
    const userId = await opened.addUser();
    const all = await write(opened, userId, someRuns());
    await opened.caughtUp();
    const agents = new Map((await store.agents.list(userId)).map(({ id, name }) => [name, id]));
    for (const state of ['hot', 'moved']) {
      await neverDiffers(t, { runs: 60, ms: 5000 }, [anyRequest], async (asked) => {
        const { group_by, from, minutes, limit, which, agent } = asked;
        const { filter, isOf } = FILTERS[which] ?? { filter: {}, isOf: () => true };
        const { environment, ...others } = filter;
        const isFiltered = group_by !== 'model';
        const start_time = NOON + from * MINUTE;
        const request: GroupRequest = {
          group_by,
          start_time,
          end_time: start_time + minutes * MINUTE,
          sort: 'cost',
          limit,
          ...(agent === null ? {} : { agent_id: agents.get(`agent ${agent}`) ?? '' }),
          ...(isFiltered && environment !== undefined ? { environment } : {}),
          ...(isFiltered ? { filter: others } : {}),
        };
        const runs = all.filter(
          ({ trace }) =>
            trace.kind === 'agent' &&
            (agent === null || trace.agent === `agent ${agent}`) &&
            (!isFiltered || isOf(trace)),
        );
        const found = await store.groups.read(userId, request);
        same(rounded(found), rounded(periodsOf(runs, request)));
        const values = [...new Set(runs.flatMap((run) => valuesOf(run, group_by)))];
        const expected = values
          .map((value) => ({
            value,
            ...rounded(
              periodsOf(
                runs.filter((run) => valuesOf(run, group_by).includes(value)),
                request,
              ),
            ),
          }))
          .filter(({ total, previous_total }) => total.runs + previous_total.runs > 0);
        same(found.count, expected.length);
        same(found.groups.length, Math.min(limit, expected.length));
        for (const group of found.groups) {
          const value = group_by === 'agent' ? group.name : group.key;
          same(
            { value, ...rounded(group) },
            expected.find((one) => one.value === value),
          );
        }
        const costs = found.groups.map(({ total }) => total.cost ?? -1);
        same(
          costs,
          costs.toSorted((a, b) => b - a),
        );
        if (group_by === 'tag' || group_by === 'prompt_version' || expected.length <= limit) {
          same(found.others, null);
          return;
        }
        const shown = new Set(found.groups.map(({ key, name }) => (group_by === 'agent' ? name : key)));
        const left = runs.filter((run) => valuesOf(run, group_by).every((value) => !shown.has(value)));
        const none = { p50_ms: null, p95_ms: null, last_at: null };
        const { total, previous_total } = periodsOf(left, request);
        same(found.others, { total: { ...total, ...none }, previous_total: { ...previous_total, ...none } });
      });
      await opened.settled();
      t.comment(state);
    }

    const period = { start_time: NOON, end_time: NOON + 45 * MINUTE };
    const filter = { period, query: 'AGENT', sort: '-total_cost' as const, environment: 'prod' };
    const { items, count } = await store.agents.find(userId, filter, { offset: 0, limit: 3 });
    const runs = all.filter(({ trace }) => trace.kind === 'agent' && trace.environment === 'prod');
    const asked = { ...period, group_by: 'agent', sort: 'cost', limit: 1 } as const;
    const expected = [...agents.keys()]
      .map((name) => ({
        name,
        ...periodsOf(
          runs.filter(({ trace }) => trace.agent === name),
          asked,
        ),
      }))
      .filter(({ total, previous_total }) => total.runs + previous_total.runs > 0);
    t.equal(count, expected.length);
    t.strictSame(
      items.map(({ name, total_cost, last_run_at, periods }) => ({
        name,
        total_cost,
        last_run_at,
        ...(periods && rounded(periods)),
      })),
      expected
        .toSorted((a, b) => (b.total.cost ?? -1) - (a.total.cost ?? -1))
        .slice(0, 3)
        .map(({ name, ...periods }) => ({
          name,
          total_cost: periods.total.cost,
          last_run_at: periods.total.last_at,
          ...rounded(periods),
        })),
    );
    const nobody = { period: { start_time: NOON + 20_000 * MINUTE, end_time: NOON + 20_100 * MINUTE } };
    t.strictSame(await store.agents.find(userId, nobody, { offset: 0, limit: 3 }), {
      items: [],
      count: 0,
    });
  });

  void t.test('names what got worse, the worst first', async (t) => {
    const opened = await open(t);
    const userId = await opened.addUser();
    const runsOf = (agent: string, isNow: boolean, of: (i: number) => Partial<TraceHeader>): TraceHeader[] =>
      Array.from({ length: 24 }, (_, i) =>
        aHeader({
          agent,
          started_at: NOON + (isNow ? i : i - 30) * MINUTE,
          duration_ms: 1000,
          total_cost_usd: 1_000_000,
          success: true,
          ...of(i),
        }),
      );
    const same = (): Partial<TraceHeader> => ({});
    const traces = [
      ...['steady', 'dear', 'slow', 'failing', 'lost'].flatMap((agent) => runsOf(agent, false, same)),
      ...runsOf('steady', true, (i) => (i === 0 ? { status: 'failed' } : {})),
      ...runsOf('dear', true, () => ({ total_cost_usd: 2_000_000 })),
      ...runsOf('slow', true, () => ({ duration_ms: 1500 })),
      ...runsOf('failing', true, (i) => (i % 2 === 0 ? { status: 'failed' } : {})),
      ...runsOf('lost', true, (i) => ({ success: i % 4 > 0 })),
      // Too few to judge.
      ...runsOf('rare', false, same).slice(-4),
      ...runsOf('rare', true, () => ({ total_cost_usd: 9_000_000, status: 'failed' })).slice(0, 4),
    ];
    await opened.store.writer.traces(
      { tenant: userId, items: traces.map((trace) => ({ trace, spans: [] })) },
      RECEIVED,
    );
    await opened.caughtUp();
    const { groups } = await opened.store.groups.read(userId, {
      group_by: 'agent',
      start_time: NOON,
      end_time: NOON + 30 * MINUTE,
      sort: 'regression',
      limit: 100,
    });
    t.strictSame(
      groups.map(({ name, regressions }) => [name, regressions]),
      [
        ['failing', ['failures']],
        ['lost', ['success']],
        ['dear', ['cost']],
        ['slow', ['duration']],
        ['rare', []],
        ['steady', []],
      ],
    );
  });
}

await onEveryTelemetry(t, checkGroups);
