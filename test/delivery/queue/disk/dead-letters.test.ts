import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import { runProgram } from '../../../../src/cli/program.js';
import { startOnDisk } from '../../../support/disk-delivery.js';
import { memoryIo } from '../../../support/memory-io.js';
import { settled } from '../../../support/scripted-exporter.js';
import { testFolder } from '../../../support/test-folder.js';
import { until } from '../../../support/until.js';

const refused = (message: string) =>
  new ConsumeError(message, { code: 'validation_failed', retryable: false });
const busy = () => new ConsumeError('busy', { code: 'overloaded', retryable: true });

/** Runs `jackdaw dead-letters …` on the queues of a folder. */
async function deadLetters(folder: string, ...args: readonly string[]) {
  const io = memoryIo();
  const [name = '', ...rest] = args;
  const code = await runProgram(
    ['dead-letters', name, '--directory', join(folder, 'queue'), ...rest],
    io,
    [],
  );
  return { code, out: io.outText(), err: io.errText() };
}

interface Shown {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly items: unknown;
  readonly batch_id: string;
}

async function listed(folder: string): Promise<readonly Shown[]> {
  return JSON.parse((await deadLetters(folder, 'list', '--json')).out) as readonly Shown[];
}

void t.test(
  'permanently refused, expired and exhausted batches become dead letters with a reason',
  async (t) => {
    const folder = testFolder(t);
    const config = 'retry: { max_elapsed_time: 1h, max_attempts: 3, initial_interval: 1s, max_interval: 1s }';
    const { send, scripted, clock, metric } = await startOnDisk(t, folder, { config });
    await send('a', [1]);
    await until('the attempt is in progress', () => scripted.attempts.length === 1);
    scripted.last.fail(refused('no such field'));
    await until('it is a dead letter', async () => (await metric('queue_items')) === 0);

    await send('a', [2]);
    for (const n of [2, 3, 4]) {
      await until('it is attempted', () => scripted.attempts.length === n);
      scripted.last.fail(busy());
      await settled();
      clock.advance(2000);
    }
    await until('it is a dead letter', async () => (await metric('queue_items')) === 0);

    await send('a', [3]);
    await until('it is attempted', () => scripted.attempts.length === 5);
    clock.advance(3_600_000);
    scripted.last.fail(busy());
    await until('it is a dead letter', async () => (await metric('queue_items')) === 0);

    const letters = await listed(folder);
    t.match(letters, [
      { reason: 'refused', message: 'no such field', items: 1 },
      { reason: 'too_often', message: 'busy' },
      { reason: 'too_old', items: 1 },
    ]);
    for (const reason of ['refused', 'too_often', 'too_old'])
      t.equal(await metric('dead_letter_items_total', `,signal="logs",reason="${reason}"`), 1, reason);
    t.equal(await metric('dropped_items_total', ',signal="logs",reason="permanent"'), 0);
  },
);

void t.test('only the refused items of a partially accepted batch become a dead letter', async (t) => {
  const folder = testFolder(t);
  const { send, scripted, metric } = await startOnDisk(t, folder);
  await send('a', ['x', 'y', 'z']);
  await until('the attempt is in progress', () => scripted.attempts.length === 1);
  const id = scripted.last.context.batch?.id;
  scripted.last.answer({
    accepted: 1,
    refused: [
      { index: 0, reason: 'is no number' },
      { index: 2, reason: 'is no number' },
    ],
  });
  await until('it is delivered', async () => (await metric('queue_items')) === 0);
  t.equal(await metric('sent_items_total'), 1);
  const [letter] = await listed(folder);
  t.match(letter, { reason: 'items_refused', message: 'is no number', items: 2 });
  t.not(letter?.batch_id, id, 'a new name, since the receiver has already accepted the old one');
  const whole = JSON.parse((await deadLetters(folder, 'show', letter?.id ?? '')).out) as Shown;
  t.strictSame(whole.items, ['x', 'z']);
});

