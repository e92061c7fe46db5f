import { networkInterfaces } from 'node:os';
import { status as Code } from '@grpc/grpc-js';
import t from 'tap';
import type { Consumer } from '../../../src/component/consumer.js';
import type { Batch } from '../../../src/signal/batch.js';
import { startTestDaemon } from '../../support/daemon.js';
import { grpcFailureOf, startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { startOtlpService, type OtlpService } from '../../support/otlp-service.js';
import { connectRaw, framed } from '../../support/raw-grpc.js';
import { until } from '../../support/until.js';

const takeAll: Consumer<Batch<unknown>> = {
  consume: async (batch) => ({ accepted: batch.items.length, refused: [] }),
};
const ALL = { traces: takeAll, metrics: takeAll, logs: takeAll };

/** A non-loopback address of this machine, as clients of other machines have. */
const own = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

type Raw = ReturnType<typeof connectRaw>;
const isOpen = ({ session }: Raw): boolean => !session.closed && !session.destroyed;

async function closedFor(service: OtlpService, labels: string): Promise<number> {
  const { text } = await service.meter.print();
  const line = text
    .split('\n')
    .find((one) => one.startsWith('jackdaw_otlp_grpc_closed_connections_total') && one.includes(labels));
  return Number(line?.split(' ').at(-1) ?? 0);
}

async function callsUnderWay(service: OtlpService, calls: number): Promise<void> {
  await until(`${calls} calls are under way`, async () =>
    (await service.meter.print()).text.includes(`otlp_grpc_calls_under_way{receiver="otlp"} ${calls}\n`),
  );
}

void t.test('a new connection closes an idle one, never a busy one', async (t) => {
  const service = await startOtlpService(t, ALL, 'protocols: { grpc: { max_connections: 2 } }');
  const first = connectRaw(t, service.grpcAddress);
  first.open('logs');
  await callsUnderWay(service, 1);
  const second = connectRaw(t, service.grpcAddress);
  await until('both are open', async () =>
    (await service.meter.print()).text.includes('otlp_grpc_connections{receiver="otlp"} 2'),
  );
  const third = connectRaw(t, service.grpcAddress);
  await until('the second is closed', () => !isOpen(second));
  third.open('logs');
  await callsUnderWay(service, 2);
  t.ok(isOpen(first) && isOpen(third));
  t.equal(await closedFor(service, 'reason="total",which="idle"'), 1);
  const fourth = connectRaw(t, service.grpcAddress);
  await until('the fourth is closed', () => !isOpen(fourth));
  t.ok(isOpen(first) && isOpen(third));
  t.equal(await closedFor(service, 'reason="total",which="new"'), 1);
});

void t.test(
  'an address has its own limit and leaves room for others',
  { skip: own === undefined && 'this machine has no address but loopback' },
  async (t) => {
    const yaml =
      'protocols: { grpc: { endpoint: "0.0.0.0:0", max_connections: 4, max_connections_per_address: 2 } }';
    const service = await startOtlpService(t, ALL, yaml);
    const port = service.grpcAddress.replace('0.0.0.0:', '');
    const other = connectRaw(t, `127.0.0.1:${port}`);
    const mine = Array.from({ length: 6 }, () => connectRaw(t, `${own}:${port}`));
    await until('two are left', () => mine.filter(isOpen).length === 2);
    t.ok(isOpen(other));
    t.equal(await closedFor(service, 'reason="address",which="idle"'), 4);
    t.equal(await closedFor(service, 'reason="total"'), 0);
  },
);

void t.test('audits a rejected gRPC key with the address of its sender', async (t) => {
  const overlay = 'service: { http: { trusted_proxies: [127.0.0.1/32] } }';
  const { grpcAddress, logs } = await startTestDaemon(t, { overlay });
  const call = startOtlpGrpcClient(t, grpcAddress);
  const refused = await grpcFailureOf(call('logs', Buffer.alloc(0), { key: 'jd_nobody' }));
  t.equal(refused.code, Code.UNAUTHENTICATED);
  t.match(
    logs.filter((line) => line.includes('audit="key.refused"')),
    [/reason="malformed".*address="127\.0\.0\.1"/],
  );
  const forwarded = connectRaw(t, grpcAddress).open('logs', {
    authorization: 'Bearer jd_nobody',
    'x-forwarded-for': '192.0.2.7',
  });
  forwarded.end(framed(Buffer.alloc(0)));
  await forwarded.status;
  t.match(logs.at(-1), /audit="key\.refused".*address="192\.0\.2\.7"/, 'as named by a trusted proxy');
});
