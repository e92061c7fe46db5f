import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import type { Consumer, Receipt } from '../../src/component/consumer.js';
import { fanOut } from '../../src/pipeline/fanout.js';
import type { MetricsBatch, TracesBatch } from '../../src/signal/batch.js';
import { rateLimitProcessor } from '../../src/processors/rate-limit/factory.js';
import { validationProcessor } from '../../src/processors/validation/factory.js';
import { batchOf, startEngine } from '../support/engine.js';
import { EngineComponents } from '../support/engine-components.js';
import { heldMemory } from '../support/held-memory.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { aTrace } from '../support/run-records.js';

const CONTEXT = { receivedAt: 0 };

function answering(answer: (batch: TracesBatch) => Promise<Receipt>): Consumer<TracesBatch> {
  return { consume: answer };
}

const reading = (consumer: Consumer<TracesBatch>) => ({ consumer, mutatesBatch: false });
const changing = (consumer: Consumer<TracesBatch>) => ({ consumer, mutatesBatch: true });

void t.test('an item refused by any exporter is refused with the first reason', async (t) => {
  const way = fanOut([
    reading(answering(async () => ({ accepted: 3, refused: [{ index: 2, reason: 'late' }] }))),
    reading(
      answering(async () => ({
        accepted: 2,
        refused: [
          { index: 0, id: 'x', reason: 'bad' },
          { index: 2, reason: 'other' },
        ],
      })),
    ),
  ]);
  t.strictSame(await way.consume(batchOf('a', 'b', 'c', 'd'), CONTEXT), {
    accepted: 2,
    refused: [
      { index: 0, id: 'x', reason: 'bad' },
      { index: 2, reason: 'late' },
    ],
  });
});

void t.test('returns the quota with the least left', async (t) => {
  const using = (limit: number, used: number) =>
    reading(
      answering(async () => ({ accepted: 1, refused: [], usage: { limit, used, resets_at: limit * 10 } })),
    );
  const plain = reading(answering(async () => ({ accepted: 1, refused: [] })));
  const way = fanOut([plain, using(100, 20), using(1000, 950), using(60, 0)]);
  t.strictSame(await way.consume(batchOf('a'), CONTEXT), {
    accepted: 1,
    refused: [],
    usage: { limit: 1000, used: 950, resets_at: 10_000 },
  });
});

void t.test('exporters run concurrently, and the response waits for the slowest', async (t) => {
  const started: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const slow = answering(async (batch) => {
    started.push('slow');
    await held;
    return { accepted: batch.items.length, refused: [] };
  });
  const fast = answering(async (batch) => {
    started.push('fast');
    return { accepted: batch.items.length, refused: [] };
  });
  let isAnswered = false;
  const answer = fanOut([reading(slow), reading(fast)])
    .consume(batchOf('a'), CONTEXT)
    .then((receipt) => {
      isAnswered = true;
      return receipt;
    });
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(started, ['slow', 'fast']);
  t.notOk(isAnswered);
  release();
  t.strictSame(await answer, { accepted: 1, refused: [] });
});

void t.test('a failing exporter fails the batch after all have ended', async (t) => {
  let hasEnded = false;
  const failing = (error: Error) => reading(answering(async () => Promise.reject(error)));
  const ending = reading(
    answering(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      hasEnded = true;
      return { accepted: 1, refused: [] };
    }),
  );
  const retryable = (retryAfterMs: number) =>
    new ConsumeError('busy', { code: 'overloaded', retryable: true, retryAfterMs });
  const permanent = new ConsumeError('no', { code: 'quota_exceeded', retryable: false });
  await t.rejects(fanOut([failing(retryable(1)), ending]).consume(batchOf('a'), CONTEXT), {
    code: 'overloaded',
  });
  t.ok(hasEnded);
  const bothBusy = fanOut([failing(retryable(100)), failing(retryable(5000)), ending]);
  const busy: unknown = await bothBusy.consume(batchOf('a'), CONTEXT).catch((error: unknown) => error);
  t.match(busy, { retryAfterMs: 5000 }, 'the longest delay wins');
  await t.rejects(
    fanOut([failing(retryable(1)), failing(permanent)]).consume(batchOf('a'), CONTEXT),
    { code: 'quota_exceeded' },
    'a retry cannot help',
  );
  const throwing: Consumer<TracesBatch> = {
    consume: () => {
      throw new Error('synchronous');
    },
  };
  await t.rejects(fanOut([reading(throwing), ending]).consume(batchOf('a'), CONTEXT), /synchronous/);
});

