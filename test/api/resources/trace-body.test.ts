import { NO_DIMENSIONS } from '../../../src/signal/run-context.js';
import t from 'tap';
import { serializeTrace } from '../../../src/api/resources/trace-body.js';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { StoredSpan, StoredTrace } from '../../../src/storage/contracts/runs.js';

const RUN = {
  trace_id: '01890000-0000-7000-8000-000000000000',
  agent_id: '01890000-0000-7000-8000-000000000001',
  agent_name: 'researcher',
  kind: 'agent',
  session_id: null,
  user_id: null,
  tags: [],
  ...NO_DIMENSIONS,
  status: 'completed',
  started_at: 1_700_000_000_000_000,
  ended_at: null,
  duration_ms: null,
  success: null,
  outcome: null,
  error_message: null,
  total_tokens: null,
  total_cost_usd: 1_500_000_000,
  sample_rate: null,
  span_count: 0,
  metadata: null,
} as const;

/** A trace of `count` spans of `bytes` bytes; `ended` tells whether the source was closed. */
function aTrace(count: number, bytes: number, failAt = Infinity) {
  const state = { read: 0, isEnded: false };
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      if (state.read === failAt)
        throw new ConsumeError('gone', { code: 'storage_unavailable', retryable: true });
      if (state.read === count) return { done: true, value: undefined };
      state.read++;
      return { value: Buffer.from(`"${'x'.repeat(bytes)}"`) };
    },
    return: async () => {
      state.isEnded = true;
      return { done: true, value: undefined };
    },
  };
  const trace: StoredTrace = { ...RUN, spans: { [Symbol.asyncIterator]: () => iterator } };
  return { trace, state };
}

async function whole(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ readonly spans: unknown[] }> {
  const parts: Uint8Array[] = [];
  if (body instanceof Uint8Array) parts.push(body);
  else for await (const part of body) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString()) as { readonly spans: unknown[] };
}

void t.test(
  'a small trace is a single chunk, so that a store failure becomes an error response',
  async (t) => {
    for (const count of [0, 1, 500]) {
      const body = await serializeTrace(aTrace(count, 1000).trace, []);
      t.ok(body instanceof Uint8Array);
      const { spans, ...header } = await whole(body);
      t.equal(spans.length, count);
      t.match(header, { agent_name: 'researcher', total_cost_usd: 1.5, started_at: '2023-11-14T22:13:20Z' });
    }
    await t.rejects(serializeTrace(aTrace(10, 10, 5).trace, []), { code: 'storage_unavailable' });
  },
);

void t.test('a large trace is read no faster than its chunks are consumed', async (t) => {
  const { trace, state } = aTrace(1000, 10_000);
  const body = await serializeTrace(trace, []);
  t.notOk(body instanceof Uint8Array);
  t.ok(state.read < 200, 'the rest is read on demand');
  t.equal((await whole(body)).spans.length, 1000);
});

void t.test('closing the body closes the source, even before the first chunk', async (t) => {
  for (const pieces of [0, 1, 3]) {
    const { trace, state } = aTrace(1000, 10_000);
    const body = await serializeTrace(trace, []);
    if (body instanceof Uint8Array) throw new Error('expected pieces');
    const iterator = body[Symbol.asyncIterator]();
    for (let i = 0; i < pieces; i++) await iterator.next();
    await iterator.return?.();
    t.ok(state.isEnded);
    t.match(await iterator.next(), { done: true });
  }
});

void t.test('a failure in the middle rejects the body', async (t) => {
  const body = await serializeTrace(aTrace(1000, 10_000, 500).trace, []);
  await t.rejects(whole(body), { code: 'storage_unavailable' });
});

void t.test('rows and JSON text of spans serialize alike', async (t) => {
  const span = {
    ...{ span_id: 'a', trace_id: RUN.trace_id, parent_span_id: null, type: 'llm', name: 'answer' },
    ...{ status: 'completed', started_at: RUN.started_at, ended_at: RUN.started_at + 1, duration_ms: 0.001 },
    ...{ model: null, input_tokens: 1, output_tokens: null, total_tokens: 1, cost_usd: 1_500_000_000 },
    ...{ error_message: null, input_data: { big: 12345678901234567890n }, output_data: null },
  } as unknown as StoredSpan;
  async function* pages(): AsyncGenerator<readonly StoredSpan[] | Uint8Array> {
    yield [];
    yield [span, span];
    yield Buffer.from('{"span_id":"b"},{"span_id":"c"}');
    yield [span];
  }
  const body = await serializeTrace({ ...RUN, spans: pages() }, []);
  if (!(body instanceof Uint8Array)) throw new Error('expected one piece');
  t.match(Buffer.from(body).toString(), '"input_data":{"big":12345678901234567890}');
  const { spans } = await whole(body);
  t.match(spans, [
    {
      span_id: 'a',
      cost_usd: 1.5,
      started_at: '2023-11-14T22:13:20Z',
      ended_at: '2023-11-14T22:13:20.000001Z',
    },
    { span_id: 'a' },
    { span_id: 'b' },
    { span_id: 'c' },
    { span_id: 'a', input_data: {}, output_data: null },
  ]);
});
