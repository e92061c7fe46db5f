import fc from 'fast-check';
import t, { type Test } from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import type { Receipt } from '../../src/component/consumer.js';
import { itemAt } from '../../src/signal/checked.js';
import type { TelemetryWriter } from '../../src/storage/contracts/telemetry-writer.js';
import { QuotaChain } from '../support/quota-chain.js';
import { aLog } from '../support/log-records.js';
import { aPoint } from '../support/metric-points.js';
import { neverDiffers } from '../support/property.js';
import { aSpanRecord, aTrace, DAY, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

/** One request with few runs and spans, so that most are repeats. */
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

/** The result of concurrent requests: which were accepted, and the usage of each month. */
interface Seen {
  readonly taken: readonly boolean[];
  readonly used: readonly number[];
}

/** The rules of the quota's README, for sequential requests. */
class Model {
  limit: number;
  readonly used = [0, 0];
  /** The spans of each stored run. */
  readonly traces = new Map<number, ReadonlySet<number>>();
  others = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * Applies concurrent requests. A store shared by several processes judges them in any sequential order,
   * another store in call order.
   *
   * @throws Error if no such order explains the result
   */
  after(requests: readonly Write[], seen: Seen, isShared: boolean): Model {
    const calls = [...requests.keys()];
    const expected: string[] = [];
    for (const order of isShared ? ordersOf(calls) : [calls]) {
      const model = this.#copy();
      const taken = requests.map(() => false);
      for (const i of order) taken[i] = model.write(itemAt(requests, i));
      const follows = JSON.stringify({ taken, used: model.used });
      if (follows === JSON.stringify(seen)) return model;
      if (!expected.includes(follows)) expected.push(follows);
    }
    throw new Error(`${JSON.stringify(seen)}, where the rules say ${expected.join(' or ')}`);
  }

  #copy(): Model {
    const copy = new Model(this.limit);
    copy.used.splice(0, Infinity, ...this.used);
    for (const [trace, spans] of this.traces) copy.traces.set(trace, spans);
    copy.others = this.others;
    return copy;
  }

  /** @returns whether the request is accepted */
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
  void t.test('usage and refusals follow the rules in any order, also before the store', async (t) => {
    const opened = await open(t);
    let runs = 0;
    let refusedEarly = 0;
    await neverDiffers(
      t,
      { runs: 40, ms: 4000 },
      [fc.array(step, { minLength: 5, maxLength: 25 }), fc.integer({ min: 0, max: 30 })],
      async (steps, limit) => {
        runs++;
        refusedEarly += await check(opened, steps, limit);
      },
    );
    t.comment(`${refusedEarly} batches never came to the store`);
    t.ok(refusedEarly > 0 || runs < 10);
  });
}

/** @returns the number of batches that the processor refused without the store */
async function check(opened: OpenedTelemetry, steps: readonly Step[], limit: number): Promise<number> {
  let chain = await QuotaChain.start(opened, limit);
  let refusedEarly = 0;
  const tenant = await opened.addUser();
  const ids = new Ids();
  let model = new Model(limit);
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
        const isShared = opened.store.isShared === true;
        const receipts = await sendAll(
          step.at_once.map((request) => () => send(chain, tenant, request, ids)),
          isShared,
        );
        const taken = receipts.map((receipt) => receipt !== null);
        model = model.after(step.at_once, { taken, used: await usedOf(opened, tenant) }, isShared);
        const last = receipts.at(-1);
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

/** The starts of January, February and March. */
const MONTHS = [0, 1, 2].map((at) => Date.UTC(2026, at, 1) * 1000);

async function expectStored(opened: OpenedTelemetry, tenant: string, model: Model): Promise<void> {
  await opened.caughtUp();
  const { store } = opened;
  expectSame(await usedOf(opened, tenant), model.used, 'events of each month');
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

/** Counted events per month. */
async function usedOf({ store }: OpenedTelemetry, tenant: string): Promise<readonly number[]> {
  const months = await Promise.all([0, 1].map((at) => store.usage.read(tenant, timeIn(at))));
  return months.map(({ used }) => used);
}

function timeIn(at: number): number {
  return NOON + at * 30 * DAY;
}

/** Maps test numbers to ids. */
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

/**
 * Sends requests concurrently. A shared store may ask some to wait for others that may reach the limit: these
 * are retried after the others.
 *
 * @returns their receipts; null where the quota refused
 */
async function sendAll(
  requests: readonly (() => Promise<Receipt>)[],
  isShared: boolean,
): Promise<readonly (Receipt | null)[]> {
  const receipts = requests.map((): Receipt | null => null);
  let left = [...requests.entries()];
  while (left.length > 0) {
    const waiting: typeof left = [];
    const answers = left.map(async ([i, request]) => {
      try {
        receipts[i] = await request();
      } catch (error) {
        const code = error instanceof ConsumeError ? error.code : null;
        if (isShared && code === 'overloaded') waiting.push([i, request]);
        else if (code !== 'quota_exceeded') throw error;
      }
    });
    await Promise.all(answers);
    if (waiting.length === left.length) throw new Error('they all wait for each other');
    left = waiting;
  }
  return receipts;
}

/** The given order first, then all others. */
function* ordersOf(numbers: readonly number[]): Generator<readonly number[]> {
  if (numbers.length === 0) yield [];
  for (const [i, first] of numbers.entries())
    for (const rest of ordersOf(numbers.toSpliced(i, 1))) yield [first, ...rest];
}

function expectSame(found: unknown, expected: unknown, what: string): void {
  const [shown, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  if (shown !== wanted) throw new Error(`${what}: ${shown}, where the rules say ${wanted}`);
}

await onEveryTelemetry(t, checkUsage, 'PostgreSQL');