void t.test('a branch changes only its own copy of a batch', async (t) => {
  const seen: TracesBatch[] = [];
  const changer = (agent: string) =>
    changing(
      answering(async (batch) => {
        seen.push(batch);
        for (const { trace } of batch.items) {
          trace.agent = agent;
          if (trace.metadata) trace.metadata['nested'] = agent;
        }
        await new Promise((resolve) => setImmediate(resolve));
        t.strictSame(
          batch.items.map(({ trace }) => trace.agent),
          [agent],
        );
        return { accepted: 1, refused: [] };
      }),
    );
  const reader = reading(
    answering(async (batch) => {
      await new Promise((resolve) => setImmediate(resolve));
      t.strictSame(batch, batchOf('a'));
      return { accepted: 1, refused: [] };
    }),
  );
  const batch = batchOf('a');
  await fanOut([changer('one'), reader, changer('two')]).consume(batch, CONTEXT);
  t.notOk(
    seen.some(({ items }) => items[0] === batch.items[0]),
    'the original is read',
  );

  seen.length = 0;
  const own = batchOf('a');
  await fanOut([changer('one'), changer('two')]).consume(own, CONTEXT);
  t.equal(
    seen.filter(({ items }) => items[0] === own.items[0]).length,
    1,
    'the original is unread: one copy less',
  );
});

void t.test('copies of items share what the items share', async (t) => {
  const stream = aMetric();
  const batch = { tenant: 'a', items: [aPoint({ stream }), aPoint({ stream }), aPoint()] };
  const copies: MetricsBatch[] = [];
  const keep = {
    mutatesBatch: true,
    consumer: {
      consume: async (copy: MetricsBatch): Promise<Receipt> => {
        copies.push(copy);
        return Promise.resolve({ accepted: 3, refused: [] });
      },
    },
  };
  await fanOut<MetricsBatch>([keep, keep]).consume(batch, CONTEXT);
  const [first, second, third] = copies[0]?.items ?? [];
  t.strictSame(first?.stream, stream);
  t.not(first?.stream, stream);
  t.equal(first?.stream, second?.stream);
  t.not(first?.stream, third?.stream);
});

void t.test('copies keep keys that look like prototypes', async (t) => {
  const batch = batchOf('a');
  const [item] = batch.items;
  if (item)
    item.trace.metadata = JSON.parse(
      '{"__proto__": {"polluted": true}, "a": 1}',
    ) as typeof item.trace.metadata;
  const copies: TracesBatch[] = [];
  const keep = changing(
    answering(async (copy) => {
      copies.push(copy);
      return { accepted: 1, refused: [] };
    }),
  );
  await fanOut([keep, keep]).consume(batch, CONTEXT);
  for (const copy of copies)
    t.equal(JSON.stringify(copy.items[0]?.trace.metadata), '{"__proto__":{"polluted":true},"a":1}');
  t.notOk('polluted' in {});
});

void t.test('answered resolves for every consumer once all have responded, also when nested', async (t) => {
  const happened: string[] = [];
  let commit = (): void => undefined;
  const committed = new Promise<void>((resolve) => (commit = resolve));
  const consumerNamed = (name: string): Consumer<TracesBatch> => ({
    consume: async (_batch, { answered }) => {
      void answered?.then(() => happened.push(name));
      return { accepted: 1, refused: [] };
    },
  });
  const slow = answering(async () => {
    await committed;
    happened.push('committed');
    throw new Error('no');
  });
  const inner = fanOut([reading(consumerNamed('first')), reading(consumerNamed('second'))]);
  const way = fanOut([reading(inner), reading(slow), reading(consumerNamed('third'))]);
  const answer = way.consume(batchOf('a'), CONTEXT).catch(() => happened.push('failed'));
  await nextTurn();
  t.strictSame(happened, []);
  commit();
  await answer;
  t.strictSame(new Set(happened), new Set(['committed', 'first', 'second', 'third', 'failed']));
  t.equal(happened[0], 'committed');
});

void t.test('releases items while exporters work on derived ones', async (t) => {
  let answer: (receipt: Receipt) => void = () => undefined;
  const answered = new Promise<Receipt>((resolve) => (answer = resolve));
  const working = { consume: async () => answered };
  const components = new EngineComponents({ sink: working, 'sink/b': working });
  await startEngine(t, {
    factories: [...components.factories, rateLimitProcessor, validationProcessor],
    config: `receivers: { source: {} }
processors: { pass: {}, validation: { max_spans_per_trace: 2 }, rate_limit: { items_per_second: 1000 } }
exporters: { sink: {}, sink/b: {} }
service:
  pipelines:
    traces: { receivers: [source], processors: [pass, validation, rate_limit], exporters: [sink, sink/b] }
`,
  });
  const items: WeakRef<object>[] = [];
  const send = (): Promise<Receipt> => {
    const batch = { tenant: 'tenant', items: [aTrace(2), aTrace(3)] };
    items.push(...batch.items.map((item) => new WeakRef(item)));
    return components.send('source', batch);
  };
  const receipt = send();
  await heldMemory();
  t.strictSame(
    items.map((item) => item.deref()),
    [undefined, undefined],
  );
  answer({ accepted: 1, refused: [] });
  t.match(await receipt, { accepted: 1, refused: [{ index: 1 }] });
});
