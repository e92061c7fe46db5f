import t from 'tap';
import { InFlight } from '../../src/http/in-flight.js';

const USER = 'somebody';

void t.test('limits requests and bytes', async (t) => {
  const inFlight = new InFlight({ requests: 2, bytes: 100 });
  const leave = inFlight.enter(USER, 60);
  t.notOk(inFlight.isFull(USER, 40));
  t.ok(inFlight.isFull(USER, 41));
  inFlight.enter(USER, 10);
  t.ok(inFlight.isFull(USER, 0), 'two requests are the limit');
  leave();
  t.notOk(inFlight.isFull(USER, 90));
  t.equal(inFlight.requests, 1);
  t.equal(inFlight.bytes, 10);
});

void t.test('a request larger than the limit is admitted alone', async (t) => {
  const inFlight = new InFlight({ requests: 10, bytes: 100 });
  t.notOk(inFlight.isFull(USER, 5000));
  inFlight.enter(USER, 5000);
  t.ok(inFlight.isFull(USER, 0));
});

void t.test('idle waits for the last request until the deadline', async (t) => {
  const inFlight = new InFlight({ requests: 10, bytes: 100 });
  const { signal } = new AbortController();
  await inFlight.idle(signal);

  const leaveFirst = inFlight.enter(USER, 1);
  const leaveSecond = inFlight.enter(USER, 1);
  let isIdle = false;
  const waiting = inFlight.idle(signal).then(() => {
    isIdle = true;
  });
  leaveFirst();
  await Promise.resolve();
  t.notOk(isIdle);
  leaveSecond();
  await waiting;
  t.ok(isIdle);

  inFlight.enter(USER, 1);
  const deadline = new AbortController();
  const late = inFlight.idle(deadline.signal);
  deadline.abort();
  await late;
  await inFlight.idle(deadline.signal);
  t.equal(inFlight.requests, 1, 'still pending');
});

void t.test('one user cannot take everything', async (t) => {
  const inFlight = new InFlight({ requests: 8, bytes: 800 });
  inFlight.shareOut(0.5);
  const leaves: (() => void)[] = [];
  for (let i = 0; i < 4; i++) {
    t.notOk(inFlight.isFull(USER, 10));
    leaves.push(inFlight.enter(USER, 10));
  }
  t.ok(inFlight.isFull(USER, 10), 'half of the requests');
  t.notOk(inFlight.isFull('another', 700), 'another user gets the rest');
  for (const leave of leaves) leave();
  inFlight.enter(USER, 300);
  t.notOk(inFlight.isFull(USER, 100));
  t.ok(inFlight.isFull(USER, 101), 'half of the bytes');
});
