import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import {
  MOST_SERIES,
  type FoundSeries,
  type RunTotals,
  type SeriesRequest,
} from '../../src/storage/contracts/runs.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import { moneyToNumber } from '../../src/signal/money.js';
import { addPrompts } from '../storage/duckdb/prompt-oracle.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const MINUTE = 60_000_000;

function someRuns(): TraceHeader[] {
  const statuses = ['completed', 'failed', 'timed_out', 'running'] as const;
  return Array.from({ length: 90 }, (_, i) =>
    aHeader({
      agent: `agent ${String(i % 3)}`,
      status: statuses[i % 7] ?? 'completed',
      success: i % 5 === 0 ? null : i % 2 === 0,
      started_at: NOON + ((i * 37) % 90) * 10_000_000,
      duration_ms: i % 6 === 0 ? null : ((i * 31) % 17) + 0.5,
      total_tokens: i % 8 === 0 ? null : i,
      total_cost_usd: i % 9 === 0 ? null : i * 1000,
      kind: i % 10 === 9 ? 'other' : 'agent',
    }),
  );
}

function totals(runs: readonly TraceHeader[]): RunTotals {
  const known = <Value>(values: readonly (Value | null)[]): Value[] =>
    values.filter((value) => value !== null);
  const sum = (values: readonly number[]): number | null =>
    values.length === 0 ? null : values.reduce((a, b) => a + b, 0);
  const durations = known(runs.map((run) => run.duration_ms)).sort((a, b) => a - b);
  const quantile = (share: number): number | null => {
    const at = (durations.length - 1) * share;
    const [lower, upper] = [durations[Math.floor(at)], durations[Math.ceil(at)]];
    return lower === undefined || upper === undefined
      ? null
      : rounded(lower + (upper - lower) * (at - Math.floor(at)));
  };
  const nanos = sum(known(runs.map((run) => run.total_cost_usd)));
  return {
    runs: runs.length,
    failed: runs.filter(({ status }) => status === 'failed' || status === 'timed_out').length,
    success_count: runs.filter(({ success }) => success === true).length,
    cost: nanos === null ? null : moneyToNumber(nanos),
    priced_runs: known(runs.map((run) => run.total_cost_usd)).length,
    tokens: sum(known(runs.map((run) => run.total_tokens))),
    p50_ms: quantile(0.5),
    p95_ms: quantile(0.95),
  };
}

/** Engines round interpolated values differently. */
function rounded(value: number): number {
  return Number(Number(value.toFixed(4)).toPrecision(9));
}

async function readSeries(
  { series }: Pick<TelemetryStore, 'series'>,
  ...asked: Parameters<TelemetryStore['series']['read']>
): Promise<FoundSeries> {
  const found = await series.read(...asked);
  const isPercentile = (key: string): boolean => key === 'p50_ms' || key === 'p95_ms';
  return JSON.parse(
    JSON.stringify(found, (key, value: unknown) =>
      isPercentile(key) && typeof value === 'number' ? rounded(value) : value,
    ),
  ) as FoundSeries;
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

function isWithin({ started_at, kind }: TraceHeader, from: number, to: number): boolean {
  return kind === 'agent' && started_at >= from && started_at < to;
}

function buckets(runs: readonly TraceHeader[], { start_time, end_time, interval }: SeriesRequest) {
  const within = runs.filter((run) => isWithin(run, start_time, end_time));
  const starts = within.map(({ started_at }) => Math.floor(started_at / interval) * interval);
  return [...new Set(starts)]
    .sort((a, b) => a - b)
    .map((start) => ({ start, ...totals(within.filter((_, i) => starts[i] === start)) }));
}

/** A slow machine does fewer runs instead of failing. */
const TIME_LIMIT = Number(process.env.JACKDAW_TEST_TIME ?? 2500);
const HOUR = 60 * MINUTE;

/** Concurrently written runs, few so that most change often, and the query afterwards. */
interface Step {
  readonly runs: readonly {
    readonly run: number;
    readonly minute: number;
    readonly agent: number;
    readonly duration_ms: number;
    readonly total_cost_usd: number;
  }[];
  readonly then: 'settle' | 'reopen' | null;
  readonly from: number;
  readonly minutes: number;
  readonly interval: number;
  readonly group_by: 'agent' | 'status' | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  runs: fc.array(
    fc.record({
      run: fc.integer({ min: 0, max: 30 }),
      minute: fc.integer({ min: 0, max: 400 }),
      agent: fc.integer({ min: 0, max: 2 }),
      duration_ms: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.double({ min: 0, max: 1e9, noNaN: true })),
      total_cost_usd: fc.integer({ min: 0, max: 1e6 }),
    }),
    { maxLength: 8 },
  ),
  then: fc.constantFrom(null, null, null, null, 'settle', 'reopen'),
  from: fc.integer({ min: -60, max: 200 }),
  minutes: fc.integer({ min: 1, max: 400 }),
  interval: fc.constantFrom(HOUR, HOUR, 20 * MINUTE),
  group_by: fc.constantFrom(null, 'agent', 'status'),
});

