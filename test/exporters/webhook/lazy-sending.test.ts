import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { LazySending, type RunningSending } from '../../../src/exporters/webhook/lazy-sending.js';

const SOON = new AbortController().signal;

/** A sender that starts when the test says so. */
function aLazySending() {
  const seen: string[] = [];
  let settle = { done: (): void => undefined, fail: (): void => undefined };
  const running: RunningSending = {
    wake: () => seen.push('wake'),
    stop: async (deadline) => {
      seen.push(deadline.aborted ? 'stop now' : 'stop');
    },
  };
  const lazy = new LazySending(
    () => {
      seen.push('start');
      return new Promise((resolve, reject) => {
        settle = {
          done: () => {
            resolve(running);
          },
          fail: () => {
            reject(new Error('no'));
          },
        };
      });
    },
    (error) => seen.push(`failed: ${String(error)}`),
  );
  const done = (): void => {
    settle.done();
  };
  const fail = (): void => {
    settle.fail();
  };
  return { lazy, seen, done, fail };
}

void t.test('starts once, when first needed', async (t) => {
  const { lazy, seen, done } = aLazySending();
  t.same(seen, []);
  lazy.wake();
  t.same(seen, ['start']);
  done();
  await turn();
  t.same(seen, ['start']);
  lazy.wake();
  await turn();
  t.same(seen, ['start', 'wake']);
  await lazy.stop(SOON);
  lazy.wake();
  await turn();
  t.same(seen.slice(0, 3), ['start', 'wake', 'stop']);
});

void t.test('begin() starts it once', async (t) => {
  const { lazy, seen, done } = aLazySending();
  lazy.begin();
  lazy.begin();
  done();
  await turn();
  lazy.begin();
  await turn();
  t.same(seen, ['start']);
  await lazy.stop(SOON);
  lazy.begin();
  t.same(seen, ['start', 'stop']);
});

void t.test('keeps calls during the start', async (t) => {
  const { lazy, seen, done } = aLazySending();
  lazy.wake();
  lazy.wake();
  await turn();
  t.same(seen, ['start']);
  done();
  await turn();
  t.same(seen, ['start', 'wake']);
});

void t.test('a stop during the start waits for it and stops it', async (t) => {
  const { lazy, seen, done } = aLazySending();
  lazy.wake();
  const stopped = lazy.stop(AbortSignal.abort());
  await turn();
  t.same(seen, ['start']);
  done();
  await stopped;
  t.same(seen, ['start', 'stop now']);
});

void t.test('a failed start is reported once and can be stopped', async (t) => {
  const { lazy, seen, fail } = aLazySending();
  lazy.wake();
  fail();
  await turn();
  lazy.wake();
  await turn();
  t.same(seen, ['start', 'failed: Error: no']);
  await lazy.stop(SOON);
});

void t.test('never starts after a stop', async (t) => {
  const { lazy, seen } = aLazySending();
  await lazy.stop(SOON);
  lazy.wake();
  await turn();
  t.same(seen, []);
});
