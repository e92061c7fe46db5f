import t from 'tap';
import { endThread } from '../../src/worker/end-thread.js';
import { openOddThread } from './open-odd-thread.js';

void t.test('a thread ends when it is done and is aborted at the deadline', async (t) => {
  const { thread, crashes } = openOddThread(t);
  const deadline = new AbortController();
  const ended = endThread(thread, 'comeToAnEnd', deadline.signal);
  t.equal(await thread.call('echo', [1]), 1, 'not ended yet');
  deadline.abort();
  await ended;
  t.ok(thread.hasEnded);
  t.same(crashes, []);
});

void t.test('an expired deadline aborts immediately', async (t) => {
  const { thread } = openOddThread(t);
  await endThread(thread, 'comeToAnEnd', AbortSignal.abort());
  t.ok(thread.hasEnded);
});

void t.test('a thread that fails while ending is terminated', async (t) => {
  const { thread, crashes } = openOddThread(t);
  await t.rejects(endThread(thread, 'fail', new AbortController().signal), { message: 'it is odd' });
  t.ok(thread.hasEnded);
  t.same(crashes, []);
});

void t.test('a crash while ending is reported', async (t) => {
  const { thread, crashes } = openOddThread(t);
  const ended = endThread(thread, 'silence', new AbortController().signal);
  await thread.call('crash', []).catch(() => undefined);
  await t.rejects(ended, { message: 'the thread is no more' });
  t.match(crashes, [{ message: /nobody catches this/ }]);
});
