import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import type { ModelFilter, ModelUsage } from '../../src/storage/telemetry-store.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../support/run-records.js';
import { inColdFile, wrongSumsIn } from './stored-rows.js';
import { TestStore } from './test-store.js';

t.setTimeout(0);

const HOUR = 3_600_000_000;
const MODELS = [null, 'gpt-5', "o'3"] as const;
/** Of which a thousand would leave the integers that BIGINT has. */
const MOST = Number.MAX_SAFE_INTEGER;

interface Call {
  readonly header: TraceHeader;
  span: SpanRecord;
}

/** What the store must give: looked for among all spans that are there. */
function usageOf(calls: readonly Call[], { start_time, end_time }: ModelFilter): ModelUsage[] {
  const counted = calls
    .map(({ span }) => span)
    .filter(({ type }) => type === 'llm')
    .filter(({ started_at: at }) => at >= (start_time ?? -Infinity) && at <= (end_time ?? Infinity));
  const sum = (values: readonly (number | null)[]): number =>
    Number(values.reduce((all, value) => all + BigInt(value ?? 0), 0n));
  const usages = [...new Set(counted.map(({ model }) => model))].map((model) => {
    const of = counted.filter((span) => span.model === model);
    const priced = of.filter(({ cost_usd }) => cost_usd !== null);
    const starts = of.map(({ started_at }) => started_at);
    return {
      model,
      calls: of.length,
      priced_calls: priced.length,
      input_tokens: sum(of.map(({ input_tokens }) => input_tokens)),
      output_tokens: sum(of.map(({ output_tokens }) => output_tokens)),
      total_tokens: sum(of.map(({ total_tokens }) => total_tokens)),
      total_cost: priced.length === 0 ? null : sum(priced.map(({ cost_usd }) => cost_usd)) / 1e9,
      first_call_at: Math.min(...starts),
      last_call_at: Math.max(...starts),
    };
  });
  const order = (usage: ModelUsage): number => usage.total_cost ?? -1;
  return usages.sort(
    (a, b) =>
      order(b) - order(a) || b.calls - a.calls || ((a.model ?? '\uffff') < (b.model ?? '\uffff') ? -1 : 1),
  );
}

const oneCall = fc.record({
  /** Of NOON, in quarters of an hour: several calls are at the same time. */
  at: fc.integer({ min: -12, max: 12 }).map((quarters) => NOON + quarters * (HOUR / 4) - 1),
  model: fc.constantFrom(...MODELS),
  type: fc.constantFrom('llm' as const, 'llm' as const, 'tool' as const),
  tokens: fc.constantFrom(null, 0, 7, MOST),
  cost: fc.constantFrom(null, 0, 1_500_000_000),
  isRunning: fc.boolean(),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.array(oneCall, { minLength: 1, maxLength: 8 }),
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
const time = fc.integer({ min: NOON - 4 * HOUR, max: NOON + 4 * HOUR });
const range: fc.Arbitrary<ModelFilter> = fc.record(
  { start_time: time, end_time: time },
  { requiredKeys: [] },
);

void t.test('models are what all spans give, whatever is moved, replaced and opened again', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 12, bytes: 1e9 } });
  await neverDiffers(
    t,
    { runs: 25, ms: 8_000 },
    [fc.array(step, { minLength: 3, maxLength: 25 }), fc.array(range, { minLength: 4, maxLength: 6 })],
    async (steps, ranges) => {
      const user = await opened.addUser();
      const calls: Call[] = [];
      const write = async (header: TraceHeader, spans: readonly SpanRecord[]): Promise<void> => {
        await opened.store.writeTraces(
          { tenant: user, items: [{ trace: header, spans: [...spans] }] },
          { receivedAt: NOON },
        );
      };
      const check = async (asks: readonly ModelFilter[]): Promise<void> => {
        for (const filter of asks) {
          const found = await opened.store.listModels(user, filter, { offset: 0, limit: 10 });
          const expected = usageOf(calls, filter);
          same(found, { items: expected, count: expected.length });
        }
      };
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'settle') await opened.store.settled();
        else if (one.kind === 'reopen') await opened.reopen();
        else if (one.kind === 'calls') {
          const header = aHeader({ status: 'running', started_at: NOON - 4 * HOUR });
          const made = one.calls.map(({ at, model, type, tokens, cost, isRunning }) => ({
            header,
            span: aSpanRecord(header.trace_id, {
              started_at: at,
              model,
              type,
              cost_usd: cost,
              input_tokens: tokens,
              output_tokens: isRunning ? null : tokens,
              total_tokens: tokens,
              status: isRunning ? 'running' : 'completed',
            }),
          }));
          calls.push(...made);
          await write(
            header,
            made.map(({ span }) => span),
          );
        } else {
          for (const which of one.which) {
            const call = calls[which % calls.length];
            if (call?.span.status !== 'running') continue;
            const later = { ...call.span, status: 'completed' as const, model: one.model, output_tokens: 1 };
            await write(call.header, [later]);
            // What was said stays, and what was not is filled.
            const { model, input_tokens, total_tokens } = call.span;
            const total = total_tokens ?? (input_tokens ?? 0) + 1;
            call.span = { ...later, model: model ?? one.model, total_tokens: total };
          }
        }
        if (one.kind === 'complete') await check([ranges[at % ranges.length] ?? {}]);
      }
      await check([{}, ...ranges]);
      await opened.store.settled();
      await opened.close();
      same(await wrongSumsIn(opened.path), []);
      await opened.start();
      await check([{}, ...ranges]);
    },
  );
});

