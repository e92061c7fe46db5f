import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import { USAGE_PARTS, type SummedPart } from '../../src/signal/call-details.js';
import type { Price, Rates } from '../../src/signal/price.js';
import type { ModelFilter, RepricedFilter, ToolUsage } from '../../src/storage/contracts/runs.js';
import {
  performanceOf,
  repricedOf,
  roundedPerformance,
  usageOf,
  type Call,
} from '../storage/duckdb/model-oracle.js';
import { callKeys } from '../runs/histories.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const HOUR = 3_600_000_000;
const MODELS = [null, 'gpt-5', "o'3"] as const;
/** Runs get their agent at the start or later. */
const AGENTS = ['one', 'two', 'three'] as const;
/** The parent span. */
const ABOVE = 'ffffffff-0000-4000-8000-000000000000';
/** A thousand of these exceed the range of BIGINT. */
const MOST = Number.MAX_SAFE_INTEGER;

const oneCall = fc.record({
  /** Quarters of an hour around NOON: several calls share a time. */
  at: fc.integer({ min: -12, max: 12 }).map((quarters) => NOON + quarters * (HOUR / 4) - 1),
  model: fc.constantFrom(...MODELS),
  type: fc.constantFrom('llm' as const, 'llm' as const, 'tool' as const),
  tokens: fc.constantFrom(null, 0, 7, 100_000, 250_000, MOST),
  cost: fc.constantFrom(null, 0, 1_500_000_000),
  isRunning: fc.boolean(),
  isTotalOnly: fc.boolean(),
  first: fc.option(fc.constantFrom(0, 12.5, 300), { nil: undefined }),
  usage: fc.option(
    fc.record(Object.fromEntries(USAGE_PARTS.map((part) => [part, fc.constantFrom(0, 3, 9, 2 ** 40)])), {
      requiredKeys: [],
    }),
  ),
  /** Overlapping calls may be duplicates. */
  key: fc.option(callKeys, { nil: null, freq: 3 }),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.array(oneCall, { minLength: 1, maxLength: 8 }),
      /** Targets an existing run or a new one. */
      of: fc.option(fc.nat()),
      agent: fc.constantFrom(...AGENTS),
      isDeclared: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('complete' as const),
      which: fc.array(fc.nat(), { maxLength: 6 }),
      model: fc.constantFrom(...MODELS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
);
/** Rates whose sums need rounding, and the maximum rate of a price table. */
const oneRate = fc.constantFrom(0, 1, 500, 3_000_000, 10 ** 12);
const rates = {
  input: oneRate,
  output: oneRate,
  cached_read: oneRate,
  cached_write: oneRate,
  audio_input: oneRate,
  audio_output: oneRate,
};
/** Prices of writes by lifetime are optional. */
function someRates<Rest extends object>(
  all: { readonly [Part in SummedPart]: fc.Arbitrary<number> },
  rest: { readonly [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
): fc.Arbitrary<Rates & Rest> {
  const lifetimes = { cached_write_5m: all.input, cached_write_1h: all.input };
  return fc
    .tuple(fc.record({ ...all, ...rest }), fc.record(lifetimes, { requiredKeys: [] }))
    .map(([known, some]) => ({ ...known, ...some }) as Rates & Rest);
}
const anyPrice: fc.Arbitrary<Price> = someRates(rates, {
  long: fc.option(someRates(rates, { over: fc.constantFrom(1, 6, 2 ** 41) })),
});
/** Rates as in price tables: no call needs rounding. */
const wholeRate = fc.constantFrom(0, 1000, 125_000, 3_000_000);
const wholeRates = {
  input: wholeRate,
  output: wholeRate,
  cached_read: wholeRate,
  cached_write: wholeRate,
  audio_input: wholeRate,
  audio_output: wholeRate,
};
const wholePrice: fc.Arbitrary<Price> = someRates(wholeRates, {
  long: fc.option(someRates(wholeRates, { over: fc.constantFrom(100_000, 200_000, 272_000) })),
});
const onePrice = fc.oneof(anyPrice, wholePrice);
const time = fc.integer({ min: NOON - 4 * HOUR, max: NOON + 4 * HOUR });
const range: fc.Arbitrary<ModelFilter> = fc.record(
  { start_time: time, end_time: time },
  { requiredKeys: [] },
);

/** The tools of some calls, without their agents. Percentiles are rounded, because engines interpolate in different steps. */
function toolsOf(calls: readonly Call[], { start_time = -Infinity, end_time = Infinity }: ModelFilter) {
  const within = calls
    .map(({ span }) => span)
    .filter(({ type, started_at: at }) => type === 'tool' && at >= start_time && at <= end_time);
  return [...new Set(within.map(({ name }) => name))]
    .map((tool) => {
      const own = within.filter(({ name }) => name === tool);
      const durations = own.flatMap(({ duration_ms: ms }) => ms ?? []).sort((a, b) => a - b);
      return {
        tool,
        calls: own.length,
        failed_calls: own.filter(({ status }) => status === 'failed').length,
        p50_ms: rounded(quantile(durations, 0.5)),
        p95_ms: rounded(quantile(durations, 0.95)),
        last_call_at: Math.max(...own.map(({ started_at }) => started_at)),
      };
    })
    .sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
}

function quantile(sorted: readonly number[], share: number): number | null {
  const rank = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return low === undefined || high === undefined ? null : low + (high - low) * (rank - Math.floor(rank));
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1e6) / 1e6;
}

function sumOf(values: readonly number[]): number {
  return Math.round(values.reduce((all, one) => all + one, 0) * 1e9) / 1e9;
}

function withoutAgents({ tool, calls, failed_calls, p50_ms, p95_ms, last_call_at }: ToolUsage) {
  return { tool, calls, failed_calls, p50_ms: rounded(p50_ms), p95_ms: rounded(p95_ms), last_call_at };
}

function checkModels(t: Test, open: OpenTelemetry): void {
  void t.test('models match all spans after compaction, replacement and reopening', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    await neverDiffers(
      t,
      { runs: 25, ms: 2500 },
      [
        fc.array(step, { minLength: 3, maxLength: 25 }),
        fc.array(range, { minLength: 4, maxLength: 6 }),
        onePrice,
      ],
      async (steps, ranges, price) => {
        const user = await opened.addUser();
        const calls: Call[] = [];
        const headers: TraceHeader[] = [];
        const write = async (header: TraceHeader, spans: readonly SpanRecord[]): Promise<void> => {
          await opened.store.writer.traces(
            { tenant: user, items: [{ trace: header, spans: [...spans] }] },
            { receivedAt: NOON },
          );
        };
        const check = async (asks: readonly ModelFilter[]): Promise<void> => {
          await opened.caughtUp();
          for (const [at, filter] of asks.entries()) {
            const found = await opened.store.models.list(user, filter, { offset: 0, limit: 10 });
            const expected = usageOf(calls, filter);
            same(found, { items: expected, count: expected.length });
            await checkPerformance(filter, calls);
            const tools = toolsOf(calls, filter);
            for (const [offset, limit] of [
              [0, 10],
              [1, 1],
              [9, 9],
            ] as const) {
              const page = await opened.store.models.tools(user, filter, { offset, limit });
              same(page.items.map(withoutAgents), tools.slice(offset, offset + limit));
              same(page.count, tools.length);
            }
            const model = MODELS[at % MODELS.length] ?? null;
            same(
              await opened.store.models.reprice(user, { ...filter, model }, price),
              repricedOf(calls, { ...filter, model }, price),
            );
            await checkAgents({ ...filter, model });
          }
        };
        const checkPerformance = async (filter: ModelFilter, its: readonly Call[]): Promise<void> => {
          const found = await opened.store.models.performance(user, filter, [...MODELS, 'unknown']);
          const byModel = (one: object): string => JSON.stringify(one);
          same(
            found.map(roundedPerformance).map(byModel).sort(),
            performanceOf(its, filter).map(byModel).sort(),
          );
          // Runs of several agents add up to their models.
          for (const { model, agents } of found) {
            const [usage] = usageOf(its, filter).filter((one) => one.model === model);
            same(sumOf(agents.map((agent) => agent.calls)), usage?.calls);
            same(sumOf(agents.map((agent) => agent.total_cost ?? 0)), usage?.total_cost ?? 0);
          }
        };
        // The agent of a run may change with every header and span, so it is read from the store.
        const checkAgents = async ({ model, ...filter }: RepricedFilter): Promise<void> => {
          const { items: runs } = await opened.store.runs.list(
            user,
            { kind: 'agent' },
            { offset: 0, limit: 500 },
          );
          for (const { id: agent_id, name } of await opened.store.agents.list(user)) {
            const ids = new Set(runs.filter((run) => run.agent_id === agent_id).map((run) => run.trace_id));
            const its = calls.filter(({ header }) => ids.has(header.trace_id));
            const { items } = await opened.store.models.list(
              user,
              { ...filter, agent_id },
              { offset: 0, limit: 10 },
            );
            same(items, usageOf(its, filter));
            await checkPerformance({ ...filter, agent_id }, its);
            const tools = await opened.store.models.tools(
              user,
              { ...filter, agent_id },
              { offset: 0, limit: 10 },
            );
            same(tools.items.map(withoutAgents), toolsOf(its, filter));
            for (const { agents, calls: count, failed_calls } of tools.items)
              same(agents, [{ id: agent_id, name, calls: count, failed_calls }]);
            same(
              await opened.store.models.reprice(user, { ...filter, agent_id, model }, price),
              repricedOf(its, { ...filter, model }, price),
            );
          }
        };
        for (const [at, one] of steps.entries()) {
          if (one.kind === 'settle') await opened.settled();
          else if (one.kind === 'reopen') await opened.reopen();
          else if (one.kind === 'calls') {
            const of = one.of === null ? undefined : headers[one.of % headers.length];
            const header = {
              ...(of ?? aHeader({ status: 'running', started_at: NOON - 4 * HOUR })),
              agent: one.agent,
              follows_spans: !one.isDeclared,
            };
            if (of === undefined) headers.push(header);
            const made = one.calls.map(
              ({ at, model, type, tokens, cost, isRunning, isTotalOnly, first, usage, key }) => ({
                header,
                span: aSpanRecord(header.trace_id, {
                  name: `use ${String(model)}`,
                  started_at: at,
                  ended_at: at + HOUR,
                  duration_ms: Math.abs(at - NOON) / HOUR,
                  model,
                  type,
                  cost_usd: cost,
                  input_tokens: isTotalOnly ? null : tokens,
                  output_tokens: isRunning || isTotalOnly ? null : tokens,
                  total_tokens: tokens,
                  status: isRunning ? 'running' : isTotalOnly ? 'failed' : 'completed',
                  parent_span_id: ABOVE,
                  agent_hint: { source: 'service.name' as const, name: one.agent },
                  call:
                    key === null && usage === null && first === undefined
                      ? null
                      : {
                          provider: null,
                          usage,
                          cost: null,
                          ...(key === null ? {} : { key }),
                          ...(first === undefined ? {} : { time_to_first_chunk_ms: first }),
                        },
                }),
              }),
            );
            calls.push(...made);
            await write(
              header,
              made.map(({ span }) => span),
            );
          } else {
            for (const which of one.which) {
              const call = calls[which % calls.length];
              if (call?.span.status !== 'running') continue;
              const later = {
                ...call.span,
                status: 'completed' as const,
                model: one.model,
                output_tokens: 1,
              };
              await write(call.header, [later]);
              // Present values stay, and missing ones are filled.
              const { model, input_tokens, total_tokens } = call.span;
              const total = total_tokens ?? (input_tokens ?? 0) + 1;
              call.span = { ...later, model: model ?? one.model, total_tokens: total };
            }
          }
          if (one.kind === 'complete') await check([ranges[at % ranges.length] ?? {}]);
        }
        await check([{}, ...ranges]);
        same(await opened.wrongs(), []);
        await check([{}, ...ranges]);
      },
    );
  });

  void t.test('what-if prices cache writes by their lifetime', async (t) => {
    const opened = await open(t, { fileRows: 3 });
    const user = await opened.addUser();
    const usages = [
      { cached_write: 100, cached_write_5m: 60, cached_write_1h: 30 },
      { cached_write: 100, cached_write_1h: 700 },
      { cached_write: 100, cached_write_5m: 700, cached_write_1h: 99 },
      { cached_write: 100 },
      { cached_write_1h: 7 },
      null,
    ];
    const header = aHeader({});
    const calls = usages.map((usage, i): Call => ({
      header,
      span: aSpanRecord(header.trace_id, {
        type: 'llm',
        model: i === 5 ? 'other' : 'm',
        started_at: NOON + i,
        input_tokens: 1000 * i,
        output_tokens: 10,
        total_tokens: 1000 * i + 10,
        call: usage && { provider: null, usage, cost: null },
      }),
    }));
    for (const { span } of calls)
      await opened.store.writer.traces(
        { tenant: user, items: [{ trace: header, spans: [span] }] },
        { receivedAt: NOON },
      );
    const usual = {
      input: 3000,
      output: 15_000,
      cached_read: 300,
      cached_write: 3750,
      audio_input: 0,
      audio_output: 0,
    };
    const prices: readonly Price[] = [
      { ...usual, long: null },
      { ...usual, cached_write_1h: 6000, long: null },
      { ...usual, cached_write_5m: 1, long: { ...usual, cached_write_1h: 12_000, over: 2000 } },
      { ...usual, cached_write: 4000, cached_write_1h: 6000, long: null },
    ];
    for (const state of ['hot', 'moved']) {
      for (const [i, price] of prices.entries())
        for (const model of ['m', 'other'])
          t.strictSame(
            await opened.store.models.reprice(user, { model }, price),
            repricedOf(calls, { model }, price),
            `${state}: ${model} at price ${i}`,
          );
      await opened.settled();
    }
  });
}

await onEveryTelemetry(t, checkModels);
