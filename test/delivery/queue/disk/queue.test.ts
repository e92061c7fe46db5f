import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import { DirectoryTaken } from '../../../../src/config/directory-lock.js';
import { startOnDisk } from '../../../support/disk-delivery.js';
import { testFolder } from '../../../support/test-folder.js';
import { until } from '../../../support/until.js';

const busy = () => new ConsumeError('busy', { code: 'overloaded', retryable: true });

void t.test('undelivered batches survive a restart in order and under the same names', async (t) => {
  const folder = testFolder(t);
  const first = await startOnDisk(t, folder);
  for (const n of [1, 2, 3]) t.same(await first.send('a', [n]), { accepted: 1, refused: [] });
  await until('the first attempt is in progress', () => first.scripted.attempts.length === 1);
  t.equal(await first.metric('queue_items'), 3);
  const before = first.scripted.last;
  before.succeed();
  await until('the second attempt is in progress', () => first.scripted.attempts.length === 2);
  const underWay = first.scripted.last.context.batch?.id;
  first.scripted.last.fail(busy());
  await first.stop();

  const second = await startOnDisk(t, folder);
  t.equal(await second.metric('queue_items'), 2, 'the first is not sent again');
  await until('the second is sent again', () => second.scripted.attempts.length === 1);
  t.strictSame(second.scripted.last.batch, { tenant: 'a', items: [2] });
  t.equal(second.scripted.last.context.batch?.id, underWay);
  second.scripted.last.succeed();
  await until('the third follows', () => second.scripted.attempts.length === 2);
  t.strictSame(second.scripted.last.batch.items, [3]);
  t.not(second.scripted.last.context.batch?.id, underWay);
  second.scripted.last.succeed();
  await until('everything is delivered', async () => (await second.metric('queue_items')) === 0);
  await second.stop();
  const third = await startOnDisk(t, folder);
  t.equal(await third.metric('queue_items'), 0);
  t.equal(third.scripted.attempts.length, 0);
  const left = readdirSync(join(third.path, 'logs')).filter((name) => name.endsWith('.queue'));
  t.strictSame(left, [], 'fully delivered files are removed');
});

void t.test('batches that wait for one sync merge; a named one stays separate', async (t) => {
  const { send, scripted } = await startOnDisk(t, testFolder(t));
  await Promise.all([
    send('a', [1]),
    send('b', [2]),
    send('a', [3, 4]),
    send('a', [5], { id: 'mine' }),
    send('b', [5], { id: 'mine' }),
  ]);
  const ids = new Set<string | undefined>();
  const seen: unknown[] = [];
  for (let n = 1; n <= 4; n++) {
    await until('the next attempt is in progress', () => scripted.attempts.length === n);
    seen.push([scripted.last.batch.tenant, scripted.last.batch.items]);
    ids.add(scripted.last.context.batch?.id);
    scripted.last.succeed();
  }
  const sorted = seen.map((one) => JSON.stringify(one)).sort();
  t.strictSame(sorted, ['["a",[1,3,4]]', '["a",[5]]', '["b",[2]]', '["b",[5]]']);
  t.equal(ids.size, 4, 'equally named batches of two users have different names');
});

void t.test("a sender's name always maps to the same name", async (t) => {
  const { send, scripted } = await startOnDisk(t, testFolder(t));
  const ids: (string | undefined)[] = [];
  for (let n = 1; n <= 2; n++) {
    await send('a', [1], { id: 'mine' });
    await until('the attempt is in progress', () => scripted.attempts.length === n);
    ids.push(scripted.last.context.batch?.id);
    scripted.last.succeed();
  }
  t.equal(ids[0], ids[1]);
  t.match(ids[0], /^[\w-]{43}$/);
});

void t.test('splits large batches and keeps the excess on disk in order', async (t) => {
  const folder = testFolder(t);
  const config = 'queue: { max_items: 6, batch: { max_items: 4 } }';
  const { send, scripted, metric } = await startOnDisk(t, folder, { config });
  const all = Array.from({ length: 50 }, (_, n) => n);
  await send('a', all.slice(0, 10));
  for (const n of all.slice(10)) await send('a', [n]);
  t.equal(await metric('queue_items'), 50);
  const got: unknown[] = [];
  for (let n = 1; got.length < 50; n++) {
    await until('the next attempt is in progress', () => scripted.attempts.length === n);
    t.ok(scripted.last.batch.items.length <= 4);
    got.push(...scripted.last.batch.items);
    scripted.last.succeed();
  }
  t.strictSame(got, all);
});

