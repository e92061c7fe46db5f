import t from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { Consumer, Receipt } from '../../../src/component/consumer.js';
import type { TracesBatch } from '../../../src/signal/batch.js';
import { anItem } from '../../support/trace-batch.js';
import { READER_KEY, USER } from '../../support/known-keys.js';
import { startTraceBatchService } from '../../support/trace-batch-service.js';

/** Keeps batches and responds when the test says so. */
class HeldConsumer implements Consumer<TracesBatch> {
  readonly batches: TracesBatch[] = [];
  readonly #arrivals: (() => void)[] = [];
  readonly #release: (() => void)[] = [];

  async consume(batch: TracesBatch): Promise<Receipt> {
    this.batches.push(batch);
    await new Promise<void>((resolve) => {
      this.#release.push(resolve);
      this.#arrivals.shift()?.();
    });
    return { accepted: batch.items.length, refused: [] };
  }

  /** Resolves when the next batch has arrived. Call it before sending. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#arrivals.push(resolve));
  }

  releaseAll(): void {
    for (const release of this.#release.splice(0)) release();
  }
}

const takeAll: Consumer<TracesBatch> = {
  consume: async (batch) => ({ accepted: batch.items.length, refused: [] }),
};

const body = (traces: readonly unknown[]): string => JSON.stringify({ traces });

void t.test('passes a batch with its user to the pipeline and returns its receipt', async (t) => {
  const seen: TracesBatch[] = [];
  const service = await startTraceBatchService(t, {
    consume: async (batch) => {
      seen.push(batch);
      return { accepted: batch.items.length, refused: [] };
    },
  });
  const items = [anItem(), anItem({ spans: 0 })];
  const answer = await service.send({ body: body(items) });
  t.equal(answer.status, 200);
  t.strictSame(answer.body, { accepted: 2, rejected: 0, errors: [] });
  t.equal(answer.headers['content-type'], 'application/json');
  t.equal(seen[0]?.tenant, USER);
  t.strictSame(
    seen[0]?.items.map(({ trace }) => trace.trace_id),
    items.map(({ trace }) => trace['trace_id']),
  );
});

void t.test('answers an empty batch without the pipeline', async (t) => {
  const service = await startTraceBatchService(t, {
    consume: () => Promise.reject(new Error('not to be called')),
  });
  t.strictSame((await service.send({ body: body([]) })).body, { accepted: 0, rejected: 0, errors: [] });
  const bad = await service.send({ body: body([{}]) });
  t.match(bad.body, { accepted: 0, rejected: 1 });
  t.match(
    (await service.meter.print()).text,
    'trace_batch_unreadable_traces_total{receiver="trace_batch"} 1',
  );
});

void t.test('reports refusals of receiver and pipeline in request order', async (t) => {
  const service = await startTraceBatchService(t, {
    consume: async (batch) => ({
      accepted: batch.items.length - 2,
      refused: [
        { index: 2, reason: 'third of the good' },
        { index: 0, reason: 'first of the good' },
        { index: 0, reason: 'said twice' },
      ],
    }),
  });
  const bad = { trace: { trace_id: 'Sent As It Is' }, spans: [] };
  const items = [bad, anItem(), anItem(), 'nonsense', anItem(), bad, anItem()];
  const answer = await service.send({ body: body(items) });
  const idOf = (index: number) => (items[index] as ReturnType<typeof anItem>).trace['trace_id'];
  t.match(answer.body, {
    accepted: 2,
    rejected: 5,
    errors: [
      { trace_id: 'Sent As It Is', error: /^\/trace\/trace_id: must be a UUID, not "Sent As It Is"/ },
      { trace_id: idOf(1), error: 'first of the good' },
      { trace_id: '', error: 'must be an object, not a string' },
      { trace_id: idOf(4), error: 'third of the good' },
      { trace_id: 'Sent As It Is', error: /^\/trace\// },
    ],
  });
});

void t.test('returns the trace id as sent', async (t) => {
  const service = await startTraceBatchService(t, {
    consume: async (batch) => ({
      accepted: 0,
      refused: batch.items.map((_, index) => ({ index, reason: 'no' })),
    }),
  });
  const upper = 'A287BB31-E317-4336-10D8-827617471140';
  const items = [
    anItem({ trace: { trace_id: upper }, spans: 0 }),
    anItem({ trace: { trace_id: 'x'.repeat(5000) } }),
    anItem({ trace: { trace_id: 7 } }),
    { trace: null, spans: [] },
    { trace: 'text', spans: [] },
  ];
  const answer = await service.send({ body: body(items) });
  const { errors } = answer.body as { readonly errors: readonly { readonly trace_id: string }[] };
  t.strictSame(
    errors.map(({ trace_id }) => trace_id),
    [upper, `${'x'.repeat(200)}…`, '', '', ''],
  );
});

void t.test('a failed batch is an error of the request', async (t) => {
  const failures: readonly (readonly [unknown, number, string])[] = [
    [
      new ConsumeError('disk full', { code: 'storage_unavailable', retryable: true, retryAfterMs: 2000 }),
      503,
      'storage_unavailable',
    ],
    [new ConsumeError('too much', { code: 'overloaded', retryable: true }), 503, 'overloaded'],
    [new ConsumeError('month is full', { code: 'quota_exceeded', retryable: false }), 429, 'quota_exceeded'],
    [new Error('a secret at /some/path'), 500, 'internal_error'],
  ];
  for (const [failure, status, code] of failures) {
    const service = await startTraceBatchService(t, {
      consume: async () => {
        throw failure;
      },
    });
    const answer = await service.send({ body: body([anItem()]) });
    t.equal(answer.status, status, code);
    t.match(answer.body, { code });
    t.notMatch(JSON.stringify(answer.body), /secret/);
  }
});

void t.test('rejects a key without the scope before reading the body', async (t) => {
  const service = await startTraceBatchService(t, takeAll);
  const reader = await service.send({ headers: { authorization: `Bearer ${READER_KEY}` }, body: 'no JSON' });
  t.equal(reader.status, 403);
  const nobody = await service.send({ headers: { authorization: 'Bearer x' }, body: 'no JSON' });
  t.equal(nobody.status, 401);
});

void t.test('at the limit of pending requests, later ones get a retry delay', async (t) => {
  const consumer = new HeldConsumer();
  const service = await startTraceBatchService(t, consumer, {
    max_in_flight: { requests: 1, bytes: '128MiB' },
  });
  const arrived = consumer.arrival();
  const first = service.send({ body: body([anItem()]) });
  await arrived;
  const second = await service.send({ body: body([anItem()]) });
  t.equal(second.status, 503);
  t.equal(second.headers['retry-after'], '1');
  t.match(second.body, { code: 'overloaded', status: 503 });
  const { text } = await service.meter.print();
  t.match(text, /jackdaw_trace_batch_requests_in_flight\{receiver="trace_batch"\} 1/);
  t.match(text, /jackdaw_trace_batch_refused_requests_total\{receiver="trace_batch",code="overloaded"\} 1/);
  consumer.releaseAll();
  t.equal((await first).status, 200);

  const again = consumer.arrival();
  const third = service.send({ body: body([anItem()]) });
  await again;
  consumer.releaseAll();
  t.equal((await third).status, 200);
});

void t.test('at the limit of pending bytes, later ones get a retry delay', async (t) => {
  const consumer = new HeldConsumer();
  const service = await startTraceBatchService(t, consumer, { max_in_flight: { requests: 10, bytes: 3000 } });
  const arrived = consumer.arrival();
  const large = body([anItem({ trace: { metadata: { text: 'x'.repeat(4000) } } })]);
  const first = service.send({ body: large });
  await arrived;
  t.equal((await service.send({ body: body([]) })).status, 503);
  consumer.releaseAll();
  t.equal((await first).status, 200);
});

void t.test('a shutdown rejects new requests and finishes accepted ones', async (t) => {
  const consumer = new HeldConsumer();
  const service = await startTraceBatchService(t, consumer);
  const arrived = consumer.arrival();
  const taken = service.send({ body: body([anItem()]) });
  await arrived;
  let isDown = false;
  const down = service.shutdown(AbortSignal.timeout(30_000)).then(() => {
    isDown = true;
  });
  const late = await service.send({ body: body([anItem()]) });
  t.equal(late.status, 503);
  t.match(late.body, { code: 'shutting_down' });
  t.ok(late.headers['retry-after']);
  t.notOk(isDown, 'waits for accepted requests');
  consumer.releaseAll();
  await down;
  t.match(await taken, { status: 200, body: { accepted: 1 } });
  await service.shutdown(AbortSignal.timeout(30_000));
});

void t.test('the deadline ends the wait for a store that never responds', async (t) => {
  const consumer = new HeldConsumer();
  const service = await startTraceBatchService(t, consumer);
  const arrived = consumer.arrival();
  const taken = service.send({ body: body([anItem()]) });
  await arrived;
  const deadline = new AbortController();
  const down = service.shutdown(deadline.signal);
  deadline.abort();
  await down;
  consumer.releaseAll();
  t.equal((await taken).status, 200);
});

void t.test('applies the configured body size', async (t) => {
  const service = await startTraceBatchService(t, takeAll, {
    max_request_body_size: 1000,
  });
  const large = await service.send({ body: body([anItem({ spans: 5 })]) });
  t.equal(large.status, 413);
  t.match(large.body, { code: 'body_too_large' });
});
