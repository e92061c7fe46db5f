import { NO_CONTEXT } from '../../src/signal/run-context.js';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { countedOnce } from '../../src/runs/rules/usage.js';
import { callKey } from '../../src/signal/call-key.js';
import { LOGGED_SCOPE } from '../../src/signal/logged-scope.js';
import { SPAN_TYPES, type SpanRecord } from '../../src/signal/span.js';
import { callKeys } from '../runs/histories.js';
import { aFollowingRecord } from '../storage/duckdb/following-records.js';
import { usageNode } from '../storage/duckdb/model-oracle.js';
import { PromptStore } from '../storage/duckdb/prompt-store.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const HOUR = 3_600_000_000;
const PAGE = { offset: 0, limit: 500 };

const loggedKeys = fc
  .constantFrom('gpt-4o', 'o1')
  .map((model) => callKey({ scope: LOGGED_SCOPE, model, provider: null, response: null }));
const oneSpan = fc.record({
  type: fc.constantFrom(...SPAN_TYPES, 'llm' as const, 'llm' as const, 'llm' as const),
  /** Missing, later, or in a cycle. */
  parent: fc.nat(16),
  model: fc.constantFrom(null, 'gpt-5', 'o3'),
  tokens: fc.option(fc.nat(1000), { freq: 3 }),
  cost: fc.option(fc.nat(1000), { freq: 3 }),
  key: fc.option(fc.oneof({ weight: 4, arbitrary: callKeys }, loggedKeys), { nil: null }),
  at: fc.nat(40),
  /** Whether a version without its end and usage is sent, too; it may also arrive later. */
  isSentTwice: fc.boolean(),
  arrives: fc.nat(),
});
const oneRun = fc.record({
  agent: fc.constantFrom('one', 'two'),
  session: fc.constantFrom('s', 't'),
  spans: fc.array(oneSpan, { minLength: 1, maxLength: 14 }),
});
/** How many spans a write has, and what happens after it. */
const oneWrite = fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  then: fc.constantFrom('nothing', 'nothing', 'nothing', 'settle', 'reopen', 'look'),
});

function spansOf({ agent, session, spans }: typeof oneRun extends fc.Arbitrary<infer Run> ? Run : never): {
  readonly all: readonly SpanRecord[];
  readonly sent: readonly { readonly span: SpanRecord; readonly arrives: number }[];
} {
  const { trace_id } = aHeader();
  const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const all = spans.map(({ type, parent, model, tokens, cost, key, at }, n) =>
    aSpanRecord(trace_id, {
      span_id: idOf(n),
      // An agent is listed once a root has come.
      parent_span_id: n === 0 || parent === 16 ? null : idOf(parent),
      type,
      model,
      started_at: NOON + at * (HOUR / 8),
      ended_at: NOON + at * (HOUR / 8) + HOUR,
      total_tokens: tokens,
      cost_usd: cost,
      run_kind: 'agent',
      agent_hint: { source: 'service.name', name: agent },
      context: { ...NO_CONTEXT, session_id: session },
      call: key === null || type !== 'llm' ? null : { provider: null, usage: null, cost: null, key },
    }),
  );
  const sent = all.flatMap((span, n) => {
    const { isSentTwice = false, arrives = 0 } = spans[n] ?? {};
    const early = { ...span, status: 'running' as const, ended_at: null, total_tokens: null, cost_usd: null };
    return [{ span, arrives }, ...(isSentTwice ? [{ span: early, arrives: arrives ^ 0x55 }] : [])];
  });
  return { all, sent: sent.sort((a, b) => a.arrives - b.arrives) };
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((all, value) => all + (value ?? 0), 0);
}

/** In nano-USD. */
const nanos = (cost: number | null): number => Math.round((cost ?? 0) * 1e9);

function checkSums(t: Test, open: OpenTelemetry): void {
  void t.test('runs, agents, sessions, series, models and prompts add up to the same usage', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    await neverDiffers(
      t,
      { runs: 20, ms: 6000 },
      [fc.array(oneRun, { minLength: 1, maxLength: 3 }), fc.array(oneWrite, { minLength: 4, maxLength: 12 })],
      async (made, writes) => {
        const prompts = await PromptStore.of(opened);
        const { tenant } = prompts;
        const runs = made.map(spansOf);
        const waiting = runs.map(({ sent }) => [...sent]);
        for (let at = 0; waiting.some((spans) => spans.length > 0); at++) {
          const { size, then } = writes[at % writes.length] ?? { size: 100, then: 'nothing' };
          const items = waiting
            .map((spans) => spans.splice(0, size).map(({ span }) => span))
            .filter((spans) => spans.length > 0)
            .map((spans) => aFollowingRecord(spans));
          await opened.store.writer.traces({ tenant, items }, { receivedAt: NOON });
          if (then === 'settle') await opened.settled();
          if (then === 'reopen') await opened.reopen();
          if (then === 'look') await compare(null);
        }
        for (const { all } of runs) await prompts.link(all[0]?.trace_id ?? '');
        await compare(runs.map(({ all }) => all));
        await opened.settled();
        await compare(runs.map(({ all }) => all));

        async function compare(expected: readonly (readonly SpanRecord[])[] | null): Promise<void> {
          await opened.caughtUp();
          const { store } = opened;
          const { items } = await store.runs.list(tenant, {}, PAGE);
          const usage = {
            tokens: sum(items.map((run) => run.total_tokens)),
            cost: sum(items.map((run) => run.total_cost_usd)),
          };
          if (expected !== null) {
            const own = expected.map((spans) => countedOnce(spans.map(usageNode)).usage);
            same(usage, {
              tokens: sum(own.map((of) => of.total_tokens)),
              cost: sum(own.map((of) => of.total_cost_usd)),
            });
            const { total_traces: linked, avg_cost } = await prompts.stats();
            const priced = items.filter((run) => run.total_cost_usd !== null).length;
            same([linked, nanos((avg_cost ?? 0) * priced)], [items.length, usage.cost]);
          }
          const models = (await store.models.list(tenant, {}, PAGE)).items;
          same(
            {
              tokens: sum(models.map((of) => of.total_tokens)),
              cost: sum(models.map((of) => nanos(of.total_cost))),
            },
            usage,
          );
          const sessions = (await store.sessions.list(tenant, {}, PAGE)).items;
          same(
            {
              tokens: sum(sessions.map((of) => of.total_tokens)),
              cost: sum(sessions.map((of) => nanos(of.total_cost))),
            },
            usage,
          );
          if (expected !== null) {
            const agents = await store.agents.list(tenant);
            same(sum(agents.map((of) => nanos(of.total_cost))), usage.cost);
            let ofAgents = 0;
            for (const { id } of agents)
              for (const of of (await store.models.list(tenant, { agent_id: id }, PAGE)).items)
                ofAgents += of.total_tokens;
            same(ofAgents, usage.tokens);
          }
          const days = { start_time: NOON - DAY, end_time: NOON + DAY };
          for (const [interval, group] of [
            [DAY, {}],
            [DAY, { group_by: 'model' as const }],
            [HOUR / 4, { group_by: 'model' as const }],
          ] as const) {
            const { groups } = await store.series.read(tenant, { ...days, interval, ...group });
            const buckets = groups.flatMap((of) => of.buckets);
            same(
              {
                tokens: sum(buckets.map((of) => of.tokens)),
                cost: sum(buckets.map((of) => nanos(of.cost))),
              },
              usage,
            );
          }
        }
      },
    );
    t.same(await opened.wrongs(), []);
  });
}

await onEveryTelemetry(t, checkSums);