void t.test('a full queue refuses with a retry delay and accepts again once there is space', async (t) => {
  const config = 'queue: { max_bytes: 64KiB, batch: { max_items: 100 } }';
  const { send, scripted, metric } = await startOnDisk(t, testFolder(t), { config });
  const text = (n: number) =>
    `${n}:${Array.from({ length: 900 }, () => Math.random().toString(36)).join('')}`;
  let taken = 0;
  let refusal: unknown;
  while (refusal === undefined)
    await send('a', [text(taken)]).then(
      () => (taken += 1),
      (error: unknown) => (refusal = error),
    );
  t.match(refusal, { code: 'overloaded', retryable: true, retryAfterMs: 1000 });
  t.ok(taken >= 3, 'there was space for some');
  t.ok(((await metric('queue_bytes')) ?? 0) <= 65_536, 'the limit holds');
  t.equal(await metric('queue_refused_items_total'), 1);
  for (let n = 1; n <= taken; n++) {
    await until('the next attempt is in progress', () => scripted.attempts.length === n);
    scripted.last.succeed();
  }
  await until('it is empty', async () => (await metric('queue_items')) === 0);
  t.same(await send('a', ['x']), { accepted: 1, refused: [] });
});

void t.test('a second daemon on one directory is refused; other exporters have their own', async (t) => {
  const folder = testFolder(t);
  const first = await startOnDisk(t, folder);
  await t.rejects(startOnDisk(t, folder), DirectoryTaken);
  const other = await startOnDisk(t, folder, { id: 'sink/west' });
  t.notSame(other.path, first.path);
  t.ok(readdirSync(join(folder, 'queue')).includes('sink%2Fwest'));
  await first.stop();
  await startOnDisk(t, folder);
});

void t.test('sync: interval responds before the sync', async (t) => {
  const folder = testFolder(t);
  const first = await startOnDisk(t, folder, { config: 'queue: { sync: interval }' });
  await first.send('a', [1]);
  first.clock.advance(1000);
  await until('the attempt is in progress', () => first.scripted.attempts.length === 1);
  first.scripted.last.fail(busy());
  await first.stop();
  const second = await startOnDisk(t, folder, { config: 'queue: { sync: interval }' });
  t.equal(await second.metric('queue_items'), 1);
});

void t.test('reports a removed directory, loses nothing and continues', async (t) => {
  const folder = testFolder(t);
  const { send, scripted, host, metric, path, clock } = await startOnDisk(t, folder);
  await send('a', [1]);
  await send('a', [2]);
  await until('the first attempt is in progress', () => scripted.attempts.length === 1);
  rmSync(path, { recursive: true });
  await t.rejects(send('a', [3]), { code: 'storage_unavailable', retryable: true, retryAfterMs: 1000 });
  t.match(host.last, { level: 'recoverable', message: /free disk space/ });
  t.equal(await metric('queue_disk_failures_total'), 1);
  // The directory is recreated.
  t.same(await send('a', [4]), { accepted: 1, refused: [] });
  t.match(host.last, { level: 'ok' });
  for (const [n, items] of [[1], [2], [4]].entries()) {
    await until('the next attempt is in progress', () => scripted.attempts.length === n + 1);
    t.strictSame(scripted.last.batch.items, items);
    scripted.last.succeed();
  }
  clock.advance(1000);
});

void t.test('a user who fills the disk leaves part of it to others', async (t) => {
  const folder = testFolder(t);
  const config = 'queue: { max_bytes: 64KiB }';
  const first = await startOnDisk(t, folder, { config });
  const noise = () => Array.from({ length: 200 }, () => Math.random().toString(36).slice(2)).join('');
  const fill = async (user: string): Promise<number> => {
    for (let taken = 0; ; taken++)
      try {
        await first.send(user, [noise()]);
      } catch (error) {
        t.match(error, { code: 'overloaded' });
        return taken;
      }
  };
  t.match(await first.send('quiet', [1]), { accepted: 1 });
  t.ok((await fill('loud')) > 5);
  t.match(await first.send('quiet', [2]), { accepted: 1 }, 'there is space for others');
  await t.rejects(first.send('loud', [noise()]), { code: 'overloaded' });
  t.ok((await fill('quiet')) > 0);
});