void t.test('a running daemon or the next one resends dead letters under their names', async (t) => {
  const folder = testFolder(t);
  const first = await startOnDisk(t, folder);
  const names: (string | undefined)[] = [];
  for (const n of [1, 2, 3]) {
    await first.send('a', [n, 2n ** 70n, new Uint8Array([7])]);
    await until('the attempt is in progress', () => first.scripted.attempts.length === n);
    names.push(first.scripted.last.context.batch?.id);
    first.scripted.last.fail(refused('no'));
  }
  await until('all are dead letters', async () => (await first.metric('queue_items')) === 0);
  const [one, two, three] = await listed(folder);
  t.match(await deadLetters(folder, 'show', one?.id ?? ''), { out: /"1180591620717411303424",\s+"Bw=="/ });
  t.match(await deadLetters(folder, 'replay', one?.id ?? ''), {
    code: 0,
    out: '1 dead letter to be sent again.',
  });
  first.clock.advance(1000);
  await until('it is sent again', () => first.scripted.attempts.length === 4);
  t.strictSame(first.scripted.last.batch.items, [1, 2n ** 70n, new Uint8Array([7])]);
  t.equal(first.scripted.last.context.batch?.id, names[0]);
  first.scripted.last.succeed();
  await first.stop();

  await deadLetters(folder, 'replay', '--exporter', 'sink', two?.id ?? '');
  const second = await startOnDisk(t, folder);
  await until('it is sent again', () => second.scripted.attempts.length === 1);
  t.equal(second.scripted.last.context.batch?.id, names[1]);
  second.scripted.last.succeed();
  t.strictSame(
    (await listed(folder)).map(({ id }) => id),
    [three?.id],
  );
  t.match(await deadLetters(folder, 'drop', '--all'), { code: 0, out: '1 dead letter dropped.' });
  t.match(await deadLetters(folder, 'list'), { code: 0, err: 'There are no dead letters.' });
});

void t.test('dead letters stay within their limit: the oldest are dropped and counted', async (t) => {
  const folder = testFolder(t);
  const config = 'queue: { dead_letters: { max_bytes: 40KiB } }';
  const { send, scripted, metric } = await startOnDisk(t, folder, { config });
  for (let n = 1; n <= 30; n++) {
    await send('a', [n, Array.from({ length: 700 }, () => Math.random())]);
    await until('the attempt is in progress', () => scripted.attempts.length === n);
    scripted.last.fail(refused('no'));
    await until('it is a dead letter', async () => (await metric('queue_items')) === 0);
  }
  const left = (await listed(folder)).length;
  t.ok(left > 1 && left <= 5, `${left} are left`);
  t.equal(await metric('dead_letters_dropped_items_total', ''), 2 * (30 - left));
});

void t.test('reports command line errors without changes', async (t) => {
  const folder = testFolder(t);
  const { send, scripted, metric, path } = await startOnDisk(t, folder);
  await send('a', [1]);
  await until('the attempt is in progress', () => scripted.attempts.length === 1);
  scripted.last.fail(refused('no'));
  await until('it is a dead letter', async () => (await metric('queue_items')) === 0);
  const [letter] = await listed(folder);
  const id = letter?.id ?? '';
  t.match(await deadLetters(folder, 'drop', id, '00000000000000001-000000000000'), {
    code: 1,
    err: /there is no dead letter 00000000000000001-000000000000/,
  });
  t.match(await deadLetters(folder, 'drop'), { code: 2, err: /--all/ });
  t.match(await deadLetters(folder, 'drop', '--all', id), { code: 2 });
  t.match(await deadLetters(join(folder, 'none'), 'list'), { code: 2, err: /--directory/ });
  t.match(await deadLetters(folder, 'show', '../../lock'), { code: 1 });
  t.equal((await listed(folder)).length, 1);
  const file = join(path, 'dead-letters', readdirSync(join(path, 'dead-letters'))[0] ?? '');
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.subarray(0, bytes.length - 1));
  t.match(await deadLetters(folder, 'show', id), { code: 1, err: /is damaged/ });
  t.match(await deadLetters(folder, 'list'), { code: 0, err: /is damaged/ });
});
