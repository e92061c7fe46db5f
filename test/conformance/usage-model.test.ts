import fc from 'fast-check';
import t, { type Test } from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import type { Receipt } from '../../src/component/consumer.js';
import type { TelemetryWriter } from '../../src/storage/telemetry-writer.js';
import { QuotaChain } from '../support/quota-chain.js';
import { aLog } from '../support/log-records.js';
import { aPoint } from '../support/metric-points.js';
import { aSpanRecord, aTrace, DAY, NOON } from '../support/run-records.js';
import { onEmbedded, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

/** `JACKDAW_TEST_SEED=123 JACKDAW_TEST_RUNS=1000` repeats a failure or looks for longer. */
const SEED = process.env.JACKDAW_TEST_SEED;
/** A slow machine does fewer runs instead of failing. */
const TIME_LIMIT = Number(process.env.JACKDAW_TEST_TIME ?? 4000);
const RUNS = Number(process.env.JACKDAW_TEST_RUNS ?? 40);

/** One request, of few runs and spans, so that most of it has been there before. */
type Write =
  | {
      readonly kind: 'traces';
      readonly month: number;
      readonly items: readonly {
        readonly trace: number;
        readonly spans: readonly number[];
        readonly ends: boolean;
      }[];
    }
  | { readonly kind: 'logs' | 'metrics'; readonly month: number; readonly items: number };

type Step =
  | { readonly do: 'write'; readonly at_once: readonly Write[] }
  | { readonly do: 'limit'; readonly limit: number }
  | { readonly do: 'reopen' | 'settle' };

const month = fc.integer({ min: 0, max: 1 });
const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('traces' as const),
      month,
      items: fc.array(
        fc.record({
          trace: fc.integer({ min: 0, max: 6 }),
          spans: fc.uniqueArray(fc.integer({ min: 0, max: 8 }), { maxLength: 6 }),
          ends: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('logs' as const, 'metrics' as const),
      month,
      items: fc.integer({ min: 1, max: 4 }),
    }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      at_once: fc.array(write, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('limit' as const), limit: fc.integer({ min: 0, max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('reopen' as const, 'settle' as const) }) },
);

/** What the quota's README says, for requests one after the other. */
class Model {
  limit: number;
  readonly used = [0, 0];
  /** The spans of each stored run. */
  readonly traces = new Map<number, ReadonlySet<number>>();
  others = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** @returns whether the request is taken */
  write(request: Write): boolean {
    const after = new Map(this.traces);
    let events = 0;
    if (request.kind === 'traces') {
      for (const { trace, spans } of request.items) {
        const before = after.get(trace);
        const all = new Set([...(before ?? []), ...spans]);
        events += before === undefined && spans.length === 0 ? 1 : all.size - (before?.size ?? 0);
        after.set(trace, all);
      }
    } else {
      events = request.items;
    }
    const used = (this.used[request.month] ?? 0) + events;
    if (events > 0 && this.limit > 0 && used > this.limit) return false;
    this.used[request.month] = used;
    for (const [trace, spans] of after) this.traces.set(trace, spans);
    if (request.kind !== 'traces') this.others += events;
    return true;
  }
}

function checkUsage(t: Test, open: OpenTelemetry): void {
  void t.test(
    'whatever comes, in whatever order: what is counted and refused is what the rules say, also before the store',
    async (t) => {
      const opened = await open(t);
      const end = performance.now() + TIME_LIMIT;
      let runs = 0;
      let refusedEarly = 0;
      const property = fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 25 }),
        fc.integer({ min: 0, max: 30 }),
        async (steps, limit) => {
          // Not fast-check's own time limit: it would leave a run behind that goes on using the store.
          if (performance.now() > end) return;
          runs++;
          refusedEarly += await check(opened, steps, limit);
        },
      );
      const found = await fc.check(property, {
        numRuns: RUNS,
        ...(SEED === undefined ? {} : { seed: Number(SEED) }),
      });
      t.notOk(found.failed, 'it never differs');
      t.comment(`${runs} runs, ${refusedEarly} batches never came to the store, seed ${found.seed}`);
      t.ok(refusedEarly > 0 || runs < 10);
      if (found.failed) t.comment(`${fc.defaultReportMessage(found) ?? ''}\n${String(found.errorInstance)}`);
    },
  );
}

