import type { ClientHttp2Session } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { status as Code } from '@grpc/grpc-js';
import t from 'tap';
import type { Consumer } from '../../../src/component/consumer.js';
import type { Batch } from '../../../src/signal/batch.js';
import { OTHER_KEY } from '../../support/known-keys.js';
import { startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { ONE_ITEM, protobufOf } from '../../support/otlp-requests.js';
import { startOtlpService, type OtlpService } from '../../support/otlp-service.js';
import { connectRaw, framed, type RawCall } from '../../support/raw-grpc.js';
import { until } from '../../support/until.js';

const KIB = 1024;
const takeAll: Consumer<Batch<unknown>> = {
  consume: async (batch) => ({ accepted: batch.items.length, refused: [] }),
};
const ALL = { traces: takeAll, metrics: takeAll, logs: takeAll };
/** One key may hold half of the bytes: 8 MiB. */
const YAML = 'protocols: { grpc: { max_request_body_size: 1MiB, max_bodies_in_flight: 16MiB } }';

async function gauge({ meter }: OtlpService, name: string): Promise<number> {
  const found = new RegExp(`^jackdaw_otlp_grpc_${name}\\{[^}]*\\} (\\d+)`, 'm').exec(
    (await meter.print()).text,
  );
  return Number(found?.[1]);
}

async function settled(service: OtlpService, bytes: number, calls: number): Promise<void> {
  await until(`${bytes} bytes of ${calls} calls`, async () => {
    const now = [await gauge(service, 'bytes_under_way'), await gauge(service, 'calls_under_way')];
    return now[0] === bytes && now[1] === calls;
  });
}

void t.test('parked calls count with their received bytes until they end', async (t) => {
  const service = await startOtlpService(t, ALL, YAML);
  const connections = [1, 2, 3].map(() => connectRaw(t, service.grpcAddress));
  const parked: RawCall[] = connections.flatMap(({ open }) =>
    Array.from({ length: 8 }, () => {
      const call = open('logs');
      call.write(framed(Buffer.alloc(90 * KIB), false, 100 * KIB));
      return call;
    }),
  );
  await settled(service, 24 * 100 * KIB, 24);

  parked[0]?.cancel();
  await settled(service, 23 * 100 * KIB, 23);
  parked[1]?.end();
  t.match(await parked[1]?.status, {
    code: Code.INVALID_ARGUMENT,
    message: /before its message was complete/,
  });
  await settled(service, 22 * 100 * KIB, 22);
  parked[2]?.end(Buffer.alloc(10 * KIB));
  t.equal(
    (await parked[2]?.status)?.code,
    Code.INVALID_ARGUMENT,
    'a complete message of zeros is not a request',
  );
  await settled(service, 21 * 100 * KIB, 21);
  connections[1]?.session.destroy();
  await settled(service, 13 * 100 * KIB, 13);

  service.clock.advance(30_000);
  for (const call of [...parked.slice(3, 8), ...parked.slice(16)])
    t.match(await call.status, { code: Code.UNAVAILABLE, message: /did not arrive in time/ });
  await settled(service, 0, 0);
});

void t.test('does not decompress the message of an unfinished call and times it out', async (t) => {
  const service = await startOtlpService(t, ALL, YAML);
  const { open } = connectRaw(t, service.grpcAddress);
  const bomb = gzipSync(Buffer.alloc(8 * KIB * KIB));
  const parked = Array.from({ length: 20 }, () => {
    const call = open('traces', { 'grpc-encoding': 'gzip' });
    call.write(framed(bomb, true));
    return call;
  });
  await settled(service, 20 * bomb.length, 20);
  const [first, ...others] = parked;
  first?.end();
  t.match(await first?.status, { code: Code.RESOURCE_EXHAUSTED, message: /larger than/ });
  await settled(service, 19 * bomb.length, 19);
  service.clock.advance(30_000);
  for (const { status } of others) t.equal((await status).code, Code.UNAVAILABLE);
  await settled(service, 0, 0);
});

void t.test('a flooding key leaves room for another', async (t) => {
  const service = await startOtlpService(t, ALL, YAML);
  const { open } = connectRaw(t, service.grpcAddress);
  const flood = Array.from({ length: 20 }, () => {
    const call = open('logs');
    call.write(framed(Buffer.alloc(1000 * KIB), false, 1024 * KIB));
    return call;
  });
  const refused = new Set<RawCall>();
  for (const one of flood) void one.status.then(() => refused.add(one));
  await until('those that do not fit are refused', () => refused.size >= 12);
  for (const { status } of refused)
    t.match(await status, { code: Code.UNAVAILABLE, message: /Nothing was stored/ });
  const held = await gauge(service, 'bytes_under_way');
  t.ok(held > 0 && held <= 8 * KIB * KIB, `${held} bytes held`);

  const call = startOtlpGrpcClient(t, service.grpcAddress);
  const body = Buffer.concat(Array.from({ length: 3000 }, () => protobufOf('logs', ONE_ITEM.logs)));
  t.equal((await call('logs', body, { key: OTHER_KEY })).length, 0);
  t.equal((await call('logs', body, { key: OTHER_KEY, gzip: true })).length, 0);
  for (const one of flood) one.cancel();
  await settled(service, 0, 0);
});

void t.test('one key cannot take all calls', async (t) => {
  const service = await startOtlpService(t, ALL, 'max_in_flight: { requests: 10 }');
  const { open } = connectRaw(t, service.grpcAddress);
  const calls = Array.from({ length: 10 }, () => open('logs'));
  await until('five are under way', async () => (await gauge(service, 'calls_under_way')) === 5);
  const refused = await Promise.all(calls.slice(5).map(({ status }) => status));
  for (const status of refused) t.match(status, { code: Code.UNAVAILABLE, message: /Too many requests/ });
  const call = startOtlpGrpcClient(t, service.grpcAddress);
  t.equal((await call('logs', protobufOf('logs', ONE_ITEM.logs), { key: OTHER_KEY })).length, 0);
  for (const one of calls) one.cancel();
  await settled(service, 0, 0);
});

void t.test('limits connections and closes idle ones', async (t) => {
  const service = await startOtlpService(t, ALL, 'protocols: { grpc: { max_connections: 3 } }');
  const connections = Array.from({ length: 5 }, () => connectRaw(t, service.grpcAddress));
  const isOpen = ({ session }: (typeof connections)[number]) => !session.closed && !session.destroyed;
  await until('two are closed', () => connections.filter(isOpen).length === 3);
  await until('three are open', async () => (await gauge(service, 'connections')) === 3);
  const [busy, ...idle] = connections.filter(isOpen);
  const parked = busy?.open('logs', { 'grpc-timeout': '1H' });
  await until('a call is under way', async () => (await gauge(service, 'calls_under_way')) === 1);
  for (let minute = 0; minute < 9.5; minute += 0.5) {
    service.clock.advance(30_000);
    // After two client pings, all server pings are answered.
    for (const { session } of connections.filter(isOpen)) {
      await pinged(session);
      await pinged(session);
    }
  }
  t.equal(idle.filter(isOpen).length, 2, 'they answer pings');
  t.equal((await parked?.status)?.code, Code.UNAVAILABLE, 'too slow');
  service.clock.advance(30_000);
  await until('those without a call are closed', () => idle.filter(isOpen).length === 0);
});

function pinged(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    session.ping((error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}
