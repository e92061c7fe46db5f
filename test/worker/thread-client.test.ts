import t from 'tap';
import { openOddThread, DeserializedError } from './open-odd-thread.js';

void t.test('calls are answered in order of completion', async (t) => {
  const { thread } = openOddThread(t);
  const order: unknown[] = [];
  await Promise.all(
    [60, 20, 0].map(async (ms) => {
      order.push(await thread.call('later', [ms]));
    }),
  );
  t.same(order, [0, 20, 60]);
  const value = { a: [1, null, 'ä'], b: new Uint8Array([1, 2]) };
  t.same(await thread.call('echo', [value]), value);
  t.equal(await thread.call('echo', []), undefined);
  t.equal(thread.underWay, 0);
});

void t.test('concurrent calls get their own answers', async (t) => {
  const { thread } = openOddThread(t);
  const numbers = Array.from({ length: 5000 }, (_, i) => i);
  t.same(await Promise.all(numbers.map((n) => thread.call('echo', [n]))), numbers);
});

void t.test('transfers buffers in both directions', async (t) => {
  const { thread } = openOddThread(t);
  const buffer = new ArrayBuffer(16);
  const [echoed] = await Promise.all([
    thread.call<ArrayBuffer>('echo', [buffer], { transfer: [buffer] }),
    thread.call('echo', [1]),
  ]);
  t.equal(buffer.byteLength, 0, 'detached here');
  t.equal(echoed.byteLength, 16);
  const { bytes } = await thread.call<{ bytes: Uint8Array }>('bytes', [5]);
  t.same([...bytes], [7, 7, 7, 7, 7]);
});

void t.test('errors keep name, message, plain fields and cause', async (t) => {
  const { thread } = openOddThread(t);
  const error = await thread.call('fail', []).catch((reason: unknown) => reason);
  if (!(error instanceof DeserializedError)) throw new Error('the error was not revived');
  t.match(error.serialized, {
    name: 'OddError',
    message: 'it is odd',
    fields: { code: 'odd', isRetryable: true },
    stack: /odd-thread[^]*the deeper reason/,
  });
  await t.rejects(thread.call('failOddly', []), { message: 'a text' });
  await t.rejects(thread.call('nothing', []), { message: /no method nothing/ });
  t.equal(await thread.call('echo', [1]), 1, 'keeps working');
});

for (const [how, reason] of [
  ['crash', /nobody catches this/],
  ['end', /code 3/],
] as const) {
  void t.test(`if the thread ends (${how}), pending and later calls fail`, async (t) => {
    const { thread, crashes } = openOddThread(t);
    const waiting = thread.call('silence', []).catch((error: unknown) => error);
    const ending = thread.call(how, []).catch(() => undefined);
    t.match(await waiting, { message: 'the thread is no more', cause: { message: reason } });
    await ending;
    await t.rejects(thread.call('echo', [1]), { message: 'the thread is no more' });
    t.equal(crashes.length, 1, 'reported once');
    t.match(crashes[0]?.message, reason);
    t.equal(thread.underWay, 0);
  });
}

void t.test('closing fails pending calls and is not a crash', async (t) => {
  const { thread, crashes } = openOddThread(t);
  const waiting = thread.call('silence', []).catch((error: unknown) => error);
  await thread.call('echo', [1]);
  await thread.close();
  await thread.close();
  t.match(await waiting, { message: 'the thread is no more' });
  t.same(crashes, []);
});
