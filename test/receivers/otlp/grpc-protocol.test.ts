import { deflateSync, gzipSync } from 'node:zlib';
import { status as Code } from '@grpc/grpc-js';
import { compressSync } from 'snappy';
import t from 'tap';
import type { Consumer } from '../../../src/component/consumer.js';
import type { Batch } from '../../../src/signal/batch.js';
import { ONE_ITEM, protobufOf } from '../../support/otlp-requests.js';
import { startOtlpService } from '../../support/otlp-service.js';
import { connectRaw, framed } from '../../support/raw-grpc.js';

const takeAll: Consumer<Batch<unknown>> = {
  consume: async (batch) => ({ accepted: batch.items.length, refused: [] }),
};
const ALL = { traces: takeAll, metrics: takeAll, logs: takeAll };
const MESSAGE = protobufOf('logs', ONE_ITEM.logs);

/** Raw blocks are valid zstd, so no encoder is needed. */
function zstdOf(plain: Uint8Array): Buffer {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x48, 0, 0, 0]);
  head.writeUIntLE((plain.length << 3) | 1, 6, 3);
  return Buffer.concat([head, plain]);
}

void t.test('accepts every encoding of the Collector and lists them for an unknown one', async (t) => {
  const { grpcAddress } = await startOtlpService(t, ALL);
  const { open } = connectRaw(t, grpcAddress);
  const packed = {
    gzip: gzipSync(MESSAGE),
    deflate: deflateSync(MESSAGE),
    zstd: zstdOf(MESSAGE),
    snappy: compressSync(MESSAGE),
  };
  for (const [encoding, message] of Object.entries(packed)) {
    const call = open('logs', { 'grpc-encoding': encoding });
    call.end(framed(message, true));
    t.equal((await call.status).code, Code.OK, encoding);
    const plain = open('logs', { 'grpc-encoding': encoding });
    plain.end(framed(MESSAGE));
    t.equal((await plain.status).code, Code.OK, `${encoding}, not used by this message`);
  }
  const unknown = open('logs', { 'grpc-encoding': 'lz4' });
  unknown.end(framed(MESSAGE, true));
  t.match(await unknown.status, {
    code: Code.UNIMPLEMENTED,
    headers: { 'grpc-accept-encoding': /gzip.*zstd.*snappy/ },
  });
  const broken = open('logs', { 'grpc-encoding': 'gzip' });
  broken.end(framed(MESSAGE, true));
  t.match(await broken.status, { code: Code.INVALID_ARGUMENT, message: /not valid gzip data/ });
});

void t.test('a message may arrive in any chunks, and there is only one', async (t) => {
  const { grpcAddress } = await startOtlpService(t, ALL);
  const { open } = connectRaw(t, grpcAddress);
  const slow = open('logs');
  for (const byte of framed(MESSAGE)) slow.write(Buffer.from([byte]));
  slow.end();
  t.equal((await slow.status).code, Code.OK);

  const cases: readonly (readonly [string, Buffer, RegExp])[] = [
    ['none', Buffer.alloc(0), /before its message/],
    ['part of a prefix', Buffer.alloc(3), /before its message/],
    ['half of it', framed(MESSAGE).subarray(0, -5), /before its message/],
    ['two', Buffer.concat([framed(MESSAGE), framed(MESSAGE)]), /more than one message/],
    ['a thousand empty ones', Buffer.alloc(5000), /more than one message/],
    ['an odd flag', Buffer.concat([Buffer.from([2]), framed(MESSAGE).subarray(1)]), /flag/],
    ['packed with nothing', framed(MESSAGE, true), /flag/],
  ];
  for (const [name, bytes, message] of cases) {
    const call = open('logs');
    call.end(bytes);
    t.match(await call.status, { code: Code.INVALID_ARGUMENT, message }, name);
  }
});

void t.test('rejects an oversized message at its length prefix', async (t) => {
  const { grpcAddress, meter } = await startOtlpService(t, ALL);
  const { open } = connectRaw(t, grpcAddress);
  const call = open('logs');
  call.write(framed(Buffer.alloc(10), false, 4 * 1024 * 1024 + 1));
  t.match(await call.status, { code: Code.RESOURCE_EXHAUSTED, message: /4194304 bytes/ });
  t.match((await meter.print()).text, 'transport="grpc",code="body_too_large"} 1');
});

void t.test('requests other than gRPC get an HTTP response', async (t) => {
  const { grpcAddress } = await startOtlpService(t, ALL);
  const { open } = connectRaw(t, grpcAddress);
  const json = open('logs', { 'content-type': 'application/json' });
  json.end();
  t.match(await json.status, { httpStatus: 415, code: -1 });
  const got = open('logs', { ':method': 'GET' });
  t.match(await got.status, { httpStatus: 405, code: -1 });
});

void t.test('an expired deadline is reported to the client', async (t) => {
  const { grpcAddress, clock } = await startOtlpService(t, ALL);
  const { open } = connectRaw(t, grpcAddress);
  const call = open('logs', { 'grpc-timeout': '2500m' });
  const ticking = setInterval(() => {
    clock.advance(500);
  }, 5);
  t.equal((await call.status).code, Code.DEADLINE_EXCEEDED);
  clearInterval(ticking);
});
