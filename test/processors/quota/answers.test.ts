import { status as Code, type Metadata } from '@grpc/grpc-js';
import t from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { Consumer, QuotaUsage } from '../../../src/component/consumer.js';
import { TELEMETRY_SIGNALS, type Batch } from '../../../src/signal/batch.js';
import { grpcFailureOf, startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { jsonOf, ONE_ITEM, protobufOf } from '../../support/otlp-requests.js';
import { readStatus, startOtlpService } from '../../support/otlp-service.js';
import { quotaOf } from '../../support/quota-answer.js';
import { anItem } from '../../support/trace-batch.js';
import { startTraceBatchService } from '../../support/trace-batch-service.js';

const DECEMBER = Date.UTC(2026, 11, 1);
const USAGE: QuotaUsage = { limit: 1000, used: 998, resets_at: DECEMBER * 1000 };
const SHOWN = { limit: '1000', remaining: '2', reset: String(DECEMBER / 1000) };
/** Counted before the limit was lowered. */
const OVER: QuotaUsage = { ...USAGE, used: 2000 };
const SHOWN_OVER = { ...SHOWN, remaining: '0' };

function taking(usage?: QuotaUsage): Consumer<Batch<unknown>> {
  return {
    consume: async ({ items }) => ({ accepted: items.length, refused: [], ...(usage && { usage }) }),
  };
}

const refusing: Consumer<Batch<unknown>> = {
  consume: async () => {
    throw new ConsumeError('The month is full.', {
      code: 'quota_exceeded',
      retryable: true,
      retryAfterMs: 86_399_500,
      usage: OVER,
    });
  },
};

const forAll = (consumer: Consumer<Batch<unknown>>) => ({
  traces: consumer,
  metrics: consumer,
  logs: consumer,
});

void t.test('trace_batch: quota headers with 200 and 429, none without a limit', async (t) => {
  const body = JSON.stringify({ traces: [anItem(), { trace: {} }] });
  const send = async (next: Consumer<Batch<unknown>>) =>
    (await startTraceBatchService(t, next)).send({ body });
  t.same(quotaOf(await send(taking())), {});
  const taken = await send(taking(USAGE));
  t.match(taken, { status: 200, body: { accepted: 1, rejected: 1 } });
  t.same(quotaOf(taken), SHOWN);
  const refused = await send(refusing);
  t.strictSame(refused.body, {
    type: 'about:blank',
    title: 'Too Many Requests',
    status: 429,
    detail: 'The month is full.',
    code: 'quota_exceeded',
  });
  t.equal(refused.headers['content-type'], 'application/problem+json');
  t.equal(refused.headers['retry-after'], '86400', 'whole seconds, rounded up');
  t.same(quotaOf(refused), SHOWN_OVER);
});

void t.test('OTLP over HTTP: the same headers for every signal in both encodings', async (t) => {
  const [open, limited, full] = await Promise.all(
    [taking(), taking(USAGE), refusing].map((next) => startOtlpService(t, forAll(next))),
  );
  for (const signal of TELEMETRY_SIGNALS) {
    for (const encoding of ['protobuf', 'json'] as const) {
      const request = ONE_ITEM[signal];
      const body = encoding === 'json' ? jsonOf(request) : protobufOf(signal, request);
      t.same(quotaOf(await open?.send(signal, { encoding, body })), {});
      t.same(quotaOf(await limited?.send(signal, { encoding, body })), SHOWN);
      const refused = await full?.send(signal, { encoding, body });
      if (refused === undefined) throw new Error('there are three services');
      t.equal(refused.status, 429);
      t.equal(refused.headers.get('retry-after'), '86400');
      t.same(quotaOf(refused), SHOWN_OVER);
      t.match(readStatus(refused), {
        code: Code.RESOURCE_EXHAUSTED,
        message: 'The month is full.',
        details: ['RetryInfo'],
      });
    }
  }
});

void t.test('OTLP over gRPC: the same as metadata of responses and errors', async (t) => {
  for (const [next, shown] of [
    [taking(), {}],
    [taking(USAGE), SHOWN],
  ] as const) {
    const { grpcAddress } = await startOtlpService(t, forAll(next));
    const call = startOtlpGrpcClient(t, grpcAddress);
    for (const signal of TELEMETRY_SIGNALS) {
      let headers: Metadata | undefined;
      const onMetadata = (given: Metadata): void => void (headers = given);
      await call(signal, protobufOf(signal, ONE_ITEM[signal]), { onMetadata });
      t.same(quotaOf({ headers }), shown);
    }
  }
  const { grpcAddress } = await startOtlpService(t, forAll(refusing));
  const call = startOtlpGrpcClient(t, grpcAddress);
  for (const signal of TELEMETRY_SIGNALS) {
    const failure = await grpcFailureOf(call(signal, protobufOf(signal, ONE_ITEM[signal])));
    t.match(failure, { code: Code.RESOURCE_EXHAUSTED, sameCode: true, retryAfter: 86_400 });
    t.same(quotaOf({ headers: failure.metadata }), SHOWN_OVER);
  }
});