async function checkSteps(opened: OpenedTelemetry, steps: readonly Step[]): Promise<void> {
  const userId = await opened.addUser();
  const ids = Array.from({ length: 31 }, () => randomUUID());
  const runs = new Map<string, TraceHeader>();
  for (const { runs: written, then, from, minutes, interval, group_by } of steps) {
    const items = written.map(({ run, minute, agent, ...stats }) => ({
      trace: aHeader({
        trace_id: ids[run] ?? '',
        agent: `agent ${agent}`,
        started_at: NOON + minute * MINUTE,
        ...stats,
      }),
      spans: [],
    }));
    const start_time = NOON + from * MINUTE + (minutes % 3);
    const request = { start_time, end_time: start_time + minutes * MINUTE, interval };
    const asked = { ...request, ...(group_by === null ? {} : { group_by }) };
    const [meanwhile] = await Promise.all([
      readSeries(opened.store, userId, asked),
      opened.store.writer.traces({ tenant: userId, items }, RECEIVED),
    ]);
    const counted = meanwhile.groups.flatMap((group) => group.buckets.map((bucket) => bucket.runs));
    assert.equal(sum(counted), meanwhile.total.runs, 'a concurrent read sees a consistent state');
    for (const { trace } of items) {
      const stored = await opened.store.runs.read(userId, trace.trace_id);
      assert.ok(stored);
      const { agent_name: agent, started_at, duration_ms, status, total_cost_usd } = stored;
      runs.set(trace.trace_id, { ...trace, agent, started_at, duration_ms, status, total_cost_usd });
    }
    if (then === 'settle') await opened.settled();
    if (then === 'reopen') await opened.reopen();
    const all = [...runs.values()];
    for (const time of ['first', 'second']) {
      const { groups, total, previous_total } = await readSeries(opened.store, userId, asked);
      const { end_time } = request;
      assert.deepEqual(total, totals(all.filter((run) => isWithin(run, start_time, end_time))), time);
      const before = 2 * start_time - end_time;
      assert.deepEqual(previous_total, totals(all.filter((run) => isWithin(run, before, start_time))), time);
      for (const group of groups) {
        const its = all.filter(
          ({ agent, status }) =>
            (group.agent === null || group.agent.name === agent) &&
            (group.status === null || group.status === status),
        );
        assert.deepEqual(group.buckets, buckets(its, request), time);
        assert.deepEqual(group.total, totals(its.filter((run) => isWithin(run, start_time, end_time))), time);
      }
      assert.equal(sum(groups.map((group) => group.total?.runs ?? 0)), total.runs, time);
    }
  }
}

