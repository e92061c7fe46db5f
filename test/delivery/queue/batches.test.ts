import t from 'tap';
import type { RawBatch } from '../../../src/signal/raw-batch.js';
import { batchOf } from '../../support/engine.js';
import { ScriptedExporter, settled } from '../../support/scripted-exporter.js';
import { startDelivery } from '../../support/test-delivery.js';

void t.test('batches items within max_wait in order and by tenant', async (t) => {
  const { exporter, clock, send } = startDelivery('queue: { batch: { max_wait: 200ms } }');
  await send('a', 1, 2);
  clock.advance(100);
  await send('b', 'x');
  await send('a', 3);
  t.strictSame(exporter.items, [], 'nothing is sent early');
  clock.advance(100);
  t.strictSame(exporter.items, [[1, 2, 3]]);
  clock.advance(100);
  t.strictSame(exporter.items, [[1, 2, 3], ['x']]);
  t.strictSame(
    exporter.attempts.map(({ batch }) => batch.tenant),
    ['a', 'b'],
  );
  t.equal(
    exporter.attempts[0]?.context.receivedAt,
    clock.now() - 300_000,
    'received when its first item was',
  );
});

void t.test('sends a full batch immediately and splits a larger one without mutating it', async (t) => {
  const { exporter, delivery, send } = startDelivery('queue: { batch: { max_items: 3 } }');
  await send('a', 1, 2);
  t.strictSame(exporter.items, []);
  await send('a', 3, 4);
  t.strictSame(exporter.items, [[1, 2]], 'a batch is not split to fill another');
  const items = [5, 6, 7, 8, 9, 10, 11];
  const batch = Object.freeze({ tenant: 'b', items: Object.freeze(items) as number[] });
  t.strictSame(await delivery.consume(batch, { receivedAt: 0 }), { accepted: 7, refused: [] });
  t.strictSame(exporter.items, [
    [1, 2],
    [5, 6, 7],
    [8, 9, 10],
  ]);
});

void t.test('splits batches by memory size, but sends a larger single item', async (t) => {
  const { exporter, send } = startDelivery(
    'queue: { max_size: 1MiB, batch: { max_size: 10KiB, max_wait: 0s } }',
  );
  const text = (kilobytes: number) => 'x'.repeat(kilobytes * 1000);
  await send('a', text(4), text(4), text(4), text(50), text(1));
  t.strictSame(
    exporter.items.map((items) => items.map((item) => String(item).length / 1000)),
    [[4, 4], [4], [50], [1]],
  );
});

void t.test('limits the spans of a batch to those of one receiver request', async (t) => {
  const { exporter, send } = startDelivery(
    'queue: { max_size: 64MiB, batch: { max_size: 32MiB, max_wait: 0s } }',
  );
  const run = (spans: number) => ({ spans: Array.from({ length: spans }, () => 0) });
  await send('a', run(20_000), run(20_000), run(20_000), run(60_000), run(1));
  const sizes = (items: readonly unknown[]) =>
    items.map((item) => (item as ReturnType<typeof run>).spans.length);
  t.strictSame(exporter.items.map(sizes), [[20_000, 20_000], [20_000], [60_000], [1]]);
});

void t.test('limits concurrent batches; a single one keeps their order', async (t) => {
  const { exporter, send } = startDelivery(
    'queue: { concurrency: 1, batch: { max_items: 1, max_wait: 0s } }',
  );
  await send('a', 1);
  await send('a', 2);
  await send('a', 3);
  t.strictSame(exporter.items, [[1]]);
  exporter.last.succeed();
  await settled();
  t.strictSame(exporter.items, [[1], [2]]);
  exporter.last.succeed();
  await settled();
  t.strictSame(exporter.items, [[1], [2], [3]]);

  const four = startDelivery('queue: { batch: { max_items: 1 } }');
  await four.send('a', 1, 2, 3, 4, 5);
  t.strictSame(four.exporter.items, [[1], [2], [3], [4]], 'four by default');
  t.equal(await four.metric('queue_items'), 5, 'batches in progress still count');
  four.exporter.last.succeed();
  await settled();
  t.equal(await four.metric('queue_items'), 4);
  t.strictSame(four.exporter.items.at(-1), [5]);
});

void t.test('ignores an empty batch', async (t) => {
  const { exporter, clock, send } = startDelivery('');
  t.strictSame(await send('a'), { accepted: 0, refused: [] });
  clock.advance(1000);
  t.strictSame(exporter.items, []);
});

void t.test('merges raw requests only with raw requests, within the limits', async (t) => {
  const { exporter, clock, delivery, send } = startDelivery(
    'queue: { max_size: 1MiB, batch: { max_items: 4, max_size: 10KiB, max_wait: 200ms } }',
    0.5,
    new ScriptedExporter('plain'),
  );
  const raw = (tenant: string, bytes: Uint8Array, items: number): RawBatch => ({
    kind: 'raw',
    tenant,
    request: { form: 'plain', bytes, items, spans: null, totalSpans: items, mostSpans: 1 },
    decode: () => batchOf(...[...bytes.subarray(0, 4)].map(String)).items,
  });
  const sent = (tenant: string, bytes: Uint8Array, items: number) =>
    delivery.consume(raw(tenant, bytes, items), { receivedAt: clock.now() });
  await sent('a', Uint8Array.of(1), 1);
  await sent('b', Uint8Array.of(2), 1);
  await sent('a', Uint8Array.of(3, 4), 2);
  await send('a', 'read');
  await sent('a', Uint8Array.of(5, 6), 2);
  t.ok(delivery.hasRoomFor(raw('a', new Uint8Array(9), 1)));
  for (let step = 0; step < 4; step++) {
    clock.advance(200);
    for (const { answer } of exporter.attempts) answer({ accepted: 1, refused: [] });
    await settled();
  }
  const requests = exporter.attempts.map(
    ({ batch, raw: came }) => `${batch.tenant}: ${came?.request.bytes.join() ?? String(batch.items)}`,
  );
  t.strictSame(requests.toSorted(), ['a: 1,3,4', 'a: 5,6', 'a: read', 'b: 2']);
  const order = requests.filter((request) => request.startsWith('a'));
  t.strictSame(order, ['a: 1,3,4', 'a: read', 'a: 5,6']);
});
