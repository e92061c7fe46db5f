import t, { type Test } from 'tap';
import type { Status } from '../../../src/component/status.js';
import { RoomWatch } from '../../../src/delivery/queue/room-watch.js';
import { StatusParts } from '../../../src/delivery/queue/queued-exporter.js';
import { startOnDisk } from '../../support/disk-delivery.js';
import { HandClock } from '../../support/hand-clock.js';
import { settled } from '../../support/scripted-exporter.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';

const noise = (length: number) =>
  Array.from({ length: length / 10 }, () => Math.random().toString(36).slice(2, 12).padEnd(10)).join('');

/** Sends until a batch is refused. @returns the number of accepted batches */
async function fill(t: Test, send: () => Promise<unknown>): Promise<number> {
  for (let taken = 0; ; taken++) {
    const refusal = await send().then(
      () => null,
      (error: unknown) => error,
    );
    if (refusal === null) continue;
    t.match(refusal, { code: 'overloaded' });
    return taken;
  }
}

void t.test('a disk queue full for five seconds reports it until there is space again', async (t) => {
  const config = 'queue: { max_bytes: 1MiB, batch: { max_items: 1 } }';
  const { send, scripted, clock, host, path } = await startOnDisk(t, testFolder(t), { config });
  const taken = await fill(t, () => send('a', [noise(50_000)]));
  t.ok(taken > 10);
  clock.advance(4999);
  t.same(host.statuses, [], 'a short burst is not reported');
  clock.advance(1);
  t.equal(host.last?.level, 'recoverable');
  t.match(
    host.last?.message,
    new RegExp(`the queue in ${path} is full: new batches get 503 until .*raise queue.max_bytes`),
  );
  let delivered = 0;
  while (host.last?.level === 'recoverable' && delivered < taken) {
    await until('the next attempt is in progress', () => scripted.attempts.length > delivered);
    scripted.last.succeed();
    await settled();
    delivered += 1;
  }
  t.ok(delivered > 1 && delivered < taken, 'a tenth of the queue must be free, not all of it');
  t.strictSame(host.statuses.slice(1), [{ level: 'ok' }]);
  await t.resolves(send('a', [noise(50_000)]));
});

void t.test('a memory queue reports it per signal and ignores short bursts', async (t) => {
  const config = 'queue: { type: memory, max_items: 20, batch: { max_items: 1, max_wait: 0s } }';
  const { send, scripted, clock, host } = await startOnDisk(t, testFolder(t), { config });
  t.equal(await fill(t, () => send('a', [1])), 20);
  const deliver = async (count: number) => {
    for (let n = 0; n < count; n++) {
      scripted.last.succeed();
      await settled();
    }
  };
  clock.advance(3000);
  await deliver(2);
  clock.advance(10_000);
  t.same(host.statuses, [], 'it had space in time');
  t.equal(await fill(t, () => send('a', [1])), 2);
  clock.advance(3000);
  await t.rejects(send('a', [1]));
  clock.advance(2000);
  t.match(host.last, {
    level: 'recoverable',
    message: /^the queue of logs in memory is full: .* raise queue.max_items and queue.max_size$/,
  });
  await deliver(1);
  t.equal(host.statuses.length, 1, 'one free place is not enough');
  await deliver(1);
  t.match(host.statuses.slice(1), [{ level: 'ok' }]);
});

void t.test('combines its status with that of the exporter', async (t) => {
  const states: Status[] = [];
  const parts = new StatusParts();
  parts.begin((status) => states.push(status));
  parts.set('exporter', { level: 'degraded', message: 'the key is refused' });
  parts.set('room', { level: 'recoverable', message: 'it is full' });
  parts.set('disk of logs', { level: 'recoverable', message: 'it is full' });
  t.strictSame(states.at(-1), { level: 'recoverable', message: 'it is full | the key is refused' });
  parts.set('room', { level: 'ok' });
  parts.set('disk of logs', { level: 'ok' });
  t.strictSame(states.at(-1), { level: 'degraded', message: 'the key is refused' });
  parts.set('exporter', { level: 'ok' });
  t.strictSame(states.at(-1), { level: 'ok' });
});

void t.test('a queue with space reserved for other users is not full', async (t) => {
  const config = 'queue: { type: memory, max_items: 100, batch: { max_items: 1, max_wait: 0s } }';
  const { send, clock, host } = await startOnDisk(t, testFolder(t), { config });
  await send('quiet', [1]);
  t.ok((await fill(t, () => send('loud', [1]))) < 95);
  clock.advance(10_000);
  t.same(host.statuses, []);
});

void t.test('a full event queue only pauses the outbox: the daemon stays ready', async (t) => {
  const config = 'queue: { type: memory, max_items: 2, batch: { max_wait: 0s } }';
  const { send, clock, host } = await startOnDisk(t, testFolder(t), { config, signal: 'events' });
  await fill(t, () => send('a', [1]));
  clock.advance(5000);
  t.match(host.last, { level: 'degraded', message: /the outbox is paused until/ });
});

void t.test('the required free space depends on the refused batch', async (t) => {
  const clock = new HandClock();
  const states: boolean[] = [];
  const room = new RoomWatch(clock, (isFull) => states.push(isFull));
  room.refused(0.8, 1.05);
  clock.advance(5000);
  room.changed(0.76);
  t.strictSame(states, [true]);
  room.changed(0.74);
  t.strictSame(states, [true, false]);
  room.refused(0.2, 3);
  clock.advance(5000);
  t.strictSame(states, [true, false], 'a batch that never fits does not mark a half-empty queue as full');
  room.refused(0.9, 1.2);
  room.end();
  clock.advance(5000);
  t.strictSame(states, [true, false], 'an ended watch reports nothing');
  t.equal(clock.pending, 0);
});