function checkSeries(t: Test, open: OpenTelemetry): void {
  void t.test('counts runs by time, agent and status, with the previous period', async (t) => {
    const opened = await open(t, { fileRows: 30 });
    const userId = await opened.addUser();
    const runs = someRuns();
    for (let from = 0; from < runs.length; from += 15) {
      const items = runs.slice(from, from + 15).map((trace) => ({ trace, spans: [] }));
      await opened.store.writer.traces({ tenant: userId, items }, RECEIVED);
    }
    // A later version of a run replaces the earlier one.
    const changed = { ...aHeader(), ...runs[0], status: 'failed' as const, total_cost_usd: 5 };
    await opened.store.writer.traces({ tenant: userId, items: [{ trace: changed, spans: [] }] }, RECEIVED);
    const stored = await opened.store.runs.read(userId, changed.trace_id);
    runs[0] = { ...changed, ...(stored && { status: stored.status, total_cost_usd: stored.total_cost_usd }) };
    const request = { start_time: NOON + 7 * MINUTE + 5, end_time: NOON + 14 * MINUTE, interval: MINUTE };
    const { start_time, end_time } = request;
    const agents = await opened.store.agents.list(userId);
    for (const state of ['hot', 'moved']) {
      const all = await readSeries(opened.store, userId, request);
      t.strictSame(
        all.groups,
        [{ agent: null, status: null, total: all.total, buckets: buckets(runs, request) }],
        state,
      );
      t.strictSame(all.total, totals(runs.filter((run) => isWithin(run, start_time, end_time))));
      const before = 2 * start_time - end_time;
      t.strictSame(all.previous_total, totals(runs.filter((run) => isWithin(run, before, start_time))));

      const byAgent = await readSeries(opened.store, userId, { ...request, group_by: 'agent' });
      t.equal(byAgent.groups.length, 3);
      for (const { agent, buckets: found, total } of byAgent.groups) {
        const its = runs.filter((run) => run.agent === agent?.name);
        t.strictSame(found, buckets(its, request), agent?.name ?? 'others');
        t.strictSame(total, totals(its.filter((run) => isWithin(run, start_time, end_time))));
      }
      const byStatus = await readSeries(opened.store, userId, { ...request, group_by: 'status' });
      for (const { status, buckets: found } of byStatus.groups)
        t.strictSame(
          found,
          buckets(
            runs.filter((run) => run.status === status),
            request,
          ),
          status ?? '',
        );
      const [one] = agents;
      const ofOne = await readSeries(opened.store, userId, { ...request, agent_id: one?.id ?? '' });
      t.strictSame(
        ofOne.total,
        totals(runs.filter((run) => run.agent === one?.name && isWithin(run, start_time, end_time))),
      );
      await opened.settled();
    }
  });

  void t.test('repeated queries stay correct while runs are added, changed and compacted', async (t) => {
    const opened = await open(t, { fileRows: 40 });
    const end = performance.now() + TIME_LIMIT;
    const found = await fc.check(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 20 }), async (steps) => {
        if (performance.now() < end) await checkSteps(opened, steps);
      }),
      { numRuns: 40 },
    );
    t.notOk(found.failed, `${fc.defaultReportMessage(found) ?? ''} ${String(found.errorInstance)}`);
  });

  void t.test('buckets before 1970 start before their runs', async (t) => {
    const opened = await open(t);
    const userId = await opened.addUser();
    const runs = [-90, -60, -1, 0, 59].map((seconds) => aHeader({ started_at: seconds * 1_000_000 }));
    const items = runs.map((trace) => ({ trace, spans: [] }));
    await opened.store.writer.traces({ tenant: userId, items }, RECEIVED);
    const request = { start_time: -2 * MINUTE, end_time: MINUTE, interval: MINUTE };
    const { groups, total } = await readSeries(opened.store, userId, request);
    t.strictSame(groups, [{ agent: null, status: null, total, buckets: buckets(runs, request) }]);
  });

  void t.test('counts calls by model and runs by prompt version', async (t) => {
    const opened = await open(t, { fileRows: 25 });
    const userId = await opened.addUser();
    await addPrompts(opened.control.prompts, userId, ['p'], [1, 2]);
    const items = Array.from({ length: 40 }, (_, i) => {
      const stats = { duration_ms: i, total_cost_usd: i, total_tokens: 2 * i };
      const trace = aHeader({ started_at: NOON + i * MINUTE, ...stats });
      const at = { started_at: trace.started_at, total_tokens: i };
      const model = [null, 'a', 'b'][i % 3] ?? null;
      const spans = [
        aSpanRecord(trace.trace_id, { ...at, model, cost_usd: 7 * i }),
        aSpanRecord(trace.trace_id, { ...at, model: 'tool', type: 'tool', cost_usd: 1 }),
      ];
      return { trace, spans, version: i % 4 === 0 ? null : 1 + (i % 2) };
    });
    const judges = [5, 15, 25, 35].map((minute) => {
      const trace = aHeader({ kind: 'other', agent: 'evaluator', started_at: NOON + minute * MINUTE });
      const call = { started_at: trace.started_at, model: 'a', cost_usd: 5, total_tokens: 9 };
      return { trace, spans: [aSpanRecord(trace.trace_id, call)] };
    });
    for (let from = 0; from < items.length; from += 10)
      await opened.store.writer.traces(
        {
          tenant: userId,
          items: [...judges.slice(from / 10, from / 10 + 1), ...items.slice(from, from + 10)],
        },
        RECEIVED,
      );
    for (const { trace, version } of items)
      if (version !== null)
        await opened.store.prompts.link(
          userId,
          { prompt_name: 'p', prompt_version: version, trace_id: trace.trace_id, span_id: null },
          NOON,
        );
    const read = (...asked: Parameters<TelemetryStore['series']['read']>): Promise<FoundSeries> =>
      readSeries(opened.store, ...asked);
    for (const state of ['hot', 'moved']) {
      for (const interval of [60 * MINUTE, 5 * MINUTE]) {
        const request = { start_time: NOON + MINUTE, end_time: NOON + 39 * MINUTE, interval };
        const { groups, total } = await read(userId, { ...request, group_by: 'model' });
        const name = `${state}, ${String(interval)}`;
        t.equal(total.runs, 38, 'all runs');
        t.strictSame(groups.map(({ model }) => model).sort(), ['', 'a', 'b', 'tool'], name);
        for (const { model, buckets: found } of groups) {
          // The usage of tools counts, too, but they are no calls.
          const isTool = model === 'tool';
          const its = items.filter(
            ({ spans: [call] }, i) => i >= 1 && i < 39 && (isTool || (call?.model ?? '') === model),
          );
          const tokens = sum(its.map(({ trace }) => trace.duration_ms ?? 0));
          t.equal(sum(found.map(({ runs }) => runs)), isTool ? 0 : its.length, name);
          t.equal(sum(found.map((bucket) => bucket.tokens ?? 0)), tokens);
          t.ok(found.every(({ start }) => start % interval === 0));
          const cost = sum(found.map((bucket) => bucket.cost ?? 0));
          t.ok(Math.abs(cost - 1e-9 * (isTool ? its.length : 7 * tokens)) < 1e-15);
        }
      }
      const request = { start_time: NOON, end_time: NOON + 60 * MINUTE, interval: 5 * MINUTE };
      const { groups, total } = await read(userId, { ...request, group_by: 'prompt_version', prompt: 'p' });
      const used = items.filter(({ version }) => version !== null);
      t.strictSame(total, totals(used.map(({ trace }) => trace)));
      t.strictSame(groups.map((group) => group.prompt_version).sort(), [1, 2]);
      for (const { prompt_version, buckets: found } of groups)
        t.strictSame(
          found,
          buckets(
            used.filter(({ version }) => version === prompt_version).map(({ trace }) => trace),
            request,
          ),
        );
      t.strictSame((await read(userId, { ...request, prompt: 'q' })).groups, []);
      await opened.settled();
    }
  });

  void t.test('shows the largest of many agents, and nothing for a user without data', async (t) => {
    const opened = await open(t);
    const [userId, other] = [await opened.addUser(), await opened.addUser()];
    const items = Array.from({ length: MOST_SERIES + 5 }, (_, i) => i).flatMap((i) =>
      Array.from({ length: i < 5 ? 1 : 2 }, () => ({
        trace: aHeader({ agent: `a${String(i)}` }),
        spans: [],
      })),
    );
    await opened.store.writer.traces({ tenant: userId, items }, RECEIVED);
    const request = { start_time: NOON - MINUTE, end_time: NOON + MINUTE, interval: MINUTE };
    const { groups } = await readSeries(opened.store, userId, { ...request, group_by: 'agent' });
    t.equal(groups.length, MOST_SERIES + 1);
    t.match(groups.at(-1), { agent: null, buckets: [{ runs: 5 }] });
    t.ok(groups.slice(0, -1).every(({ buckets: [bucket] }) => bucket?.runs === 2));
    const nothing = await readSeries(opened.store, other, { ...request, group_by: 'status' });
    t.strictSame(nothing, { groups: [], total: totals([]), previous_total: totals([]) });
    t.strictSame((await readSeries(opened.store, userId, { ...request, agent_id: other })).groups, []);
  });
}

await onEveryTelemetry(t, checkSeries);
