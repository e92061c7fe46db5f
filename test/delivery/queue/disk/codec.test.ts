import t from 'tap';
import fc from 'fast-check';
import { BatchCodec } from '../../../../src/delivery/queue/disk/batch-codec.js';
import { decodeTraces } from '../../../../src/otlp/decode/traces.js';
import { encodeProtobuf, encodeRequest } from '../../../../src/otlp/encode/request.js';
import { deriveMetadata } from '../../../../src/otlp/map/span-metadata.js';
import { spansToTraces } from '../../../../src/otlp/map/spans-to-traces.js';
import { requestTypes } from '../../../../src/otlp/wire/messages.js';
import type { Signal } from '../../../../src/signal/batch.js';
import { note, sentOf } from '../../../../src/signal/sent-span.js';
import { FULL } from '../../../support/otlp-full-requests.js';
import { declaredRun, logBatch, metricBatch, TENANT } from '../../../support/otlp-records.js';
import { holds } from '../../../support/property.js';

async function roundTrip<Item>(signal: Signal, items: readonly Item[]): Promise<Item[]> {
  const codec = new BatchCodec(signal, deriveMetadata);
  const packed = await codec.pack(codec.serialize(items));
  return (await codec.read(packed)).items as Item[];
}

const fullTraces = () => {
  const bytes = requestTypes.traces.encode(FULL.traces).finish();
  return spansToTraces(decodeTraces(Buffer.from(bytes), Infinity), { tenant: TENANT, idleTimeoutMs: null })
    .batch;
};

void t.test(
  'records of every signal come back as they were, and leave as they would have left',
  async (t) => {
    const logs = logBatch();
    t.strictSame(await roundTrip('logs', logs.items), logs.items);
    const metrics = metricBatch();
    const points = await roundTrip('metrics', metrics.items);
    t.strictSame(points, metrics.items);
    t.strictSame(
      encodeProtobuf('metrics', encodeRequest('metrics', { tenant: TENANT, items: points })),
      encodeProtobuf('metrics', encodeRequest('metrics', metrics)),
      'points still share their streams',
    );
    const run = declaredRun();
    t.strictSame(await roundTrip('traces', [run]), [run]);
  },
);

void t.test('spans that came by OTLP keep the bytes that came, and what was noted since', async (t) => {
  const batch = fullTraces();
  const [first] = batch.items[0]?.spans ?? [];
  if (first === undefined) throw new Error('there is no span');
  note(first, 'team', 'search');
  const items = await roundTrip('traces', batch.items);
  const read = { tenant: TENANT, items };
  t.strictSame(
    encodeProtobuf('traces', encodeRequest('traces', read)),
    encodeProtobuf('traces', encodeRequest('traces', batch)),
  );
  const [again] = items[0]?.spans ?? [];
  t.strictSame(again && sentOf(again)?.bytes, sentOf(first)?.bytes);
  t.equal(again?.metadata?.team, 'search');
  t.strictSame(again?.metadata, first.metadata);
  t.strictSame(
    items.map(({ trace }) => trace),
    batch.items.map(({ trace }) => trace),
  );
});

void t.test('any value comes back bit by bit', async (t) => {
  const odd = [
    2n ** 80n,
    -(2n ** 63n),
    2 ** 53 + 2,
    1,
    1.5,
    -0,
    NaN,
    Infinity,
    '\ud800',
    '',
    undefined,
    null,
  ];
  t.ok((await roundTrip('events', odd)).every((value, index) => Object.is(value, odd[index])));
  const bytes = new Uint8Array([0, 255, 7]).subarray(1);
  t.strictSame(await roundTrip('logs', [{ bytes, same: bytes }]), [{ bytes, same: bytes }]);
  const own = JSON.parse('{"__proto__":{"polluted":true}}') as unknown;
  t.equal(JSON.stringify(await roundTrip('logs', [own])), '[{"__proto__":{"polluted":true}}]');
  const found: unknown[] = [];
  holds(
    t,
    fc.property(fc.array(fc.anything({ withBigInt: true, withTypedArray: true })), (items) => {
      found.push(items);
    }),
  );
  for (const items of found as unknown[][]) {
    const codec = new BatchCodec('logs', deriveMetadata);
    t.strictSame((await codec.read(await codec.pack(codec.serialize(items)))).items, items);
  }
});

void t.test('what an unknown version has packed is an error, and no items', async (t) => {
  const codec = new BatchCodec('logs', deriveMetadata);
  const content = codec.serialize([1]);
  await t.rejects(codec.read({ content, packing: 9 }), /this version of Jackdaw does not know/);
  await t.rejects(codec.read({ content: Buffer.from('nonsense'), packing: 0 }));
  await t.rejects(codec.read({ content: codec.serialize([1]).subarray(0, 3), packing: 1 }));
});
