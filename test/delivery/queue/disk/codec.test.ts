import t from 'tap';
import fc from 'fast-check';
import { BatchCodec, PACKING } from '../../../../src/delivery/queue/disk/batch-codec.js';
import { decodeTraces } from '../../../../src/otlp/decode/traces.js';
import { encodeProtobuf, encodeRequest } from '../../../../src/otlp/encode/request.js';
import { RAW_DECODERS } from '../../../../src/otlp/map/decode-raw.js';
import { spansToTraces } from '../../../../src/otlp/map/spans-to-traces.js';
import { requestTypes } from '../../../../src/otlp/wire/messages.js';
import type { Signal } from '../../../../src/signal/batch.js';
import { inForm, recordsOf, type RawRequest } from '../../../../src/signal/raw-batch.js';
import { DIMENSIONS, NO_CONTEXT, type RunContext } from '../../../../src/signal/run-context.js';
import { note, sentOf, setMappedContext } from '../../../../src/signal/sent-span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { FULL } from '../../../support/otlp-full-requests.js';
import { declaredRun, logBatch, metricBatch, TENANT } from '../../../support/otlp-records.js';
import { protobufOf } from '../../../support/otlp-requests.js';
import { aHeader, aSpanRecord } from '../../../support/run-records.js';
import { holds } from '../../../support/property.js';

function roundTrip<Item>(signal: Signal, items: readonly Item[]): Item[] {
  const codec = new BatchCodec(signal, RAW_DECODERS);
  const packed = codec.pack(codec.serialize(items));
  const about = { tenant: TENANT, items: items.length, contents: items.length };
  return recordsOf(codec.read(packed, about).batch).items as Item[];
}

const fullTraces = () => {
  const bytes = requestTypes.traces.encode(FULL.traces).finish();
  return spansToTraces(decodeTraces(Buffer.from(bytes), Infinity), { tenant: TENANT, idleTimeoutMs: null })
    .batch;
};

void t.test('records of every signal round-trip and encode as before', async (t) => {
  const logs = logBatch();
  t.strictSame(roundTrip('logs', logs.items), logs.items);
  const metrics = metricBatch();
  const points = roundTrip('metrics', metrics.items);
  t.strictSame(points, metrics.items);
  t.strictSame(
    encodeProtobuf('metrics', encodeRequest('metrics', { tenant: TENANT, items: points })),
    encodeProtobuf('metrics', encodeRequest('metrics', metrics)),
    'points still share their streams',
  );
  const run = declaredRun();
  t.strictSame(roundTrip('traces', [run]), [run]);
});

void t.test('OTLP spans keep the received bytes and later notes', async (t) => {
  const batch = fullTraces();
  const [first] = batch.items[0]?.spans ?? [];
  if (first === undefined) throw new Error('there is no span');
  note(first, 'team', 'search');
  const items = roundTrip('traces', batch.items);
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

function without(whole: object, added: readonly string[]): object {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !added.includes(name)));
}

void t.test('completes records of older versions', async (t) => {
  const context = { ...NO_CONTEXT, session_id: 's' };
  const trace = aHeader();
  const span = aSpanRecord(trace.trace_id, { context });
  const oldContext = without(context, DIMENSIONS);
  const old = {
    trace: without(trace, [...DIMENSIONS, 'orphan_wait_ms']),
    spans: [{ ...without(span, ['scores']), context: oldContext }],
  };
  t.strictSame(roundTrip('traces', [old as unknown as TraceRecord]), [{ trace, spans: [span] }]);

  const received = fullTraces();
  for (const { spans } of received.items)
    for (const one of spans) setMappedContext(one, oldContext as RunContext);
  const [again] = roundTrip('traces', received.items)[0]?.spans ?? [];
  t.strictSame(again?.context, context);
  t.equal(again && sentOf(again)?.mapped.context, again?.context, 'still as read');
});

void t.test('stores a raw request in export form, still decodable', async (t) => {
  const bytes = protobufOf('traces', FULL.traces);
  const request: RawRequest = { form: 'plain', bytes, items: 1, spans: null, totalSpans: 1, mostSpans: 1 };
  for (const form of ['gzip', 'plain'] as const) {
    const codec = new BatchCodec('traces', RAW_DECODERS, form);
    const packed = await codec.packRequest(TENANT, request);
    t.ok(packed.content.length < bytes.length, 'compressed on disk');
    for (const { batch } of [packed, codec.read(packed, { tenant: TENANT, items: 1, contents: 1 })]) {
      const kept = batch.kind === 'raw' ? batch.request : undefined;
      t.equal(kept?.form, form, 'in memory it has the form of the exporter');
      t.strictSame(kept && Buffer.from((await inForm(kept, 'plain')).bytes), Buffer.from(bytes));
      t.strictSame(recordsOf(batch).items, fullTraces().items);
    }
  }
});

void t.test('any value round-trips bit by bit', async (t) => {
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
  t.ok(roundTrip('events', odd).every((value, index) => Object.is(value, odd[index])));
  const bytes = new Uint8Array([0, 255, 7]).subarray(1);
  t.strictSame(roundTrip('logs', [{ bytes, same: bytes }]), [{ bytes, same: bytes }]);
  const own = JSON.parse('{"__proto__":{"polluted":true}}') as unknown;
  t.equal(JSON.stringify(roundTrip('logs', [own])), '[{"__proto__":{"polluted":true}}]');
  const found: unknown[] = [];
  holds(
    t,
    fc.property(fc.array(fc.anything({ withBigInt: true, withTypedArray: true })), (items) => {
      found.push(items);
    }),
  );
  for (const items of found as unknown[][]) {
    t.strictSame(roundTrip('logs', items), items);
  }
});

void t.test('throws for a record packed by an unknown version', async (t) => {
  const codec = new BatchCodec('logs', RAW_DECODERS);
  const content = codec.serialize([1]);
  const about = { tenant: TENANT, items: 1, contents: 1 };
  t.throws(() => codec.read({ content, packing: 9 }, about), /this version of Jackdaw does not support/);
  t.throws(() => codec.read({ content: Buffer.from('nonsense'), packing: 0 }, about));
  t.throws(() => codec.read({ content: codec.serialize([1]).subarray(0, 3), packing: 1 }, about));
  t.throws(() => codec.read({ content, packing: PACKING.requestGzip }, about), /holds traces, not logs/);
});
