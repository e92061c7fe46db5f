import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ReadsUnderWay } from '../../../../src/storage/duckdb/segments/reads-under-way.js';
import type { RunningRead } from '../../../../src/storage/duckdb/segments/connection-pool.js';
import { HandClock } from '../../../support/hand-clock.js';

const SEEN = { lastSeq: 1, bound: 1 };

/** A read that finishes when canceled or on request of the test. */
function begin(
  reads: ReadsUnderWay,
  mayBeEnded: boolean,
): { readonly isEnded: () => boolean; readonly done: () => void } {
  let isEnded = false;
  let done = (): void => undefined;
  const read: RunningRead = {
    mayBeEnded,
    runParallel: () => null,
    part: async (work) => await work(),
    end: () => {
      isEnded = true;
      done();
    },
  };
  const over = reads.begin(SEEN, read);
  done = () => void over();
  return {
    isEnded: () => isEnded,
    done: () => {
      done();
    },
  };
}

/** Whether another read could start now. */
async function isReady(reads: ReadsUnderWay): Promise<boolean> {
  let isHere = false;
  void reads.ready().then(() => (isHere = true));
  await turn();
  return isHere;
}

void t.test('gives up deferrable work behind an uncancelable read without blocking others', async (t) => {
  const clock = new HandClock();
  const reads = new ReadsUnderWay(clock);
  const retention = begin(reads, false);
  const ofUser = begin(reads, true);
  let isDone = false;
  const work = async (): Promise<void> => {
    isDone = true;
  };
  const waiting = reads.withoutIfSoon(work);
  const refused = t.rejects(waiting, { message: /goes on/ });
  t.ok(await isReady(reads), 'commits and reads continue meanwhile');
  clock.advance(5000);
  await refused;
  t.ok(await isReady(reads));
  t.notOk(isDone);
  t.notOk(ofUser.isEnded() || retention.isEnded(), 'no read is ended for nothing');

  // After that read finishes, slow user reads are canceled as usual.
  retention.done();
  const again = reads.withoutIfSoon(work);
  await turn();
  clock.advance(5000);
  await again;
  t.ok(ofUser.isEnded() && isDone);
});

void t.test('a read started meanwhile blocks commits for at most half a second', async (t) => {
  for (const mayBeEnded of [true, false]) {
    const clock = new HandClock();
    const reads = new ReadsUnderWay(clock);
    const first = begin(reads, true);
    let isDone = false;
    const waiting = reads.withoutIfSoon(async () => {
      isDone = true;
    });
    const settled = waiting.then(
      () => 'done',
      () => 'given up',
    );
    const second = begin(reads, mayBeEnded);
    first.done();
    await turn();
    t.notOk(await isReady(reads), 'others wait by now');
    clock.advance(499);
    t.notOk(await isReady(reads));
    clock.advance(1);
    t.equal(await settled, mayBeEnded ? 'done' : 'given up');
    t.equal(isDone, mayBeEnded);
    t.equal(second.isEnded(), mayBeEnded);
    t.ok(await isReady(reads));
  }
});

void t.test('urgent work cancels every read after five seconds', async (t) => {
  const clock = new HandClock();
  const reads = new ReadsUnderWay(clock);
  const both = [begin(reads, true), begin(reads, false)];
  const done = reads.without(async () => undefined);
  await turn();
  t.notOk(await isReady(reads));
  clock.advance(4999);
  t.same(
    both.map(({ isEnded }) => isEnded()),
    [false, false],
  );
  clock.advance(1);
  await done;
  t.same(
    both.map(({ isEnded }) => isEnded()),
    [true, true],
  );
});