/** @returns how many batches the processor refused without the store */
async function check(opened: OpenedTelemetry, steps: readonly Step[], limit: number): Promise<number> {
  let chain = await QuotaChain.start(opened, limit);
  let refusedEarly = 0;
  const tenant = await opened.addUser();
  const ids = new Ids();
  const model = new Model(limit);
  for (const step of steps) {
    switch (step.do) {
      case 'reopen':
        refusedEarly += chain.refusedEarly;
        await chain.stop();
        await opened.reopen();
        chain = await QuotaChain.start(opened, limit);
        break;
      case 'settle':
        await opened.settled();
        break;
      case 'limit':
        await opened.control.accounts.updateUser(tenant, { monthly_event_limit: step.limit });
        model.limit = step.limit;
        break;
      case 'write': {
        const results = await Promise.all(
          step.at_once.map((request) => taken(send(chain, tenant, request, ids))),
        );
        const expected = step.at_once.map((request) => model.write(request));
        expectSame(
          results.map((receipt) => receipt !== null),
          expected,
          'taken',
        );
        const last = results.at(-1);
        const [request] = step.at_once;
        if (step.at_once.length === 1 && last && request)
          expectSame(
            last.usage,
            model.limit === 0
              ? undefined
              : { limit: model.limit, used: model.used[request.month], resets_at: MONTHS[request.month + 1] },
            'usage',
          );
      }
    }
    await expectStored(opened, tenant, model);
  }
  await chain.stop();
  return refusedEarly + chain.refusedEarly;
}

/** The first moments of January, February and March. */
const MONTHS = [0, 1, 2].map((at) => Date.UTC(2026, at, 1) * 1000);

async function expectStored(opened: OpenedTelemetry, tenant: string, model: Model): Promise<void> {
  await opened.caughtUp();
  const { store } = opened;
  for (const at of [0, 1]) {
    const shown = await store.usage.read(tenant, timeIn(at));
    expectSame(shown.used, model.used[at], `events of month ${at}`);
  }
  const { items } = await store.runs.list(tenant, {}, { offset: 0, limit: 100 });
  expectSame(
    items.map(({ span_count }) => span_count).sort((a, b) => a - b),
    [...model.traces.values()].map(({ size }) => size).sort((a, b) => a - b),
    'spans of the runs',
  );
  const { count } = await store.logs.search(tenant, {}, { offset: 0, limit: 1 });
  const points = (await store.metrics.list(tenant)).reduce((sum, metric) => sum + metric.data_point_count, 0);
  expectSame(count + points, model.others, 'log records and points');
}

function timeIn(at: number): number {
  return NOON + at * 30 * DAY;
}

/** The ids that the numbers of a test stand for. */
class Ids {
  readonly #traces = new Map<number, string>();
  readonly #spans = new Map<string, string>();

  trace(number: number): string {
    return remember(this.#traces, number);
  }

  span(trace: number, number: number): string {
    return remember(this.#spans, `${trace}/${number}`);
  }
}

function remember<Key>(known: Map<Key, string>, key: Key): string {
  const id = known.get(key) ?? crypto.randomUUID();
  known.set(key, id);
  return id;
}

async function send(writer: TelemetryWriter, tenant: string, request: Write, ids: Ids): Promise<Receipt> {
  const context = { receivedAt: timeIn(request.month) };
  if (request.kind === 'traces') {
    const items = request.items.map(({ trace: number, spans, ends }) => {
      const traceId = ids.trace(number);
      const status = ends ? 'completed' : 'running';
      return {
        trace: aTrace(0, { trace_id: traceId, status }).trace,
        spans: spans.map((span) => aSpanRecord(traceId, { span_id: ids.span(number, span), status })),
      };
    });
    return await writer.traces({ tenant, items }, context);
  }
  if (request.kind === 'logs') {
    const items = Array.from({ length: request.items }, () => aLog({ id: crypto.randomUUID() }));
    return await writer.logs({ tenant, items }, context);
  }
  const items = Array.from({ length: request.items }, () => aPoint());
  return await writer.metrics({ tenant, items }, context);
}

/** @returns null where the quota refused */
async function taken(work: Promise<Receipt>): Promise<Receipt | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ConsumeError && error.code === 'quota_exceeded') return null;
    throw error;
  }
}

function expectSame(found: unknown, expected: unknown, what: string): void {
  const [shown, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  if (shown !== wanted) throw new Error(`${what}: ${shown}, where the rules say ${wanted}`);
}

// In ClickHouse requests that come at the same time are not judged in the order of their calls.
await onEmbedded(t, checkUsage);
