import t from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import { approximateBytes, itemBytes } from '../../../src/delivery/queue/memory-size.js';
import { settled } from '../../support/scripted-exporter.js';
import { startDelivery } from '../../support/test-delivery.js';

void t.test('a full queue refuses by items and memory until something was delivered', async (t) => {
  for (const queue of ['max_items: 4', 'max_size: 2KiB']) {
    const { exporter, delivery, clock, send, metric } = startDelivery(
      `queue: { ${queue}, batch: { max_wait: 0s } }`,
    );
    const items = ['x'.repeat(450), 'x'.repeat(450)];
    await send('a', ...items);
    await send('b', ...items);
    t.ok(Number(await metric('queue_bytes')) > 1800);
    t.equal(delivery.hasRoomFor({ tenant: 'c', items }), false);
    await t.rejects(send('c', ...items), { code: 'overloaded', retryable: true, retryAfterMs: 1000 }, queue);
    t.equal(await metric('queue_items'), 4, 'a refused batch leaves nothing');
    exporter.attempts[0]?.succeed();
    await settled();
    t.equal(delivery.hasRoomFor({ tenant: 'c', items }), true);
    await t.resolves(send('c', ...items));
    clock.advance(1);
    t.equal(exporter.attempts.length, 3);
  }
});

void t.test('a user who fills the queue leaves part of it to other users', async (t) => {
  const { exporter, send, metric } = startDelivery(
    'queue: { max_items: 100, batch: { max_wait: 0s, max_items: 10 }, concurrency: 1 }',
  );
  const some = (count: number) => Array.from({ length: count }, (_, index) => index);
  for (let n = 0; n < 10; n++) await send('loud', ...some(10));
  t.equal(await metric('queue_items'), 100, 'a single user may use all of it');
  await t.rejects(send('quiet', 1), { code: 'overloaded' });
  exporter.last.succeed();
  await settled();
  await t.rejects(send('loud', 1), { code: 'overloaded' }, 'freed space is reserved for others');
  t.match(await send('quiet', 1, 2, 3, 4, 5), { accepted: 5 });
  await t.rejects(send('loud', 1), { code: 'overloaded' });
  t.match(await send('third', 1, 2, 3, 4, 5), { accepted: 5 });
  for (let n = 0; n < 4; n++) {
    exporter.last.succeed();
    await settled();
  }
  t.match(await send('loud', 1), { accepted: 1 }, 'it has space again later');
});

void t.test('accepts a batch larger than the queue when it is empty', async (t) => {
  const { exporter, send } = startDelivery('queue: { max_items: 2, batch: { max_wait: 0s } }');
  t.match(await send('a', 1, 2, 3), { accepted: 3 });
  await t.rejects(send('a', 4), { code: 'overloaded' });
  exporter.last.succeed();
  await settled();
  t.match(await send('a', 4), { accepted: 1 });
});

void t.test('shows limits next to the limited values', async (t) => {
  const { metric } = startDelivery('queue: { max_items: 7, max_size: 3KiB }');
  t.equal(await metric('queue_max_items'), 7);
  t.equal(await metric('queue_max_bytes'), 3072);
  t.equal(await metric('queue_items'), 0);
});

void t.test('estimates memory at any depth and counts shared data once', async (t) => {
  let deep: unknown = 'x';
  for (let level = 0; level < 100_000; level++) deep = [deep];
  t.ok(approximateBytes(deep) > 100_000);
  t.ok(approximateBytes(new Uint8Array(500)) > 500);
  const origin = { resource: { text: 'x'.repeat(10_000) } };
  const [first = 0, second = 0] = itemBytes([
    { origin, body: 'a' },
    { origin, body: 'a' },
  ]);
  t.ok(first > 10_000 && second < 200);
  t.strictSame(itemBytes(['x', null, 1]).length, 3);
});

void t.test('drops, counts and logs waiting batches at the deadline of a stop', async (t) => {
  const { exporter, delivery, send, dropped, metric, logger } = startDelivery(
    'queue: { concurrency: 1, batch: { max_items: 2 } }',
  );
  await send('a', 1, 2, 3, 4, 5);
  const deadline = new AbortController();
  const draining = delivery.drain(deadline.signal);
  await t.rejects(send('a', 6), { code: 'shutting_down', retryable: true });
  exporter.last.succeed();
  await settled();
  t.strictSame(exporter.items, [
    [1, 2],
    [3, 4],
  ]);
  deadline.abort();
  await draining;
  t.equal(exporter.last.context.abort?.aborted, true, 'the attempt in progress is aborted');
  t.equal(await dropped('shutdown'), 3);
  t.equal(await metric('sent_items_total'), 2);
  t.match(logger.lines.at(-1), /^error Dropped batches that could not be delivered .*items=3/);
});

void t.test('a stop ends waits, flushes partial batches and finishes when empty', async (t) => {
  const { exporter, delivery, clock, send, metric } = startDelivery(
    'retry: { initial_interval: 20s }\nqueue: { batch: { max_wait: 1h } }',
  );
  await send('a', 1);
  clock.advance(3_600_000);
  exporter.last.fail(new ConsumeError('away', { code: 'overloaded', retryable: true }));
  await settled();
  await send('b', 2);
  const draining = delivery.drain(new AbortController().signal);
  await settled();
  t.strictSame(exporter.items, [[1], [2], [1]], 'the waiting batch is retried immediately');
  exporter.attempts[1]?.succeed();
  exporter.attempts[2]?.fail(new ConsumeError('away', { code: 'overloaded', retryable: true }));
  await settled();
  clock.advance(20_000);
  await settled();
  exporter.last.succeed();
  await draining;
  await delivery.drain(new AbortController().signal);
  t.equal(await metric('sent_items_total'), 2);
});
