import { gzipSync } from 'node:zlib';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Client, credentials, Metadata, status as Code } from '@grpc/grpc-js';
import t from 'tap';
import { ConsumeError, type ConsumeErrorCode } from '../../../src/component/consume-error.js';
import type { Consumer } from '../../../src/component/consumer.js';
import { TLS_RELOAD_MS } from '../../../src/http/tls-reload.js';
import { int64ToNumber } from '../../../src/otlp/wire/int64.js';
import { responseTypes } from '../../../src/otlp/wire/messages.js';
import { TELEMETRY_SIGNALS, type Batch } from '../../../src/signal/batch.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../support/http-certificate.js';
import { KEY, READER_KEY, USER } from '../../support/known-keys.js';
import { grpcFailureOf, OTLP_METHODS, startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { aSpan, ONE_ITEM, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { startOtlpService } from '../../support/otlp-service.js';
import { until } from '../../support/until.js';
import { AUTHORITY, RECEIVER_KEY, VALID } from '../../support/webhook-certificates.js';

const takeAll: Consumer<Batch<unknown>> = {
  consume: async (batch) => ({ accepted: batch.items.length, refused: [] }),
};
const ALL = { traces: takeAll, metrics: takeAll, logs: takeAll };

void t.test(
  'the three Export services accept plain and gzip requests and leave partial_success unset',
  async (t) => {
    const seen: string[] = [];
    const note: Consumer<Batch<unknown>> = {
      consume: async ({ tenant, items }) => {
        seen.push(`${items.length} of ${tenant}`);
        return { accepted: items.length, refused: [] };
      },
    };
    const { grpcAddress } = await startOtlpService(t, { traces: note, metrics: note, logs: note });
    const call = startOtlpGrpcClient(t, grpcAddress);
    for (const signal of TELEMETRY_SIGNALS) {
      const body = protobufOf(signal, ONE_ITEM[signal]);
      t.equal((await call(signal, body)).length, 0);
      t.equal((await call(signal, body, { gzip: true })).length, 0);
      t.equal((await call(signal, Buffer.alloc(0))).length, 0, 'an empty request succeeds');
    }
    t.strictSame(seen, Array(6).fill(`1 of ${USER}`));
  },
);

void t.test('rejected items are reported as partial success', async (t) => {
  const { grpcAddress } = await startOtlpService(t, ALL);
  const call = startOtlpGrpcClient(t, grpcAddress);
  const request = tracesOf(aSpan(1), aSpan(2, { startTimeUnixNano: 0 }), aSpan(3, { traceId: null }));
  const { partialSuccess } = responseTypes.traces.decode(await call('traces', protobufOf('traces', request)));
  t.equal(int64ToNumber(partialSuccess?.rejectedSpans ?? 0), 2);
  t.match(partialSuccess?.errorMessage, /spans\/1\/startTimeUnixNano.*spans\/2\/traceId/);
});

void t.test(
  'keys are metadata: UNAUTHENTICATED and PERMISSION_DENIED before the message is read',
  async (t) => {
    const { grpcAddress, meter } = await startOtlpService(t, ALL);
    const call = startOtlpGrpcClient(t, grpcAddress);
    const junk = Buffer.alloc(1000, 0xff);
    t.match(await grpcFailureOf(call('logs', junk, { key: null })), {
      code: Code.UNAUTHENTICATED,
      sameCode: true,
    });
    t.match(await grpcFailureOf(call('logs', junk, { key: 'jd_other' })), { code: Code.UNAUTHENTICATED });
    t.match(await grpcFailureOf(call('logs', junk, { key: READER_KEY })), { code: Code.PERMISSION_DENIED });
    t.match(
      (await meter.print()).text,
      'otlp_refused_requests_total{receiver="otlp",transport="grpc",code="unauthenticated"} 2',
    );
  },
);

void t.test('invalid data or batches are INVALID_ARGUMENT with a BadRequest', async (t) => {
  const invalid: Consumer<Batch<unknown>> = {
    consume: () =>
      Promise.reject(new ConsumeError('all wrong', { code: 'validation_failed', retryable: false })),
  };
  const { grpcAddress } = await startOtlpService(t, { ...ALL, logs: invalid });
  const call = startOtlpGrpcClient(t, grpcAddress);
  const broken = await grpcFailureOf(call('traces', Buffer.from([0x0a, 0x7f])));
  t.match(broken, { code: Code.INVALID_ARGUMENT, sameCode: true });
  t.match(broken.violations?.[0], {
    field: /^byte \d+$/,
    description: /is not a protobuf message of traces/,
  });
  const whole = await grpcFailureOf(call('logs', protobufOf('logs', ONE_ITEM.logs)));
  t.match(whole, { code: Code.INVALID_ARGUMENT, message: 'all wrong' });
});

void t.test(
  'a message above the limit is RESOURCE_EXHAUSTED without RetryInfo, before and after gzip',
  async (t) => {
    const yaml = 'protocols: { grpc: { max_request_body_size: 64KiB } }';
    const { grpcAddress } = await startOtlpService(t, ALL, yaml);
    const call = startOtlpGrpcClient(t, grpcAddress);
    const large = Buffer.alloc(100_000);
    t.ok(gzipSync(large).length < 1000);
    for (const gzip of [false, true]) {
      const failure = await grpcFailureOf(call('traces', large, { gzip }));
      t.match(failure, { code: Code.RESOURCE_EXHAUSTED, retryAfter: undefined }, `gzip: ${gzip}`);
    }
    t.equal((await call('traces', Buffer.alloc(0))).length, 0, 'keeps serving');
  },
);

void t.test('back-pressure is UNAVAILABLE, quota RESOURCE_EXHAUSTED, both with RetryInfo', async (t) => {
  const cases: readonly (readonly [ConsumeErrorCode, number | undefined, Code, number])[] = [
    ['quota_exceeded', 90_000, Code.RESOURCE_EXHAUSTED, 90],
    ['rate_limited', undefined, Code.RESOURCE_EXHAUSTED, 1],
    ['overloaded', undefined, Code.UNAVAILABLE, 1],
    ['storage_unavailable', 2500, Code.UNAVAILABLE, 3],
    ['shutting_down', undefined, Code.UNAVAILABLE, 5],
    ['internal_error', undefined, Code.UNAVAILABLE, 1],
  ];
  for (const [code, retryAfterMs, grpcCode, retryAfter] of cases) {
    const failing: Consumer<Batch<unknown>> = {
      consume: () =>
        Promise.reject(
          new ConsumeError('later', {
            code,
            retryable: true,
            ...(retryAfterMs !== undefined && { retryAfterMs }),
          }),
        ),
    };
    const { grpcAddress } = await startOtlpService(t, { ...ALL, logs: failing });
    const call = startOtlpGrpcClient(t, grpcAddress);
    const failure = await grpcFailureOf(call('logs', protobufOf('logs', ONE_ITEM.logs)));
    t.match(failure, { code: grpcCode, retryAfter, sameCode: true }, code);
  }
});

void t.test('a permanent failure is INTERNAL without details, and is logged', async (t) => {
  const failing: Consumer<Batch<unknown>> = {
    consume: () => Promise.reject(new ConsumeError('a secret', { code: 'internal_error', retryable: false })),
  };
  const { grpcAddress, logger } = await startOtlpService(t, { ...ALL, logs: failing });
  const call = startOtlpGrpcClient(t, grpcAddress);
  const failure = await grpcFailureOf(call('logs', protobufOf('logs', ONE_ITEM.logs)));
  t.equal(failure.code, Code.INTERNAL);
  t.notMatch(failure.message, 'secret');
  t.match(logger.lines.join('\n'), 'a secret');
});

void t.test('unknown services and unused signals are UNIMPLEMENTED', async (t) => {
  const { grpcAddress } = await startOtlpService(t, { traces: takeAll });
  const call = startOtlpGrpcClient(t, grpcAddress);
  const failure = await grpcFailureOf(call('metrics', protobufOf('metrics', ONE_ITEM.metrics)));
  t.match(failure, { code: Code.UNIMPLEMENTED, message: /No pipeline takes metrics/ });
  const path = '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export';
  t.equal((await grpcFailureOf(call('traces', Buffer.alloc(0), { path }))).code, Code.UNIMPLEMENTED);
});

void t.test('a late message is retryable', async (t) => {
  const { grpcAddress, clock } = await startOtlpService(t, ALL, 'request_timeout: 2s');
  const client = new Client(grpcAddress, credentials.createInsecure());
  t.teardown(() => {
    client.close();
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${KEY}`);
  const asIs = (bytes: Buffer): Buffer => bytes;
  // A streaming client opens the call and never sends its message.
  const answer = new Promise<Buffer | undefined>((resolve, reject) => {
    client.makeClientStreamRequest(OTLP_METHODS.traces, asIs, asIs, metadata, (error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });
  // The clock advances whenever the call may have arrived.
  const ticking = setInterval(() => {
    clock.advance(2000);
  }, 5);
  const failure = await grpcFailureOf(answer);
  clearInterval(ticking);
  t.match(failure, { code: Code.UNAVAILABLE, retryAfter: 1, message: /did not arrive/ });
});

void t.test('a stop finishes pending calls and aborts them at the deadline', async (t) => {
  for (const isInTime of [true, false]) {
    let release = (): void => undefined;
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const held: Consumer<Batch<unknown>> = {
      consume: async ({ items }) => {
        arrived();
        await new Promise<void>((resolve) => (release = resolve));
        return { accepted: items.length, refused: [] };
      },
    };
    const service = await startOtlpService(t, { ...ALL, logs: held });
    const call = startOtlpGrpcClient(t, service.grpcAddress);
    const first = call('logs', protobufOf('logs', ONE_ITEM.logs));
    first.catch(() => undefined);
    await arrival;
    const deadline = new AbortController();
    const stopping = service.shutdown(deadline.signal);
    t.equal((await grpcFailureOf(call('logs', Buffer.alloc(0)))).code, Code.UNAVAILABLE);
    if (isInTime) {
      release();
      t.equal((await first).length, 0);
    } else {
      deadline.abort();
      t.not((await grpcFailureOf(first)).code, Code.OK);
    }
    await stopping;
    release();
    await service.shutdown(deadline.signal);
  }
});

void t.test('serves TLS and reports a port in use', async (t) => {
  const directory = t.testdir({ 'tls.crt': TEST_CERTIFICATE, 'tls.key': TEST_KEY });
  const tls = { cert_file: join(directory, 'tls.crt'), key_file: join(directory, 'tls.key') };
  const { grpcAddress } = await startOtlpService(t, ALL, JSON.stringify({ protocols: { grpc: { tls } } }));
  const byName = grpcAddress.replace('127.0.0.1', 'localhost');
  const call = startOtlpGrpcClient(t, byName, credentials.createSsl(Buffer.from(TEST_CERTIFICATE)));
  t.equal((await call('logs', protobufOf('logs', ONE_ITEM.logs))).length, 0);

  const taken = JSON.stringify({ protocols: { grpc: { endpoint: grpcAddress } } });
  await t.rejects(startOtlpService(t, ALL, taken), {
    message: new RegExp(`gRPC listener ${grpcAddress}: .*EADDRINUSE`),
  });
});

void t.test('gRPC: serves a changed certificate and can require client certificates', async (t) => {
  const directory = t.testdir({
    'tls.crt': TEST_CERTIFICATE,
    'tls.key': TEST_KEY,
    'ca.crt': TEST_CERTIFICATE,
  });
  const tls = {
    cert_file: join(directory, 'tls.crt'),
    key_file: join(directory, 'tls.key'),
    client_ca_file: join(directory, 'ca.crt'),
    min_version: 'TLSv1.3',
  };
  const { grpcAddress, clock, logger } = await startOtlpService(
    t,
    ALL,
    JSON.stringify({ protocols: { grpc: { tls } } }),
  );
  const send = async (ca: string, own?: { readonly cert: string; readonly key: string }): Promise<number> => {
    const [cert, key] = own === undefined ? [null, null] : [Buffer.from(own.cert), Buffer.from(own.key)];
    const call = startOtlpGrpcClient(t, grpcAddress, credentials.createSsl(Buffer.from(ca), key, cert));
    return (await call('logs', protobufOf('logs', ONE_ITEM.logs))).length;
  };
  const known = { cert: TEST_CERTIFICATE, key: TEST_KEY };
  t.equal(await send(TEST_CERTIFICATE, known), 0);
  t.equal((await grpcFailureOf(send(TEST_CERTIFICATE))).code, Code.UNAVAILABLE, 'without a certificate');
  const other = { cert: VALID, key: RECEIVER_KEY };
  t.equal((await grpcFailureOf(send(TEST_CERTIFICATE, other))).code, Code.UNAVAILABLE, 'with another one');
  const [host = '', port = ''] = grpcAddress.split(':');
  const old = connect({
    host,
    port: Number(port),
    ...known,
    rejectUnauthorized: false,
    servername: 'localhost',
    maxVersion: 'TLSv1.2',
  });
  const [error] = (await once(old, 'error')) as [NodeJS.ErrnoException];
  t.match(error.code, /PROTOCOL_VERSION/);

  writeFileSync(tls.cert_file, VALID);
  writeFileSync(tls.key_file, RECEIVER_KEY);
  await until('the new one is served', () => {
    clock.advance(TLS_RELOAD_MS);
    return logger.lines.some((line) => line.startsWith('info Reloaded the certificate'));
  });
  t.equal(await send(AUTHORITY, known), 0);
});