void t.test('a call of the cold file that is replaced is taken away from the sums', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1, bytes: 1e9 } });
  const user = await opened.addUser();
  const header = aHeader({ status: 'running' });
  const call = aSpanRecord(header.trace_id, {
    type: 'llm',
    model: 'gpt-5',
    input_tokens: 7,
    status: 'running',
  });
  for (const span of [call, { ...call, status: 'completed' as const, output_tokens: 1 }]) {
    await opened.store.writeTraces(
      { tenant: user, items: [{ trace: header, spans: [span] }] },
      { receivedAt: NOON },
    );
    await opened.store.settled();
  }
  const { items } = await opened.store.listModels(user, {}, { offset: 0, limit: 10 });
  t.match(items, [{ model: 'gpt-5', calls: 1, input_tokens: 7, output_tokens: 1 }]);
  await opened.close();
  t.same(
    await inColdFile(
      opened.path,
      'SELECT sum(calls)::INTEGER AS calls, count(*)::INTEGER AS parts FROM model_sums',
    ),
    [{ calls: 1, parts: 3 }],
    'one that came first, one that went, one that came for it',
  );
  t.same(await wrongSumsIn(opened.path), []);
});

void t.test('what retention removes is no longer counted, and leaves no sums', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 20, bytes: 1e9 }, traceRetentionDays: 2 });
  const user = await opened.addUser();
  const calls: Call[] = [];
  const write = async (changes: Partial<TraceHeader>, offsets: readonly number[]): Promise<void> => {
    const header = aHeader(changes);
    const made = offsets.map((offset, i) => ({
      header,
      span: aSpanRecord(header.trace_id, {
        started_at: header.started_at + offset,
        model: MODELS[i % 2] ?? null,
        cost_usd: 1_000_000_000,
      }),
    }));
    calls.push(...made);
    const spans = made.map(({ span }) => span);
    await opened.store.writeTraces({ tenant: user, items: [{ trace: header, spans }] }, { receivedAt: NOON });
  };
  // Runs that go on over midnight, so that an hour has calls of those that go and of those that stay.
  const midnight = NOON - DAY / 2;
  for (let i = 0; i < 15; i++) {
    await write({ started_at: midnight - HOUR / 2 - i }, [0, HOUR / 4, HOUR / 2 + 5, HOUR]);
    await write({ started_at: midnight + 10 + i }, [0, 3, HOUR]);
  }
  const read = async (): Promise<unknown> => await opened.store.listModels(user, {}, { offset: 0, limit: 9 });
  const all = usageOf(calls, {});
  t.strictSame(await read(), { items: all, count: all.length });
  await opened.retained(DAY / 1000);
  const left = usageOf(
    calls.filter(({ header }) => header.started_at >= midnight),
    {},
  );
  t.equal((await opened.store.listRuns(user, {}, { offset: 0, limit: 1 })).count, 15);
  t.strictSame(await read(), { items: left, count: left.length }, 'the first calls that are left are known');
  await opened.close();
  t.same(await wrongSumsIn(opened.path), []);
  const earlier = `SELECT count(*)::INTEGER AS parts FROM model_sums WHERE hour < ${midnight / HOUR}`;
  await opened.start({ segmentSize: { rows: 1, bytes: 1e9 } });
  for (let i = 0; i < 10; i++) {
    await write({ trace_id: randomUUID(), started_at: NOON }, [0]);
    await opened.store.settled();
  }
  await opened.close();
  t.same(await inColdFile(opened.path, earlier), [{ parts: 0 }], 'parts that give nothing are dropped');
  t.same(await wrongSumsIn(opened.path), []);
});
