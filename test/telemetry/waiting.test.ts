import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { pause } from '../../src/telemetry/pause.js';
import { waitFor } from '../../src/telemetry/wait-for.js';
import { HandClock } from '../support/hand-clock.js';

/** Whether a promise is fulfilled already. */
function watch(promise: Promise<void>): { isOver: boolean } {
  const seen = { isOver: false };
  void promise.then(() => (seen.isOver = true));
  return seen;
}

/** Counts active timers. */
class CountingClock extends HandClock {
  timers = 0;

  override after(ms: number, callback: () => void): () => void {
    this.timers += 1;
    let isSet = true;
    const unset = (): void => {
      if (isSet) this.timers -= 1;
      isSet = false;
    };
    const cancel = super.after(ms, () => {
      unset();
      callback();
    });
    return () => {
      unset();
      cancel();
    };
  }
}

function listeners(...ends: readonly AbortController[]): number {
  return ends.reduce((sum, { signal }) => sum + getEventListeners(signal, 'abort').length, 0);
}

void t.test('a pause lasts for its duration and removes its listeners', async (t) => {
  const clock = new HandClock();
  const ends = [new AbortController(), new AbortController()] as const;
  const seen = watch(pause(clock, 500, ends[0].signal, ends[1].signal));
  clock.advance(499);
  await turn();
  t.notOk(seen.isOver);
  clock.advance(1);
  await turn();
  t.ok(seen.isOver);
  t.equal(listeners(...ends), 0);
});

void t.test('either signal ends a pause and its timer', async (t) => {
  for (const first of [0, 1] as const) {
    const clock = new CountingClock();
    const ends = [new AbortController(), new AbortController()] as const;
    const seen = watch(pause(clock, 500, ends[0].signal, ends[1].signal));
    await turn();
    t.notOk(seen.isOver);
    t.equal(clock.timers, 1);
    ends[first].abort();
    await turn();
    t.ok(seen.isOver);
    t.equal(clock.timers, 0);
    t.equal(listeners(...ends), 0);
  }
});

void t.test('an aborted signal ends the wait immediately', async (t) => {
  const clock = new CountingClock();
  await pause(clock, 500, new AbortController().signal, AbortSignal.abort());
  t.equal(clock.timers, 0);
});

void t.test('without a duration only a signal ends it', async (t) => {
  const clock = new HandClock();
  const end = new AbortController();
  const seen = watch(pause(clock, null, end.signal));
  clock.advance(86_400_000);
  await turn();
  t.notOk(seen.isOver);
  end.abort();
  await turn();
  t.ok(seen.isOver);
});

void t.test('waitFor settles with the work or the signal', async (t) => {
  const end = new AbortController();
  await waitFor(Promise.resolve(1), end.signal);
  await waitFor(Promise.reject(new Error('reported elsewhere')), end.signal);
  t.equal(listeners(end), 0);
  const endless = new Promise<void>(() => undefined);
  const seen = watch(waitFor(endless, end.signal));
  await turn();
  t.notOk(seen.isOver);
  end.abort();
  await turn();
  t.ok(seen.isOver);
  await waitFor(endless, end.signal);
  t.equal(listeners(end), 0);
});
