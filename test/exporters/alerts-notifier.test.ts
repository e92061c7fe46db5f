import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { sent, type Channel, type Outcome } from '../../src/exporters/alerts/channel.js';
import { startNotifier } from '../../src/exporters/alerts/notifier.js';
import type { DueNotification } from '../../src/storage/alert-notices.js';
import { HandClock } from '../support/hand-clock.js';
import { MemoryNotices } from '../support/memory-notices.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';

const NEVER = new AbortController().signal;

interface Attempt {
  readonly notice: DueNotification;
  readonly end: (outcome?: Partial<Outcome>) => void;
  readonly fail: (error: Error) => void;
}

/** A notifier whose attempts end when and how a test wants. */
function startLoop(t: Test) {
  const store = new MemoryNotices();
  const clock = new HandClock();
  const logger = new RecordingLogger();
  const attempts: Attempt[] = [];
  const told: string[] = [];
  const statuses: boolean[] = [];
  const channel: Channel = {
    toSkip: () => null,
    skipped: () => undefined,
    send: (notice, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
        attempts.push({
          notice,
          end: (outcome = {}) => {
            resolve({ ...sent(250, 7), ...outcome });
          },
          fail: reject,
        });
      }),
  };
  const notifier = startNotifier({
    store,
    channels: { email: channel, webhook: channel },
    clock,
    random: () => 0.5,
    logger,
    onStore: (isFailing) => statuses.push(isFailing),
    onResult: (...result) => told.push(result.join(' ')),
  });
  t.teardown(() => notifier.stop(AbortSignal.abort()));
  return { store, clock, logger, attempts, told, statuses, notifier };
}

/** Lets everything happen that is to happen at once. */
async function settle(): Promise<void> {
  for (let i = 0; i < 30; i++) await turn();
}

void t.test('what is due is sent, and what became of it is recorded', async (t) => {
  const { store, clock, attempts, told } = startLoop(t);
  store.put('webhook', clock.now(), { attempts: 2 });
  store.call();
  await until('it is begun', () => attempts.length === 1);
  const begun = clock.now();
  clock.advance(7);
  attempts[0]?.end();
  await until('it is recorded', () => store.results.length === 1);
  t.strictSame(store.results, [
    {
      number: 1,
      status: 'sent',
      detail: null,
      attempt: {
        attempt_number: 3,
        attempted_at: begun,
        status_code: 250,
        duration_ms: 7,
        error_message: null,
      },
      retryAt: null,
    },
  ]);
  t.strictSame(told, ['webhook sent']);
});

void t.test('what is due later is sent then, and nothing is asked meanwhile', async (t) => {
  const { store, clock, attempts } = startLoop(t);
  store.put('webhook', clock.now() + 30_000_000);
  store.call();
  await settle();
  const asked = store.asked.length;
  clock.advance(29_999);
  await settle();
  t.equal(store.asked.length, asked);
  clock.advance(1);
  await until('it is begun', () => attempts.length === 1);
  attempts[0]?.end({ status: 'pending', retryMs: 5000 });
  await until('it is recorded', () => store.results.length === 1);
  t.equal(store.results[0]?.retryAt, clock.now() + 5_000_000);
  await settle();
  clock.advance(5000);
  await until('it is sent again', () => attempts.length === 2);
  t.equal(attempts[1]?.notice.attempts, 1);
});

void t.test('at most 4 to one user, 2 mails and 16 in all; others go on behind them', async (t) => {
  const { store, clock, attempts } = startLoop(t);
  for (let i = 0; i < 100; i++) store.put('webhook', clock.now(), { userId: 'busy' });
  for (let i = 0; i < 5; i++) store.put('email', clock.now(), { userId: `mail ${i}` });
  for (let i = 0; i < 30; i++) store.put('webhook', clock.now(), { userId: `user ${i}` });
  store.call();
  await until('the places are full', () => attempts.length === 16);
  await settle();
  const under = (what: (notice: DueNotification) => boolean) =>
    attempts.filter(({ notice }) => what(notice)).length;
  t.equal(attempts.length, 16);
  t.equal(
    under(({ userId }) => userId === 'busy'),
    4,
  );
  t.equal(
    under(({ channel }) => channel === 'email'),
    2,
  );
  for (let done = 0; done < 135; done++) {
    attempts[done]?.end();
    await until('it is recorded', async () => {
      clock.advance(1);
      await turn();
      return store.results.length === done + 1;
    });
    await settle();
    const open = attempts.slice(done + 1).map(({ notice }) => notice);
    if (open.filter(({ userId }) => userId === 'busy').length > 4 || open.length > 16) t.fail('too many');
  }
  t.equal(new Set(attempts.map(({ notice }) => notice.number)).size, 135, 'each once');
  t.equal(attempts.length, 135);
});

void t.test('a store that fails is asked again, and no result is lost', async (t) => {
  const { store, clock, attempts, statuses, logger } = startLoop(t);
  await settle();
  store.put('email', clock.now());
  store.faults.due.push(new Error('the disk is full'));
  store.call();
  await settle();
  t.strictSame(statuses, [true]);
  t.match(logger.lines.join('\n'), /the sender of notices of alerts needs.*the disk is full/);
  clock.advance(250);
  await until('it is begun', () => attempts.length === 1);
  store.faults.finish.push(new Error('the disk is full'), new Error('the disk is full'));
  attempts[0]?.end();
  await settle();
  store.call();
  await settle();
  t.strictSame(
    store.asked.at(-1)?.held,
    [{ number: 1, userId: 'a user', channel: 'email' }],
    'it is not sent again meanwhile',
  );
  for (const ms of [250, 500]) {
    t.strictSame(store.results, []);
    clock.advance(ms);
    await settle();
  }
  t.match(store.results, [{ number: 1, status: 'sent' }]);
  t.equal(attempts.length, 1);
  t.strictSame(statuses, [true, false, true, false]);
});

void t.test('a notice that cannot even be made has failed, and holds up nothing', async (t) => {
  const { store, clock, attempts, told, logger } = startLoop(t);
  store.put('email', clock.now());
  store.call();
  await until('it is begun', () => attempts.length === 1);
  attempts[0]?.fail(new Error('no such thing'));
  await until('it is recorded', () => store.results.length === 1);
  t.match(store.results, [
    { status: 'failed', attempt: { error_message: 'The notice could not be made' }, retryAt: null },
  ]);
  t.strictSame(told, ['email failed']);
  t.match(logger.lines.join('\n'), /by a fault of ours.*no such thing/);
});

void t.test(
  'a stop takes no more, waits for what is under way, and breaks it off at the deadline',
  async (t) => {
    const { store, clock, attempts, notifier } = startLoop(t);
    for (let i = 0; i < 2; i++) store.put('webhook', clock.now());
    store.call();
    await until('both are begun', () => attempts.length === 2);
    const deadline = new AbortController();
    let hasStopped = false;
    const stopped = notifier.stop(deadline.signal).then(() => (hasStopped = true));
    store.put('webhook', clock.now());
    store.call();
    attempts[0]?.end();
    await settle();
    clock.advance(3);
    await settle();
    t.match(store.results, [{ number: 1, status: 'sent' }]);
    t.notOk(hasStopped);
    t.equal(attempts.length, 2);
    deadline.abort();
    await stopped;
    t.equal(store.results.length, 1, 'of what was broken off nothing is told: it is sent again');
    t.equal(store.watchers, 0);
    await notifier.stop(NEVER);
  },
);
